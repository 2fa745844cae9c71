package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"

	"plexus/adapters/adminapi"
	"plexus/adapters/adminweb"
	"plexus/adapters/adminweb/desktop"
	"plexus/adapters/adminweb/privacy"
	"plexus/adapters/adminweb/signin"
	"plexus/adapters/gate"
	"plexus/adapters/hostfiles"
	"plexus/adapters/qr"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/status"
	"plexus/domain/pages"
	"plexus/web"
)

// adminServers are the owner's page and the commands' way in: the admin socket or,
// where there are no Unix sockets, the listener of the page.
func (p *process) adminServers(ctx context.Context) ([]server, error) {
	p.source = &status.Source{
		Config: p.opts.Config, Services: p.services, DataDir: p.opts.DataDir, Started: p.started,
		TokenFile: p.store.token.Token.Path(), Store: p.store.Store,
		Questions: p.questions, Browsers: p.browsers, Devices: p.devices, Recording: p.personal.Topics.Recording, Unstored: p.personal.Unstored,
		Admin: p.listeners.admin.Addr(), Nerve: p.listeners.nerve.Addr(), Client: p.listeners.client.Addr(),
	}
	if p.listeners.nerveSocket != nil {
		p.source.NerveSocket = p.listeners.nerveSocket.Addr().String()
	}
	cfg, err := p.pageConfig(ctx)
	if err != nil {
		return nil, err
	}
	admin := adminapi.NewServer(adminapi.Config{
		Extensions: p.browsers, Remembered: p.personal.Privacy, Phones: p.devices, SignIn: p.signIn,
		Status: func(ctx context.Context) (any, error) {
			return p.source.Gather(ctx, status.Probe(ctx, p.opts.Config, p.services))
		},
		TokenFile: p.source.TokenFile, Log: p.log,
	})
	if !p.env.UnixSockets {
		cfg.API, cfg.Master = admin.Handler, p.store.master
	}
	site, err := adminweb.New(cfg)
	if err != nil {
		return nil, err
	}
	door := gate.New("admin socket", p.places.admin, p.log, nil)
	door.Guard(admin)
	page := server{"owner's page", p.listeners.admin, site.Serve, site.Shutdown}
	if p.env.UnixSockets {
		return []server{page, {"admin socket", p.listeners.adminSocket, func(l net.Listener) error {
			if err := admin.Serve(door.Listen(l)); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serving: %w", err)
			}
			return nil
		}, func(ctx context.Context) error {
			door.Stop()
			return admin.Shutdown(ctx)
		}}}, nil
	}
	page.shutdown = func(ctx context.Context) error { // the admin API first: it ends requests that wait for a phone
		return errors.Join(admin.Shutdown(ctx), site.Shutdown(ctx))
	}
	return []server{page}, nil
}

func (p *process) pageConfig(ctx context.Context) (adminweb.Config, error) {
	signIn := signin.NewIssuer(p.env.Now, rand.Reader)
	dir := filepath.Dir(p.env.Paths().NerveSocket(p.opts.DataDir))
	var err error
	if p.signIn, err = newSignInLinks(signIn, p.listeners.ownersPage(), dir, p.log); err != nil {
		return adminweb.Config{}, err
	}
	p.done.add(p.signIn.close)
	healthCtx, stopHealth := context.WithCancel(ctx)
	health := &healthCache{Source: p.source, env: p.env, ctx: healthCtx}
	p.done.add(func() error {
		stopHealth()
		health.refreshes.Wait()
		return nil
	})
	cfg := adminweb.Config{
		Phones: p.devices, Extensions: p.browsers, Status: health, Sessions: p.store.PageSessions(), SignIn: signIn,
		Places: p.places.page,
		QR: func(text string) ([][]bool, error) {
			matrix, err := qr.Encode(text)
			return matrix, err
		},
		Words: web.English(), Now: p.env.Now, Random: rand.Reader, Log: p.log,
		Changed: []func() <-chan struct{}{p.devices.Changed, p.browsers.Changed, health.changed.Wait, p.personal.Changed},
		Personal: &adminweb.Personal{
			Conversations: p.personal.Chats, Texts: p.personal.Turns, Topics: p.personal.Topics, Lists: p.personal.Life,
			RecordingFixedBy: p.opts.Config.Conversations.RecordFrom,
			Privacy: privacy.Config{
				Remembered: p.personal.Privacy, Searches: p.personal.Turns.Searches, SearchesFixedBy: p.opts.Config.Search.ConversationsFrom,
				SearchService: p.searchService(), Retention: kept(p.opts.Config),
			},
		},
		Visited: func(ctx context.Context) {
			if err := p.retention.OwnerIsHere(ctx); err != nil && ctx.Err() == nil {
				p.log.Error("the owner's visit could not be noted", "error", err)
			}
		},
		Desktop: desktop.New(desktop.Config{Host: p.personal, Log: p.log}),
	}
	if runtime.GOOS == "linux" {
		cfg.PeerIsOurs = hostfiles.TCPPeerIsOursOrRoot // other systems do not tell whose a connection is
	}
	return cfg, nil
}

// searchService names the search service for people; "" when there is none.
func (p *process) searchService() string {
	if p.services.Search == nil {
		return ""
	}
	cfg := p.opts.Config.Search
	if u, err := url.Parse(cfg.URL); err == nil && u.Host != "" {
		return cfg.Kind + " at " + u.Host // without what may be a password
	}
	return cfg.Kind
}

// kept is how much is kept, and for how long.
func kept(cfg config.Config) web.Retention {
	bounds := pages.DefaultBounds()
	return web.Retention{
		PageDays: bounds.Days, Pages: bounds.Pages, PageBytes: bounds.Bytes,
		TopicDays: cfg.Conversations.TopicDays, Topics: cfg.Conversations.Topics,
	}
}
