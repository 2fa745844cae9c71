// Package app is the host process: it opens the listeners and the database, builds the
// services of the core, serves until it is stopped, and closes everything again.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"plexus/adapters/gate"
	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
	"plexus/cmd/plexus/status"
	"plexus/domain/pages"
	"plexus/usecases/ask"
	"plexus/usecases/browsers"
	"plexus/usecases/devices"
	"plexus/usecases/personal"
	"plexus/usecases/retention"
)

// Time limits of starting and stopping.
const (
	LockPatience = time.Second     // a command may look at the lock just now
	stopLimit    = 4 * time.Second // for connections; the whole stop has 5 s
	warmLimit    = 5 * time.Second
)

// memoryLimit is how much memory the runtime works hard to stay within, in bytes, unless
// GOMEMLIMIT says otherwise. What all queries in flight may take fits into it.
const memoryLimit = 320 << 20

// Options say how a host runs.
type Options struct {
	DataDir     string
	ReadyFile   string // written once everything accepts connections; "": none
	OpenBrowser bool   // open the owner's page once the host is ready
	Config      config.Config
	Warnings    []string // of the configuration, for the log
}

// process is one life of the host.
type process struct {
	env      cli.Env
	opts     Options
	log      *slog.Logger
	services *services.Services
	started  time.Time

	done      closers
	listeners *listeners
	places    places
	store     *store
	questions *ask.Service
	browsers  *browsers.Registry
	devices   *devices.Service
	personal  *personal.Host
	retention *retention.Keeper
	signIn    *signInLinks
	source    *status.Source
}

// Run runs a host until ctx ends. A configuration that cannot be used is a usage
// error.
func Run(ctx context.Context, env cli.Env, opts Options) error {
	log := newLogger(env.Stderr, opts.Config.Log)
	called, err := services.Build(opts.Config, log)
	if err != nil {
		return config.Unusable(err)
	}
	defer called.Close()
	if env.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	for _, warning := range opts.Warnings {
		log.Warn(warning)
	}
	p := &process{env: env, opts: opts, log: log, services: called, started: time.Now()}
	return p.run(ctx)
}

// run starts everything, waits for the end of ctx or the first server that fails,
// and stops everything. The lock comes first: without it neither the database nor a
// socket is touched.
func (p *process) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.done.close()) }()
	servers, err := p.start(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil // stopped while starting
		}
		return err
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	failed := make(chan error, len(servers))
	for _, s := range servers {
		serving.Go(func() {
			if err := s.serve(s.listener); err != nil {
				failed <- fmt.Errorf("the %s failed: %w", s.name, err)
			}
		})
	}
	warmCtx, stopWarming := context.WithTimeout(ctx, warmLimit)
	defer stopWarming()
	serving.Go(func() { p.warm(warmCtx) })
	keepingCtx, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	serving.Go(func() { p.keepBounds(keepingCtx) })

	if err = p.announce(); err == nil {
		if p.opts.OpenBrowser {
			serving.Go(func() { p.openPage(ctx) })
		}
		select {
		case <-ctx.Done():
			p.log.Info("stopping")
		case err = <-failed:
		}
	}
	stopCtx, stop := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer stop()
	if late := shutdownAll(stopCtx, servers); late != nil {
		p.log.Warn("not everything ended in time and was cut", "error", late)
	}
	return err
}

