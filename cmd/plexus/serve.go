package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/domain/usecases/devices"
	"plexus/domain/usecases/personal"
)

// Time limits of starting and stopping.
const (
	lockPatience = time.Second     // a command may look at the lock just now
	stopLimit    = 4 * time.Second // for connections; the whole stop has 5 s
	warmLimit    = 5 * time.Second
)

const serveNotes = `Runs the host until it is interrupted. It works with nothing configured; every
flag is also an environment variable PLEXUS_<NAME>, and most are keys of the
configuration file. The order is flag, environment, file, what was set on the
page or by plexus pair, default.`

// serveOptions are the flags that are no settings.
type serveOptions struct {
	dataDir   string
	readyFile string
	browser   bool // open the owner's page
	cfg       config.Config
	warnings  []string
}

func serve(ctx context.Context, env cli.Env, args []string) error {
	opts, err := parseServe(env, args)
	if err != nil {
		return err
	}
	log := newLogger(env.Stderr, opts.cfg.Log.Format, opts.cfg.Log.Level)
	services, err := buildServices(opts.cfg, log)
	if err != nil {
		return config.Unusable(err)
	}
	for _, warning := range opts.warnings {
		log.Warn(warning)
	}
	i := &instance{env: env, opts: opts, log: log, services: services, started: time.Now()}
	defer func() { _ = services.close.close() }() // they only drop idle connections
	return i.run(ctx)
}

func parseServe(env cli.Env, args []string) (serveOptions, error) {
	fs := cli.NewFlags("serve [flags]", serveNotes)
	dataDir := fs.DataDir(env)
	configPath := fs.ConfigFile()
	readyFile := fs.String("ready-file", env.Getenv("PLEXUS_READY_FILE"), "`file` that is written once everything accepts connections (PLEXUS_READY_FILE)")
	browser := fs.Bool("open-browser", opensBrowser(env), "open the owner's page once the host is ready; default on in a terminal (PLEXUS_OPEN_BROWSER)")
	given := config.AddFlags(fs)
	if err := fs.ParseNone(env, args); err != nil {
		return serveOptions{}, err
	}
	dir, err := dataDir()
	if err != nil {
		return serveOptions{}, err
	}
	src, err := config.Find(env, dir, *configPath, given)
	if err != nil {
		return serveOptions{}, err
	}
	cfg, warnings, err := config.Load(env, src)
	if err != nil {
		// The faults of search and model settings belong to the same list.
		_, more := buildServices(cfg, slog.New(slog.DiscardHandler))
		return serveOptions{}, config.Unusable(errors.Join(err, more))
	}
	return serveOptions{dataDir: dir, readyFile: *readyFile, browser: *browser, cfg: cfg, warnings: warnings}, nil
}

// instance is one life of the host process.
type instance struct {
	env      cli.Env
	opts     serveOptions
	log      *slog.Logger
	services *services
	started  time.Time

	done      closers
	listeners *listeners
	store     *store
	clients   *devices.Service
	personal  *personal.Host
	doorman   *doorman
}

// run starts everything, waits for the end of ctx or the first server that
// fails, and stops everything. The lock comes first: whoever does not have it
// touches neither the database nor a socket.
func (i *instance) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, i.done.close()) }()
	servers, err := i.start(ctx)
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
	serving.Go(func() { i.warm(warmCtx) })

	if err = i.announce(); err == nil {
		if i.opts.browser {
			serving.Go(func() { i.openPage(ctx) })
		}
		select {
		case <-ctx.Done():
			i.log.Info("stopping")
		case err = <-failed:
		}
	}
	stopCtx, stop := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer stop()
	if late := shutdownAll(stopCtx, servers); late != nil {
		i.log.Warn("not everything ended in time and was cut", "error", late)
	}
	return err
}

