package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/localmodel"
	"plexus/adapters/nerveuds"
	"plexus/adapters/nervews"
	"plexus/adapters/outbound"
	"plexus/adapters/searchapi"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/config"
	"plexus/domain/admission"
	"plexus/domain/answers"
	"plexus/domain/pairing"
	"plexus/domain/usecases/ask"
	"plexus/domain/usecases/browsers"
	"plexus/ports"
)

// closers are run in reverse, each once, whatever the others say.
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

// services are what the host calls out to over the network.
type services struct {
	search ports.SearchProvider // nil: none
	warm   func(context.Context) error
	model  ports.Generator // nil: none
	auto   *localModel     // nil unless model.kind is auto
	local  bool            // the model runs on this machine

	recognizer ports.Transcriber               // nil: none
	hears      func(ctx context.Context) error // whether it can be reached; nil: none
	close      closers
}

// buildServices checks the settings of search, model and recogniser, all faults
// together, and sends nothing.
func buildServices(cfg config.Config, log *slog.Logger) (*services, error) {
	s := &services{}
	err := errors.Join(s.addSearch(cfg, log), s.addModel(cfg, log), s.addRecognizer(cfg.Recognizer))
	return s, err
}

// warmSearch is what the search adapters have beyond their port.
type warmSearch interface {
	ports.SearchProvider
	Warm(ctx context.Context) error
	Close()
}

func (s *services) addSearch(cfg config.Config, log *slog.Logger) error {
	settings := searchapi.Config{
		BaseURL: cfg.Search.URL, Key: cfg.Search.Key, Cache: true,
		ConnectTimeout: cfg.Limits.SearchConnect, Timeout: cfg.Limits.SearchTotal,
		Log: log, Now: time.Now,
	}
	var search warmSearch
	var err error
	switch cfg.Search.Kind {
	case "anvesha":
		search, err = searchapi.NewAnvesha(settings)
	case "searxng":
		search, err = searchapi.NewSearXNG(settings)
	case "brave":
		search, err = searchapi.NewBrave(settings)
	default:
		return nil // the page index alone, or nothing
	}
	if err != nil {
		return fmt.Errorf("search.kind %s: %w", cfg.Search.Kind, err)
	}
	s.search, s.warm = search, search.Warm
	s.close.add(func() error { search.Close(); return nil })
	return nil
}

func (s *services) addModel(cfg config.Config, log *slog.Logger) error {
	wait := localmodel.Limits{FirstByte: cfg.Limits.ModelFirstByte, Idle: cfg.Limits.ModelBetween, Total: cfg.Limits.ModelTotal}
	switch cfg.Model.Kind {
	case "auto":
		auto, err := localmodel.NewAuto(localmodel.AutoConfig{Limits: wait, Now: time.Now, Log: log})
		if err != nil {
			return fmt.Errorf("model.kind auto: %w", err)
		}
		local := &localModel{Auto: auto, limits: wait}
		s.model, s.auto, s.local = local, local, true
		s.close.add(func() error { local.Close(); return nil })
	case "openai":
		model, err := localmodel.New(localmodel.Config{
			BaseURL: cfg.Model.BaseURL, Model: cfg.Model.Name, Key: localmodel.Key(cfg.Model.Key.Reveal()),
			AllowPlainHTTP: cfg.Model.PlainHTTP, Limits: wait,
		})
		if err != nil {
			return fmt.Errorf("model.kind openai: %w", err)
		}
		s.model, s.local = model, onThisMachine(cfg.Model.BaseURL)
		s.close.add(func() error { model.Close(); return nil })
	}
	return nil
}

// onThisMachine: a model here works for two questions at once, a hosted one for
// more.
func onThisMachine(rawURL string) bool {
	u, err := url.Parse(rawURL)
	return err == nil && outbound.IsLoopback(u.Hostname())
}

// hostedGenerations is the default against a model on another machine.
const hostedGenerations = 8

// store is the open database and the secrets that lie beside it.
type store struct {
	*sqlite.Store
	token  hostfiles.LoadResult
	master pairing.TokenHash // of the master token, which the devices are bound to
}

