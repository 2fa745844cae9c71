package manage

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"plexus/adapters/hostfiles"
	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/domain/text"
)

const setupUsage = "setup tailscale [--https-port PORT] [--yes]"

const setupNotes = `Makes Tailscale hand the phones of your tailnet on to the client listener of this
host. The exact command is shown first and run after a yes; then the result is
checked. Nothing is opened to the internet, and no other listener is handed on.`

// Setup is the command plexus setup.
func Setup(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(setupUsage, setupNotes)
	dataDir := fs.DataDir(env)
	configPath := fs.ConfigFile()
	port := fs.Uint("https-port", 443, "`port` at which phones reach this machine")
	yes := fs.Bool("yes", false, "run the command without asking")
	words, err := fs.Parse(env, args)
	if err != nil {
		return err
	}
	if len(words) != 1 || words[0] != "tailscale" || *port < 1 || *port > 65535 {
		return cli.Usagef("usage: plexus %s", setupUsage)
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	client, err := clientAddress(env, dir, *configPath)
	if err != nil {
		return err
	}
	return setupTailscale(ctx, env, uint16(*port), client, *yes)
}

// clientAddress is where the client listener is, or would be.
func clientAddress(env cli.Env, dir, configPath string) (netip.AddrPort, error) {
	if running, _, err := hostfiles.HostRuns(dir); err == nil && running {
		if run, err := hostfiles.ReadRun(dir); err == nil {
			if addr, err := netip.ParseAddrPort(run.Client); err == nil {
				return addr, nil
			}
		}
	}
	cfg, err := config.Read(env, dir, configPath, nil)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if cfg.Listen.Client.Port() == 0 {
		return netip.AddrPort{}, errors.New("the client listener takes a free port at each start (listen.client), so nothing can be set up to forward to it; give it a port of its own")
	}
	return cfg.Listen.Client, nil
}

func setupTailscale(ctx context.Context, env cli.Env, port uint16, client netip.AddrPort, yes bool) error {
	tool, name, err := tailscale.FindConnected(ctx, env.Environ)
	switch {
	case errors.Is(err, tailscale.ErrNotInstalled):
		return errors.New("tailscale is not installed here. Get it from https://tailscale.com/download, on this machine and on the phone, and sign in on both")
	case errors.Is(err, tailscale.ErrNotConnected):
		return errors.New("tailscale is installed and not connected. Run: tailscale up, and see that MagicDNS is on in the tailnet's settings")
	case err != nil:
		return err
	}
	url := "wss://" + name
	if port != 443 {
		url = fmt.Sprintf("%s:%d", url, port)
	}
	env.Printf("This makes phones of your tailnet reach this host as %s:\n\n    tailscale %s\n\n", text.Printable(url), strings.Join(tailscale.ServeArgs(port, client), " "))
	env.Printf("If Tailscale then asks to switch HTTPS on, leave Funnel off: it would open the host to the internet.\n")
	if !yes && !env.Confirm("Run it?") {
		return errors.New("nothing was changed")
	}
	if err := tool.Serve(ctx, port, client, env.Stdout); err != nil {
		return fmt.Errorf("%w. It may have to be run by an administrator, or once: sudo tailscale set --operator=$USER", err)
	}
	if err := checkForward(ctx, tool, port, client); err != nil {
		return err
	}
	env.Printf("Done: %s is handed on to %s. Now pair a phone:\n\n    plexus pair --public-url %s\n", text.Printable(url), client, text.Printable(url))
	return nil
}

// checkForward checks that Tailscale forwards as it was asked to.
func checkForward(ctx context.Context, tool *tailscale.Tool, port uint16, client netip.AddrPort) error {
	forwards, err := tool.Forwards(ctx)
	if err != nil {
		return err
	}
	for _, f := range forwards {
		if f.Port == port && f.Path == "/" && f.Target == client.String() {
			if f.Public {
				return fmt.Errorf("it is handed on, but Funnel is on: the whole internet reaches this host. To switch it off: tailscale funnel --https=%d off", port)
			}
			return nil
		}
	}
	return errors.New("tailscale ran the command, and does not hand that port on. See: tailscale serve status")
}
