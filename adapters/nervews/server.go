// Package nervews serves NERVE V1 over WebSocket, and holds the session that the
// Unix socket (package nerveuds) runs too.
package nervews

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/sessions"
	"plexus/ports"
)

// Desk is what the listener asks of the host.
type Desk interface {
	Answerer
	Admit(ctx context.Context, k admission.Knock) admission.Verdict
	Attach(ctx context.Context, v admission.Verdict, link ports.NerveLink) (detach func(), ok bool)
	OriginAllowed(ctx context.Context, origin string) bool
	Refuse(cause admission.Cause, peer string)
}

// Config is the listener's settings. The zero value of a number means its
// default.
type Config struct {
	MaxConnections int // default 1024
	MaxHandshakes  int // default 64
	Timing         Timing
	Limits         wsconn.Limits
	Log            *slog.Logger
	// PeerIsOurs tells whether a connection comes from a process of our user.
	// nil where the system cannot say.
	PeerIsOurs func(net.Conn) (bool, error)
}

// Limits of the HTTP handshake.
const (
	handshakeLimit = 5 * time.Second
	headerLimit    = 12 << 10 // net/http adds 4 KiB of slack: 16 KiB in all
)

// Defaults of the caps (decision G12).
const (
	DefaultConnections = 1024
	DefaultHandshakes  = 64
)

// Server is the NERVE WebSocket listener.
type Server struct {
	desk     Desk
	config   Config
	tracker  *wsconn.Tracker
	gate     *wsconn.Gate
	http     *http.Server
	hosts    atomic.Pointer[hostRule]
	stopping atomic.Bool
	numbers  atomic.Uint64 // connections so far, for the log
}

// New builds a server; Serve starts it.
func New(desk Desk, config Config) *Server {
	if config.MaxConnections == 0 {
		config.MaxConnections = DefaultConnections
	}
	if config.MaxHandshakes == 0 {
		config.MaxHandshakes = DefaultHandshakes
	}
	if config.Limits == (wsconn.Limits{}) {
		config.Limits = wsconn.DefaultLimits()
	}
	s := &Server{
		desk:    desk,
		config:  config,
		tracker: wsconn.NewTracker(config.MaxConnections),
		gate:    wsconn.NewGate(config.MaxHandshakes),
	}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: handshakeLimit,
		ReadTimeout:       handshakeLimit,
		WriteTimeout:      2 * handshakeLimit,
		MaxHeaderBytes:    headerLimit,
		// OPTIONS * is a request like any other: the Host rule holds for it too.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return s.gate.ConnContext(context.WithValue(ctx, connKey{}, c), c)
		},
	}
	s.http.SetKeepAlivesEnabled(false)
	return s
}

type connKey struct{}

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	s.hosts.Store(newHostRule(ln.Addr()))
	err := s.http.Serve(s.gate.Listener(ln))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve NERVE over WebSocket: %w", err)
}

// Shutdown refuses new upgrades with 503, ends every session with 1001 and
// waits for them, or for ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	s.tracker.CloseAll(sessions.Shutdown)
	// net/http would wait five seconds for a connection that never sent a byte.
	brief, cancel := context.WithTimeout(ctx, wsconn.CloseLimit)
	defer cancel()
	if err := s.http.Shutdown(brief); err != nil {
		_ = s.http.Close() // handshakes that did not end by themselves
	}
	if err := s.tracker.Wait(ctx); err != nil {
		return fmt.Errorf("wait for NERVE connections: %w", err)
	}
	return nil
}

// Connections counts the connections that are open or being opened.
func (s *Server) Connections() int { return s.tracker.Len() }
