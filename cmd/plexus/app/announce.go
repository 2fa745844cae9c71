package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
)

// announce says, in the run file, the ready file, the log and to a person at a
// terminal, that everything accepts.
func (p *process) announce() error {
	run := hostfiles.RunInfo{
		PID: os.Getpid(), Version: cli.Version(), DataDir: p.opts.DataDir,
		Admin: p.listeners.admin.Addr().String(), Nerve: p.listeners.nerve.Addr().String(), Client: p.listeners.client.Addr().String(),
	}
	if p.env.UnixSockets {
		run.NerveSocket = p.listeners.nerveSocket.Addr().String()
		run.AdminSocket = p.listeners.adminSocket.Addr().String()
	}
	for _, path := range []string{filepath.Join(p.opts.DataDir, hostfiles.RunName), p.opts.ReadyFile} {
		if path == "" {
			continue
		}
		if err := hostfiles.WriteRun(path, run); err != nil {
			return err
		}
		p.done.add(func() error { return hostfiles.Remove(path) })
	}
	p.log.Info("ready", "version", run.Version, "admin", run.Admin, "nerve", run.Nerve, "client", run.Client, "nerve_socket", run.NerveSocket, "data_dir", run.DataDir,
		"search", p.opts.Config.Search.Kind, "model", p.opts.Config.Model.Kind)
	if cli.IsTerminal(p.env.Stdout) {
		p.env.Printf("%s", greeting(run.Admin, run.Nerve, p.store.token.Token.Path()))
	}
	return nil
}

func greeting(page, address, tokenFile string) string {
	otherAddress := ""
	if address != config.DefaultNerveAddr().String() {
		otherAddress = "\n   First put the address above into its settings: it looks at ws://" + config.DefaultNerveAddr().String() + "."
	}
	return fmt.Sprintf(`
Plexus is ready. Its page is http://%s/ (plexus open signs in); extensions
come to ws://%s.

1. Open chrome://extensions, switch on "Developer mode", press "Load unpacked"
   and choose the folder web/extension.
2. Open the extension's panel. It knocks, and shows four digits.%s
3. In another terminal let it in by the digits of its panel:
       plexus extensions allow DIGITS
   (If plexus is not installed, say go run ./cmd/plexus in its place.)

Pair a phone:         plexus pair
Ask from a terminal:  plexus ask "your question"
See what is going on: plexus status
Programs without a browser use the token in %s.
Ctrl-C stops Plexus.

`, page, address, otherAddress, tokenFile)
}

// openPage opens the page for a person at the terminal. Without a terminal nothing
// is printed, so that a service's journal holds neither link nor code.
func (p *process) openPage(ctx context.Context) {
	if cli.BrowserIsConfined(ctx, p.env) {
		return // the greeting says how
	}
	link, err := p.signIn.SignInLink()
	if err != nil {
		p.log.Error("the page could not be opened", "error", err)
		return
	}
	if err := cli.OpenBrowser(ctx, p.env, link.File); err != nil && !errors.Is(err, cli.ErrNoBrowser) {
		p.log.Warn("the page could not be opened", "error", err)
	}
}
