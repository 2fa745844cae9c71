package app

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"plexus/adapters/adminweb"
	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/doctor"
	"plexus/cmd/plexus/status"
	"plexus/domain/pairing"
	"plexus/usecases/devices"
	"plexus/usecases/syncx"
	"plexus/web"
)

// maxHealthAge is how old the state of services and Tailscale may be that the page
// shows: after that the next request for a page starts a refresh.
const maxHealthAge = 30 * time.Second

// healthCache is the status of the host for the owner's page. It checks services and
// Tailscale in the background; pages show what the last refresh found.
type healthCache struct {
	*status.Source
	env cli.Env
	ctx context.Context // ends with the process; refreshes end with it

	mu         sync.Mutex
	seen       status.Probes
	path       adminweb.PhonePath
	at         time.Time // of the last refresh; zero: none yet
	refreshing bool
	changed    syncx.Notifier // of seen and path
	refreshes  sync.WaitGroup
}

// latest gives what was seen last and refreshes it, unless that is fresh or a refresh
// is running. Only the very first refresh is waited for.
func (c *healthCache) latest(ctx context.Context) (status.Probes, adminweb.PhonePath) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, now := c.phoneAddress()
	if !c.refreshing && (time.Since(c.at) >= maxHealthAge || c.path.Checked != now) && c.ctx.Err() == nil {
		c.refreshing = true
		c.refreshes.Go(c.refresh)
	}
	if first := c.changed.Wait(); c.at.IsZero() && c.refreshing {
		c.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
		}
		c.mu.Lock()
	}
	return c.seen, c.path
}

func (c *healthCache) refresh() {
	var path adminweb.PhonePath
	var checking sync.WaitGroup
	checking.Go(func() { path = c.checkPhonePath() })
	seen := status.Probe(c.ctx, c.Config, c.Services)
	checking.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.path, c.at, c.refreshing = seen, path, time.Now(), false
	c.changed.Notify()
}

// checkPhonePath asks Tailscale, where it is installed, for the machine's name and
// for what it forwards.
func (c *healthCache) checkPhonePath() adminweb.PhonePath {
	address, checked := c.phoneAddress()
	path := adminweb.PhonePath{FixedBy: c.Config.PublicURLFrom, Checked: checked}
	tool, name, err := tailscale.FindConnected(c.ctx, c.env.Environ)
	if err != nil {
		return path
	}
	path.Offered = "wss://" + name
	forwards, err := tool.Forwards(c.ctx)
	client, parseErr := netip.ParseAddrPort(c.Client.String())
	if err := errors.Join(err, parseErr); err != nil {
		return path
	}
	if !doctor.HandedOn(forwards, name, 443, client) {
		path.Command = "tailscale " + strings.Join(tailscale.ServeArgs(443, client), " ")
	}
	if checked != "" {
		private := []string{c.Admin.String(), c.Nerve.String()} // that only this machine may reach
		for _, f := range doctor.Tailnet(forwards, name, address, client, private) {
			if f.Level == doctor.Fault || f.Level == doctor.Warning {
				path.Warning = f.Detail + " " + f.Advice
				break
			}
		}
	}
	return path
}

// phoneAddress is where the next phone will connect to: by the open code, or else by
// the public URL. name is its host[:port], "" for none.
func (c *healthCache) phoneAddress() (address pairing.Server, name string) {
	if open, ok := c.Devices.OpenInvitation(); ok {
		return open.Server, open.Server.Authority()
	}
	if public, _, ok := c.Devices.PublicURL(); ok {
		return public, public.Authority()
	}
	return pairing.Server{}, ""
}

// PhonePath implements adminweb.StatusSource.
func (c *healthCache) PhonePath(ctx context.Context) adminweb.PhonePath {
	_, path := c.latest(ctx)
	return path
}

// Overview implements adminweb.StatusSource.
func (c *healthCache) Overview(ctx context.Context) (web.Overview, error) {
	seen, _ := c.latest(ctx)
	report, err := c.Gather(ctx, seen)
	return report.Overview(), err
}

// UseModel implements adminweb.StatusSource.
func (c *healthCache) UseModel(ctx context.Context, name, baseURL string) error {
	if c.Services.Local == nil {
		return devices.ErrSettingFixed
	}
	err := c.Services.Local.Take(ctx, c.Store.Settings(), name, baseURL)
	c.mu.Lock()
	c.at = time.Time{} // it is out of date
	c.mu.Unlock()
	return err
}
