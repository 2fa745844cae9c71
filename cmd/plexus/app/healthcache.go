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
	"plexus/domain/usecases/devices"
	"plexus/domain/usecases/syncx"
	"plexus/web"
)

// maxHealthAge is how old what the page shows of the world outside may be: the next
// drawing then has it looked at again.
const maxHealthAge = 30 * time.Second

// healthCache is the status of the host for the owner's page. It looks at services and
// at Tailscale beside the drawing of pages, which take what was seen last.
type healthCache struct {
	*status.Source
	env cli.Env
	ctx context.Context // ends with the process; looks end with it

	mu      sync.Mutex
	seen    status.Probes
	path    adminweb.PhonePath
	at      time.Time // of the last look; zero: none yet
	looking bool
	changed syncx.Notifier // of seen and path
	looks   sync.WaitGroup
}

// look gives what was seen last and looks again, unless that is fresh or a look
// is under way. Only the very first one is waited for.
func (c *healthCache) look(ctx context.Context) (status.Probes, adminweb.PhonePath) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.looking && time.Since(c.at) >= maxHealthAge && c.ctx.Err() == nil {
		c.looking = true
		c.looks.Go(c.lookNow)
	}
	if first := c.changed.Wait(); c.at.IsZero() && c.looking {
		c.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
		}
		c.mu.Lock()
	}
	return c.seen, c.path
}

func (c *healthCache) lookNow() {
	var path adminweb.PhonePath
	var looking sync.WaitGroup
	looking.Go(func() { path = c.lookAtPath() })
	seen := status.Probe(c.ctx, c.Config, c.Services)
	looking.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.path, c.at, c.looking = seen, path, time.Now(), false
	c.changed.Notify()
}

// lookAtPath asks Tailscale, where there is one, for its name and for what it
// hands on.
func (c *healthCache) lookAtPath() adminweb.PhonePath {
	path := adminweb.PhonePath{FixedBy: c.Config.PublicURLFrom}
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
	if public, _, ok := c.Devices.PublicURL(); ok {
		private := []string{c.Admin.String(), c.Nerve.String()} // that nobody but this machine may reach
		for _, f := range doctor.Tailnet(forwards, name, public, client, private) {
			if f.Level == doctor.Fault || f.Level == doctor.Warning {
				path.Warning = f.Detail + " " + f.Advice
				break
			}
		}
	}
	return path
}

// PhonePath implements adminweb.StatusSource.
func (c *healthCache) PhonePath(ctx context.Context) adminweb.PhonePath {
	_, path := c.look(ctx)
	return path
}

// Overview implements adminweb.StatusSource.
func (c *healthCache) Overview(ctx context.Context) (web.Overview, error) {
	seen, _ := c.look(ctx)
	report, err := c.Gather(ctx, seen)
	return report.Overview(), err
}

// UseModel implements adminweb.StatusSource.
func (c *healthCache) UseModel(ctx context.Context, name, baseURL string) error {
	if c.Services.Local == nil {
		return devices.ErrSettingFixed
	}
	if err := c.Services.Local.Take(ctx, c.Store.Settings(), name, baseURL); err != nil {
		return err
	}
	c.mu.Lock()
	c.at = time.Time{} // it is out of date
	c.mu.Unlock()
	return nil
}
