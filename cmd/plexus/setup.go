package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"plexus/adapters/hostfiles"
	"plexus/adapters/tailscale"
	"plexus/domain/text"
)

const setupUsage = "setup tailscale [--https-port PORT] [--yes]"

const setupNotes = `Makes Tailscale hand the phones of your tailnet on to the client listener of this
host. The exact command is shown first and run after a yes; then the result is
checked. Nothing is opened to the internet, and no other listener is handed on.`

// tailnet is this machine's Tailscale and its name.
type tailnet struct {
	*tailscale.Tool
	Name string
}

func (t tailnet) url() string { return "wss://" + t.Name }

// tailscale looks for a Tailscale that is connected.
func (p *program) tailscale(ctx context.Context) (tailnet, error) {
	tool, err := tailscale.Find(p.environ)
	if err != nil {
		return tailnet{}, err
	}
	name, err := tool.Name(ctx)
	return tailnet{tool, name}, err
}

func setup(ctx context.Context, p *program, args []string) error {
	fs := p.flags(setupUsage, setupNotes)
	dataDir := p.addDataDir(fs)
	configPath := fs.String("config", "", "configuration `file` (PLEXUS_CONFIG)")
	port := fs.Uint("https-port", 443, "`port` at which phones reach this machine")
	yes := fs.Bool("yes", false, "run the command without asking")
	words, err := p.parse(fs, args)
	if err != nil {
		return err
	}
	if len(words) != 1 || words[0] != "tailscale" || *port < 1 || *port > 65535 {
		return usagef("usage: plexus %s", setupUsage)
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	client, err := p.clientAddress(dir, *configPath)
	if err != nil {
		return err
	}
	return p.setupTailscale(ctx, uint16(*port), client, *yes)
}

// clientAddress is where the client listener is, or would be.
func (p *program) clientAddress(dir, configPath string) (netip.AddrPort, error) {
	if running, _, err := hostfiles.HostRuns(dir); err == nil && running {
		if run, err := hostfiles.ReadRun(dir); err == nil {
			if addr, err := netip.ParseAddrPort(run.Client); err == nil {
				return addr, nil
			}
		}
	}
	cfg, err := p.settingsOf(dir, configPath)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if cfg.clientAddr.Port() == 0 {
		return netip.AddrPort{}, errors.New("the client listener takes a free port at each start (listen.client), so nothing can be set up to forward to it; give it a port of its own")
	}
	return cfg.clientAddr, nil
}

// settingsOf reads the settings as serve would, without its flags.
func (p *program) settingsOf(dir, configPath string) (config, error) {
	file, named, err := p.configFile(configPath)
	if err != nil {
		return config{}, fmt.Errorf("finding the configuration: %w", err)
	}
	cfg, problems := p.readSettings(sources{file: file, named: named, dataDir: dir})
	if err := errors.Join(problems...); err != nil {
		return config{}, configError(err)
	}
	return cfg, nil
}

func (p *program) setupTailscale(ctx context.Context, port uint16, client netip.AddrPort, yes bool) error {
	ts, err := p.tailscale(ctx)
	switch {
	case errors.Is(err, tailscale.ErrNotInstalled):
		return errors.New("tailscale is not installed here. Get it from https://tailscale.com/download, on this machine and on the phone, and sign in on both")
	case errors.Is(err, tailscale.ErrNotConnected):
		return errors.New("tailscale is installed and not connected. Run: tailscale up, and see that MagicDNS is on in the tailnet's settings")
	case err != nil:
		return err
	}
	url := ts.url()
	if port != 443 {
		url = fmt.Sprintf("%s:%d", url, port)
	}
	p.outf("This makes phones of your tailnet reach this host as %s:\n\n    tailscale %s\n\n", text.Printable(url), strings.Join(tailscale.ServeArgs(port, client), " "))
	p.outf("If Tailscale then asks to switch HTTPS on, leave Funnel off: it would open the host to the internet.\n")
	if !yes && !p.confirm("Run it?") {
		return errors.New("nothing was changed")
	}
	if err := ts.Serve(ctx, port, client, p.stdout); err != nil {
		return fmt.Errorf("%w. It may have to be run by an administrator, or once: sudo tailscale set --operator=$USER", err)
	}
	if err := checkForward(ctx, ts, port, client); err != nil {
		return err
	}
	p.outf("Done: %s is handed on to %s. Now pair a phone:\n\n    plexus pair --public-url %s\n", text.Printable(url), client, text.Printable(url))
	return nil
}

// checkForward looks whether Tailscale does what it was told.
func checkForward(ctx context.Context, ts tailnet, port uint16, client netip.AddrPort) error {
	forwards, err := ts.Forwards(ctx)
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

// confirm asks on the terminal; no answer is a no.
func (p *program) confirm(question string) bool {
	p.outf("%s [y/N] ", question)
	answer, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil {
		p.outf("\n")
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
