// Package adminweb serves the owner's page on a loopback listener.
//
// routes.go is the table of what it answers. Before that a request passes the
// defenses of defenses.go in their order, and the first that objects ends it.
// Every change is a POST that is answered by a redirect; a page is rendered into
// memory before a byte is sent. There is one file per resource: it declares what it
// needs of the host, and turns that into the views of package web.
//
// A session is a cookie whose path nobody knows; ports.PageSessions keeps the
// hashes of both. A signin.Issuer gives out the links and codes by which a session
// begins.
package adminweb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"plexus/adapters/adminweb/signin"
	"plexus/adapters/gate"
	"plexus/adapters/httpguard"
	"plexus/domain/secret"
	"plexus/ports"
	"plexus/usecases/syncx"
	"plexus/web"
)

// Limits of the listener.
const (
	MaxStreams     = 24               // of them event streams
	MaxHeaderBytes = 16 << 10         // of one request
	MaxFormBytes   = 64 << 10         // of one form: 5,000 characters of any script, each as up to nine bytes
	readLimit      = 10 * time.Second // one request, header included
	writeLimit     = 30 * time.Second // one page, or one event
)

// Config wires a server. Every field down to Log is required.
type Config struct {
	Phones     Phones
	Extensions Extensions
	Status     StatusSource
	Sessions   ports.PageSessions
	SignIn     *signin.Issuer
	QR         func(text string) ([][]bool, error) // modules of a QR code, quiet zone included; true is dark
	Words      web.Words
	Now        func() time.Time
	Random     io.Reader // of cookies and prefixes
	Log        *slog.Logger

	// Places is how many connections may be open at once, and how many requests of
	// the owner may be under way, streams included; the default is DefaultPlaces.
	Places gate.Limits
	// Changed gives channels that are closed at the next change of what a page
	// shows, after the call.
	Changed []func() <-chan struct{}
	// PeerIsOurs tells whether a connection comes from the owner's account; nil
	// where the system cannot say.
	PeerIsOurs func(net.Conn) (bool, error)
	// Visited is called when the owner opens the first page; nil for none.
	Visited func(context.Context)
	// Personal is the personal host; nil for a page without one.
	Personal *Personal
	// Desktop takes the page's WebSockets; nil for none.
	Desktop Desktop
	// API answers the owner's commands below /api/, which is cut off the path; nil
	// where they have another way in. Then Master is not used.
	API http.Handler
	// Master is the hash of the token that every request to API has to bring.
	Master secret.Hash
}

// DefaultPlaces are those of decisions G12 and G17.
func DefaultPlaces() gate.Limits { return gate.Limits{Connections: 64, Spare: 8} }

// Server is the owner's page.
type Server struct {
	Config
	hosts   atomic.Pointer[httpguard.HostRule] // nil until it serves: nothing passes
	slots   chan struct{}                      // one per request under way
	streams chan struct{}                      // one per event stream
	changes syncx.Notifier
	http    *http.Server

	stop    chan struct{} // closed by Shutdown
	stopped sync.Once
	gate    *gate.Gate
}

// New checks the wiring and builds a server; Serve starts it.
func New(cfg Config) (*Server, error) {
	var missing []error
	for name, absent := range map[string]bool{
		"phones": cfg.Phones == nil, "extensions": cfg.Extensions == nil, "status": cfg.Status == nil,
		"sessions": cfg.Sessions == nil, "sign-in": cfg.SignIn == nil, "QR encoder": cfg.QR == nil,
		"words": cfg.Words.Lang == "", "clock": cfg.Now == nil, "random source": cfg.Random == nil, "logger": cfg.Log == nil,
		"pages about privacy":      cfg.Personal != nil && (cfg.Personal.Privacy.Remembered == nil || cfg.Personal.Privacy.Searches == nil),
		"hash of the master token": cfg.API != nil && cfg.Master == secret.Hash{},
	} {
		if absent {
			missing = append(missing, errors.New("owner's page: no "+name))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	if cfg.Places == (gate.Limits{}) {
		cfg.Places = DefaultPlaces()
	}
	s := &Server{
		Config: cfg, gate: gate.New("owner's page", cfg.Places, cfg.Log, nil),
		slots: make(chan struct{}, cfg.Places.Connections), streams: make(chan struct{}, MaxStreams), stop: make(chan struct{}),
	}
	routes, err := s.routes(s.defenses()...)
	if err != nil {
		return nil, fmt.Errorf("owner's page: %w", err)
	}
	s.http = &http.Server{
		Handler:                      routes,
		ReadTimeout:                  readLimit,
		WriteTimeout:                 writeLimit,
		IdleTimeout:                  time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, &peer{conn: conn})
		},
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	s.gate.Guard(s.http)
	return s, nil
}

// Serve accepts connections on ln, which must be a loopback listener, until
// Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	s.hosts.Store(httpguard.ListenerHosts(ln.Addr()).WithDefaultPort())
	var watches sync.WaitGroup // Serve's own: Shutdown may come while it is being filled
	defer watches.Wait()
	defer s.halt()
	for _, source := range s.Changed {
		watches.Go(func() { s.watch(source) })
	}
	err := s.http.Serve(s.gate.Listen(ln))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the owner's page: %w", err)
}

// Shutdown ends every stream and socket and waits for pages that are being
// rendered, or for ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.halt()
	s.gate.Stop()
	var sockets error
	if s.Desktop != nil { // http.Server forgets what was upgraded
		sockets = s.Desktop.Shutdown(ctx)
	}
	if err := s.http.Shutdown(ctx); err != nil {
		return fmt.Errorf("shut the owner's page down: %w", errors.Join(err, s.http.Close(), sockets))
	}
	return sockets
}

func (s *Server) halt() { s.stopped.Do(func() { close(s.stop) }) }

// watch passes the changes of one source on. It takes the next channel before it
// notifies, so that no change in between is missed.
func (s *Server) watch(source func() <-chan struct{}) {
	for next := source(); ; {
		select {
		case <-next:
			next = source()
			s.changes.Notify()
		case <-s.stop:
			return
		}
	}
}