func (i *instance) start(ctx context.Context) ([]stopper, error) {
	dir, cfg := i.opts.dataDir, i.opts.cfg
	warnings, err := hostfiles.PrivateDir(dir)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w\nAnother place can be chosen with --data-dir", err)
	}
	for _, warning := range warnings {
		i.log.Warn(warning)
	}
	lock, err := hostfiles.AcquireLock(ctx, dir, lockPatience)
	if err != nil {
		return nil, whyLocked(dir, err)
	}
	i.done.add(lock.Release)
	// What a host that was killed has left of a dictation, whatever recognizes now.
	if err := os.RemoveAll(cfg.Recognizer.Dir); err != nil {
		i.log.Warn("what was dictated before is still there", "error", fmt.Errorf("remove old speech: %w", err))
	}
	if i.listeners, err = openListeners(ctx, cfg, dir, i.env.UnixSockets, i.log, &i.done); err != nil {
		return nil, err
	}
	if i.store, err = openStore(ctx, cfg, dir, i.log, &i.done); err != nil {
		return nil, err
	}
	if i.services.auto != nil {
		if err := i.services.auto.adopt(ctx, i.store.Settings()); err != nil {
			i.log.Error("the model that was taken on the page cannot be used", "error", err)
		}
	}
	keep := &recorder{}
	h, err := newHost(cfg, i.services, i.store, keep, i.log)
	if err != nil {
		return nil, err
	}
	if i.personal, err = newPersonal(ctx, cfg, i.services, i.store, h, i.log); err != nil {
		return nil, err
	}
	keep.Host = i.personal
	i.done.add(func() error { i.personal.Stop(); return nil })
	if i.clients, err = newClients(ctx, cfg, i.store, dir, i.log); err != nil {
		return nil, err
	}
	servers := append(nerveServers(cfg, h, i.listeners, i.log), clientServer(cfg, h, i.clients, i.personal, i.listeners, i.log))
	admin, err := i.ownerServers(ctx, h)
	return append(servers, admin...), err
}

// untilClosed makes a clean end of an HTTP server no error.
func untilClosed(s *http.Server) func(net.Listener) error {
	return func(l net.Listener) error {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving: %w", err)
		}
		return nil
	}
}

// whyLocked names the host that runs already, with its address.
func whyLocked(dir string, err error) error {
	var held *hostfiles.LockedError
	if !errors.As(err, &held) {
		return fmt.Errorf("data directory: %w\nAnother place can be chosen with --data-dir", err)
	}
	where := ""
	if run, err := hostfiles.ReadRun(dir); err == nil && run.Nerve != "" {
		where = ", NERVE at " + run.Nerve
	}
	return fmt.Errorf("%w%s. Stop it first, or give this one a place of its own with --data-dir", held, where)
}

// warm opens connections ahead of the first question and looks for a model on
// this machine. What fails here fails again, and is told, when it is used.
func (i *instance) warm(ctx context.Context) {
	if i.services.warm != nil {
		if err := i.services.warm(ctx); err != nil && ctx.Err() == nil {
			i.log.Warn("the search service cannot be reached yet", "error", err)
		}
	}
	if i.services.auto != nil {
		if err := i.services.auto.Probe(ctx); err != nil && ctx.Err() == nil {
			i.log.Warn("looking for a model on this machine failed", "error", err)
		}
	}
}

// announce says, in the run file, the ready file, the log and to a person at a
// terminal, that everything accepts.
func (i *instance) announce() error {
	run := hostfiles.RunInfo{
		PID: os.Getpid(), Version: cli.Version(), DataDir: i.opts.dataDir,
		Admin: i.listeners.admin.Addr().String(), Nerve: i.listeners.nerve.Addr().String(), Client: i.listeners.client.Addr().String(),
	}
	if i.env.UnixSockets {
		run.NerveSocket = i.listeners.nerveSocket.Addr().String()
		run.AdminSocket = i.listeners.adminSocket.Addr().String()
	}
	for _, path := range []string{filepath.Join(i.opts.dataDir, hostfiles.RunName), i.opts.readyFile} {
		if path == "" {
			continue
		}
		if err := hostfiles.WriteRun(path, run); err != nil {
			return err
		}
		i.done.add(func() error { return hostfiles.Remove(path) })
	}
	i.log.Info("ready", "version", run.Version, "admin", run.Admin, "nerve", run.Nerve, "client", run.Client, "nerve_socket", run.NerveSocket, "data_dir", run.DataDir,
		"search", i.opts.cfg.Search.Kind, "model", i.opts.cfg.Model.Kind)
	if cli.IsTerminal(i.env.Stdout) {
		i.env.Printf("%s", greeting(run.Admin, run.Nerve, i.store.token.Token.Path()))
	}
	return nil
}

func greeting(page, address, tokenFile string) string {
	elsewhere := ""
	if address != config.DefaultNerveAddr().String() {
		elsewhere = "\n   First put the address above into its settings: it looks at ws://" + config.DefaultNerveAddr().String() + "."
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

`, page, address, elsewhere, tokenFile)
}