func openStore(ctx context.Context, cfg config.Config, dataDir string, log *slog.Logger, done *closers) (*store, error) {
	path := filepath.Join(dataDir, hostfiles.DatabaseName)
	db, err := sqlite.Open(ctx, path, sqlite.Options{Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", path, err, databaseAdvice(err))
	}
	done.add(db.Close)
	master, err := bindDevices(ctx, db, dataDir)
	if err != nil {
		return nil, err
	}
	token, err := hostfiles.LoadToken(cfg.Listen.NerveTokenFile)
	if err != nil {
		return nil, err
	}
	for _, warning := range token.Warnings {
		log.Warn(warning)
	}
	s := &store{Store: db, token: token, master: master}
	if token.Replaced {
		s.nameTokenHolders(ctx, log)
	}
	return s, nil
}

// nameTokenHolders says who is locked out by a new token.
func (s *store) nameTokenHolders(ctx context.Context, log *slog.Logger) {
	rows, err := s.Extensions().Extensions(ctx)
	if err != nil {
		log.Error("the list of extensions could not be read", "error", err)
		return
	}
	var origins []string
	for _, row := range rows {
		if row.State == admission.ByToken {
			origins = append(origins, row.Origin)
		}
	}
	if len(origins) == 0 {
		return // that it is a new one has been said
	}
	log.Warn("the host token is a new one: these extensions came with the old one and have to be allowed again", "extensions", origins)
}

// nerveHost is what the NERVE listeners need: who answers, and who may ask.
type nerveHost struct {
	*ask.Service
	*browsers.Registry
}

func newHost(cfg config.Config, services *services, store *store, keep ports.AnswerRecorder, log *slog.Logger) (h nerveHost, err error) {
	deps := ask.Deps{Search: services.search, Model: services.model, Recorder: keep, Now: time.Now, Log: log}
	if cfg.UsesIndex() {
		deps.Index = store.Pages()
	}
	generations := cfg.Limits.Generations
	if generations == 0 && services.model != nil && !services.local {
		generations = hostedGenerations
	}
	h.Service, err = ask.New(deps, ask.Options{
		Language: answers.Language(cfg.Language), NoAnswers: cfg.Model.Kind == "none", IndexShared: cfg.Index.Shared,
		MaxSearches: cfg.Limits.Searches, MaxGenerations: generations, MaxPrompt: cfg.Limits.Prompt,
	})
	if err != nil {
		return h, fmt.Errorf("building the host: %w", err)
	}
	h.Registry, err = browsers.New(
		browsers.Deps{Extensions: store.Extensions(), Token: store.token.Token, Now: time.Now, Log: log},
		browsers.Options{AllowedOrigins: cfg.AllowedOrigins, TokenHash: store.token.Token.Secret().Hash()})
	if err != nil {
		return h, fmt.Errorf("building the host: %w", err)
	}
	return h, nil
}

// stopper is one server on one listener.
type stopper struct {
	name     string
	listener net.Listener
	serve    func(net.Listener) error
	shutdown func(context.Context) error
}

// nerveServers are the servers of NERVE on the listeners that are open.
func nerveServers(cfg config.Config, h nerveHost, l *listeners, log *slog.Logger) []stopper {
	ws := nervews.Config{MaxConnections: cfg.Limits.Connections, MaxHandshakes: cfg.Limits.Handshakes, Log: log}
	if runtime.GOOS == "linux" {
		ws.PeerIsOurs = hostfiles.TCPPeerIsOurs // elsewhere nobody can tell
	}
	web := nervews.New(h, ws)
	servers := []stopper{{"NERVE WebSocket", l.nerve, web.Serve, web.Shutdown}}
	if l.nerveSocket != nil {
		l.nerveSocket.OnRefused = func() { h.Refuse(admission.ForeignUser, "") }
		unix := nerveuds.New(h, nerveuds.Config{MaxConnections: cfg.Limits.Connections, Log: log})
		servers = append(servers, stopper{"NERVE socket", l.nerveSocket, unix.Serve, unix.Shutdown})
	}
	return servers
}

// shutdownAll ends every server at the same time and waits for all.
func shutdownAll(ctx context.Context, servers []stopper) error {
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
