package main

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"plexus/adapters/adminweb"
	"plexus/adapters/hostfiles"
	"plexus/adapters/qr"
	"plexus/domain/host"
	"plexus/web"
)

// pageServer is the server of the owner's page.
func (i *instance) pageServer(ctx context.Context, h *host.Host) (stopper, error) {
	signIn := adminweb.NewSignIn(time.Now, rand.Reader)
	dir := filepath.Dir(i.places().NerveSocket(i.opts.dataDir))
	var err error
	if i.doorman, err = newDoorman(signIn, "http://"+i.listeners.admin.Addr().String()+"/", dir, i.log); err != nil {
		return stopper{}, err
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
		Changed: []func() <-chan struct{}{i.clients.Changed, h.Changed, m.Changed},
	}
	if runtime.GOOS == "linux" {
		cfg.PeerIsOurs = hostfiles.TCPPeerIsOursOrRoot // elsewhere nobody can tell
	}
	site, err := adminweb.New(cfg)
	if err != nil {
		return stopper{}, err
	}
	return stopper{"owner's page", i.listeners.admin, site.Serve, site.Shutdown}, nil
}

// opensBrowser is the default of --open-browser.
func (p *program) opensBrowser() bool {
	if on, err := strconv.ParseBool(p.getenv("PLEXUS_OPEN_BROWSER")); err == nil {
		return on
	}
	return isTerminal(p.stdout)
}

// openPage opens the page for a person at the terminal. A service's journal gets
// neither link nor code.
func (i *instance) openPage(ctx context.Context) {
	if i.browserIsConfined(ctx) {
		return // the greeting says how
	}
	link, err := i.doorman.SignInLink()
	if err != nil {
		i.log.Error("the page could not be opened", "error", err)
		return
	}
	if err := i.openBrowser(ctx, link.File); err != nil && !errors.Is(err, errNoBrowser) {
		i.log.Warn("the page could not be opened", "error", err)
	}
}