func (p *process) start(ctx context.Context) ([]server, error) {
	dir, cfg := p.opts.DataDir, p.opts.Config
	warnings, err := hostfiles.PrivateDir(dir)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w\nAnother place can be chosen with --data-dir", err)
	}
	for _, warning := range warnings {
		p.log.Warn(warning)
	}
	lock, err := hostfiles.AcquireLock(ctx, dir, LockPatience)
	if err != nil {
		var locked *hostfiles.LockedError
		if !errors.As(err, &locked) {
			return nil, fmt.Errorf("data directory: %w\nAnother place can be chosen with --data-dir", err)
		}
		where := "" // the host that runs already
		if run, err := hostfiles.ReadRun(dir); err == nil && run.Nerve != "" {
			where = ", NERVE at " + run.Nerve
		}
		return nil, fmt.Errorf("%w%s. Stop it first, or give this one a place of its own with --data-dir", locked, where)
	}
	p.done.add(lock.Release)
	// A killed host may have left files of a dictation, whichever recognizer is
	// configured now.
	if err := os.RemoveAll(cfg.Recognizer.Dir); err != nil {
		p.log.Warn("what was dictated before is still there", "error", fmt.Errorf("remove old speech: %w", err))
	}
	if p.listeners, err = openListeners(ctx, cfg.Listen, dir, p.env.UnixSockets, p.log, &p.done); err != nil {
		return nil, err
	}
	p.places = newPlaces(cfg.Limits, gate.OpenFiles(), p.log)
	if p.store, err = openStore(ctx, cfg, dir, p.env.Now, p.log, &p.done); err != nil {
		return nil, err
	}
	if p.services.Local != nil {
		if err := p.services.Local.LoadChoice(ctx, p.store.Settings()); err != nil {
			p.log.Error("the model that was taken on the page cannot be used", "error", err)
		}
	}
	if err := p.build(ctx); err != nil {
		return nil, fmt.Errorf("building the host: %w", err)
	}
	servers := append(p.nerveServers(), p.clientServer())
	admin, err := p.adminServers(ctx)
	return append(servers, admin...), err
}

// build builds the use cases on the open store.
func (p *process) build(ctx context.Context) (err error) {
	keep := &recorder{}
	if p.questions, err = p.newQuestions(keep); err != nil {
		return err
	}
	p.browsers, err = browsers.New(
		browsers.Deps{Extensions: p.store.Extensions(), Token: p.store.token.Token, Now: p.env.Now, Log: p.log},
		browsers.Options{AllowedOrigins: p.opts.Config.AllowedOrigins, TokenHash: p.store.token.Token.Secret().Hash()})
	if err != nil {
		return err
	}
	if p.personal, err = p.newPersonal(ctx); err != nil {
		return err
	}
	keep.Topics = p.personal.Topics
	p.retention = retention.New(
		retention.Deps{Days: p.store.RunDays(), Pages: p.store.Pages(), Topics: p.personal.Topics, Now: p.env.Now, Log: p.log},
		retention.Options{PageDays: pages.MaxDays, TopicDays: p.opts.Config.Conversations.TopicDays})
	p.done.add(func() error { p.personal.Stop(); return nil })
	p.devices, err = devices.New(ctx,
		devices.Deps{
			Devices: p.store.Devices(), Revoked: hostfiles.NewRevoked(p.opts.DataDir),
			Settings: p.store.Settings(), Random: rand.Reader, Now: p.env.Now, Log: p.log,
		},
		devices.Options{
			Master: p.store.master, PublicURL: p.opts.Config.PublicURL, LegacyExpiry: p.opts.Config.Pairing.LegacyExpiry,
		})
	return err
}

// warm opens connections ahead of the first question and looks for a model on this
// machine. A failure is not reported here: it shows when the service is used.
func (p *process) warm(ctx context.Context) {
	if p.services.WarmSearch != nil {
		if err := p.services.WarmSearch(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("the search service cannot be reached yet", "error", err)
		}
	}
	if p.services.Local != nil {
		if err := p.services.Local.Probe(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("looking for a model on this machine failed", "error", err)
		}
	}
}

// keepBounds removes what is too old, at once and each hour.
func (p *process) keepBounds(ctx context.Context) {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	for ctx.Err() == nil {
		p.retention.Look(ctx)
		select {
		case <-hourly.C:
		case <-ctx.Done():
		}
	}
}

// server is one server on one listener.
type server struct {
	name     string
	listener net.Listener
	serve    func(net.Listener) error
	shutdown func(context.Context) error
}

// shutdownAll ends every server at the same time and waits for all.
func shutdownAll(ctx context.Context, servers []server) error {
	problems := make([]error, len(servers))
	var stopping sync.WaitGroup
	for i, s := range servers {
		stopping.Go(func() {
			if err := s.shutdown(ctx); err != nil {
				problems[i] = fmt.Errorf("stopping the %s: %w", s.name, err)
			}
		})
	}
	stopping.Wait()
	return errors.Join(problems...)
}

// closers are run in reverse order, each once, also after an error of another.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

func (c *closers) close() error {
	var problems []error
	for _, f := range slices.Backward(*c) {
		if err := f(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	*c = nil
	return errors.Join(problems...)
}
