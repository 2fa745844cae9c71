package main

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/adminweb"
	"plexus/adapters/adminweb/signin"
	"plexus/adapters/desktopws"
	"plexus/adapters/hostfiles"
	"plexus/adapters/qr"
	"plexus/cmd/plexus/cli"
	"plexus/web"
)

// ownerServers are the owner's page and the commands' way in: the admin socket or,
// where there are no Unix sockets, the listener of the page.
func (i *instance) ownerServers(ctx context.Context, h nerveHost) ([]stopper, error) {
	cfg, err := i.pageConfig(ctx, h)
	if err != nil {
		return nil, err
	}
	admin := adminapi.NewServer(adminapi.Config{
		Desk: h, Shelf: i.store.Pages(), Phones: i.clients, Owner: i.doorman, Status: i.statusSource(h),
		TokenFile: i.store.token.Token.Path(), Log: i.log,
	})
	if !i.env.UnixSockets {
		cfg.API, cfg.Master = admin.Handler, i.store.master
	}
	site, err := adminweb.New(cfg)
	if err != nil {
		return nil, err
	}
	page := stopper{"owner's page", i.listeners.admin, site.Serve, site.Shutdown}
	if i.env.UnixSockets {
		return []stopper{page, {"admin socket", i.listeners.adminSocket, untilClosed(admin), admin.Shutdown}}, nil
	}
	page.shutdown = func(ctx context.Context) error { // admin first: it lets go of what waits for a phone
		return errors.Join(admin.Shutdown(ctx), site.Shutdown(ctx))
	}
	return []stopper{page}, nil
}

func (i *instance) pageConfig(ctx context.Context, h nerveHost) (adminweb.Config, error) {
	signIn := signin.NewIssuer(time.Now, rand.Reader)
	dir := filepath.Dir(i.env.Paths().NerveSocket(i.opts.dataDir))
	var err error
	if i.doorman, err = newDoorman(signIn, "http://"+i.listeners.admin.Addr().String()+"/", dir, i.log); err != nil {
		return adminweb.Config{}, err
	}
	i.done.add(i.doorman.close)
	lookCtx, stopLooking := context.WithCancel(ctx)
	m := newMachine(lookCtx, i, h)
	i.done.add(func() error {
		stopLooking()
		m.looks.Wait()
		return nil
	})
	cfg := adminweb.Config{
		Phones: i.clients, Extensions: h, Machine: m, Sessions: i.store.PageSessions(), SignIn: signIn,
		QR: func(text string) ([][]bool, error) {
			matrix, err := qr.Encode(text)
			return matrix, err
		},
		Words: web.English(), Now: time.Now, Random: rand.Reader, Log: i.log,
		Changed:  []func() <-chan struct{}{i.clients.Changed, h.Changed, m.Changed, i.personal.Changed},
		Personal: i.personal, RecordingFixedBy: i.opts.cfg.Conversations.RecordFrom,
		Desktop: desktopws.New(desktopws.Config{Host: i.personal, Log: i.log}),
	}
	if runtime.GOOS == "linux" {
		cfg.PeerIsOurs = hostfiles.TCPPeerIsOursOrRoot // elsewhere nobody can tell
	}
	return cfg, nil
}

// opensBrowser is the default of --open-browser.
func opensBrowser(env cli.Env) bool {
	if on, err := strconv.ParseBool(env.Getenv("PLEXUS_OPEN_BROWSER")); err == nil {
		return on
	}
	return cli.IsTerminal(env.Stdout)
}

// openPage opens the page for a person at the terminal. A service's journal gets
// neither link nor code.
func (i *instance) openPage(ctx context.Context) {
	if cli.BrowserIsConfined(ctx, i.env) {
		return // the greeting says how
	}
	link, err := i.doorman.SignInLink()
	if err != nil {
		i.log.Error("the page could not be opened", "error", err)
		return
	}
	if err := cli.OpenBrowser(ctx, i.env, link.File); err != nil && !errors.Is(err, cli.ErrNoBrowser) {
		i.log.Warn("the page could not be opened", "error", err)
	}
}
