// Package adminweb serves the owner's page on a loopback listener.
//
// A request passes these defences in order, and the first that objects ends it:
// a guard against panics, the Host header, marks of a proxy, the account of the
// peer, Origin and Sec-Fetch, http.CrossOriginProtection, headers that deny
// everything not needed, the token and the session. Every change is a POST that is answered by a redirect; pages
// are drawn into memory before a byte is sent.
//
// What it needs of the host is in desks.go: Phones, which *host.Clients is,
// Extensions, which *host.Host is, and Machine, for the wiring to write. A
// session is a cookie whose path nobody knows; ports.PageSessions keeps the
// hashes of both. a signin.Issuer gives out the links and codes by which a session begins.
//
//	GET  /                              how to sign in
//	POST /signin                        secret= of a link, or code=
//	GET  /healthz                       "ok"
//	GET  /static/<hash>/<file>
//	GET  /s/<32 hex>/                   overview
//	GET  /s/<32 hex>/pair, devices, extensions, refused, sessions, events
//	GET  /s/<32 hex>/desktop            WebSocket of the personal host, Config.Desktop
//	POST /s/<32 hex>/…                  see routes.go
//	GET, POST /s/<32 hex>/…             of the personal host, see adapters/admindesk
//	any  /api/…                         Config.API, for commands with the master token
package adminweb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plexus/adapters/admindesk"
	"plexus/adapters/adminweb/signin"
	"plexus/domain/secret"
	"plexus/domain/usecases/syncx"
	"plexus/ports"
	"plexus/web"
)

// Limits of the listener.
const (
	MaxRequests    = 64               // at once, streams included; more are answered 503
	MaxStreams     = 24               // of them event streams
	MaxHeaderBytes = 16 << 10         // of one request
	MaxFormBytes   = 64 << 10         // of one form: 5,000 characters of any script, each as up to nine bytes
	readLimit      = 10 * time.Second // one request, header included
	writeLimit     = 30 * time.Second // one page, or one event
)

// Config wires a site. Every field down to Log is required.
type Config struct {
	Phones     Phones
	Extensions Extensions
	Machine    Machine
	Sessions   ports.PageSessions
	SignIn     *signin.Issuer
	QR         func(text string) ([][]bool, error) // modules of a QR code, quiet zone included; true is dark
	Words      web.Words
	Now        func() time.Time
	Random     io.Reader // of cookies and prefixes
	Log        *slog.Logger

	// Changed gives channels that are closed at the next change of what a page
	// shows, after the call.
	Changed []func() <-chan struct{}
	// PeerIsOurs tells whether a connection comes from the owner's account; nil
	// where the system cannot say.
	PeerIsOurs func(net.Conn) (bool, error)
	// Personal is the personal host; nil for a page without one. RecordingFixedBy
	// names what sets the recording of questions above the page, for where it is
	// fixed.
	Personal         admindesk.Owner
	RecordingFixedBy string
	// Desktop takes the page's WebSockets; nil for none.
	Desktop Desktop
	// API answers the owner's commands below /api/, which is cut off the path; nil
	// where they have another way in. Then Master is not used.
	API http.Handler
	// Master is the hash of the token that every request to API has to bring.
	Master secret.Hash
}

// Site is the owner's page.
type Site struct {
	Config
	hosts   atomic.Pointer[hostRule] // nil until it serves: nothing passes
	places  chan struct{}
	streams chan struct{}
	changes syncx.Notifier
	desk    *admindesk.Desk // nil without a personal host
	http    *http.Server

	stop    chan struct{} // closed by Shutdown
	stopped sync.Once
	silent  silent
}

// New checks the wiring and builds a site; Serve starts it.
func New(cfg Config) (*Site, error) {
	var missing []error
	for name, absent := range map[string]bool{
		"phones": cfg.Phones == nil, "extensions": cfg.Extensions == nil, "machine": cfg.Machine == nil,
		"sessions": cfg.Sessions == nil, "sign-in": cfg.SignIn == nil, "QR encoder": cfg.QR == nil,
		"words": cfg.Words.Lang == "", "clock": cfg.Now == nil, "random source": cfg.Random == nil, "logger": cfg.Log == nil,
		"hash of the master token": cfg.API != nil && cfg.Master == secret.Hash{},
	} {
		if absent {
			missing = append(missing, errors.New("owner's page: no "+name))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	s := &Site{Config: cfg, places: make(chan struct{}, MaxRequests), streams: make(chan struct{}, MaxStreams), stop: make(chan struct{})}
	if cfg.Personal != nil {
		s.desk = admindesk.New(cfg.Personal, cfg.Words, cfg.RecordingFixedBy)
		s.Changed = append(slices.Clone(cfg.Changed), s.desk.Changed)
	}
	routes, err := s.routes()
	if err != nil {
		return nil, fmt.Errorf("owner's page: %w", err)
	}
	s.http = &http.Server{
		Handler:                      s.guardLoad(s.protect(routes)),
		ReadTimeout:                  readLimit,
		WriteTimeout:                 writeLimit,
		IdleTimeout:                  time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		ConnContext:                  withPeer,
		ConnState:                    s.silent.note,
		ErrorLog:                     slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Serve accepts connections on ln, which must be a loopback listener, until
// Shutdown. It returns nil after one.
func (s *Site) Serve(ln net.Listener) error {
	s.hosts.Store(newHostRule(ln.Addr()))
	var watches sync.WaitGroup // Serve's own: Shutdown may come while it is being filled
	defer watches.Wait()
	defer s.halt()
	for _, source := range s.Changed {
		watches.Go(func() { s.watch(source) })
	}
	err := s.http.Serve(ln)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the owner's page: %w", err)
}

// Shutdown ends every stream and socket and waits for pages that are being drawn,
// or for ctx.
func (s *Site) Shutdown(ctx context.Context) error {
	s.halt()
	s.silent.cut()
	var sockets error
	if s.Desktop != nil { // http.Server forgets what was upgraded
		sockets = s.Desktop.Shutdown(ctx)
	}
	if err := s.http.Shutdown(ctx); err != nil {
		return fmt.Errorf("shut the owner's page down: %w", errors.Join(err, s.http.Close(), sockets))
	}
	return sockets
}

func (s *Site) halt() { s.stopped.Do(func() { close(s.stop) }) }

// watch passes the changes of one source on. It takes the next channel before it
// tells anybody, so that what changes meanwhile is told too.
func (s *Site) watch(source func() <-chan struct{}) {
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
