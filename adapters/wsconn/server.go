// Package wsconn holds what all sockets of Plexus share: the upgrade, a socket with
// bounded reads, writes and teardown, the one Writer and the one KeepAlive, pooled
// buffers, the outbox of NERVE and the list of live connections. It knows no
// protocol above WebSocket.
package wsconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"

	"plexus/adapters/gate"
	"plexus/domain/sessions"
)

// Limits of the HTTP handshake of a listener.
const (
	handshakeLimit = gate.HeaderLimit // header and body: nothing that comes here has one
	headerLimit    = 12 << 10         // net/http adds 4 KiB of slack: 16 KiB in all
)

// Server is the HTTP side of a listener for WebSockets: handshakes and
// connections are counted and bounded, and a shutdown ends them all.
type Server struct {
	Tracker *Tracker

	gate     *gate.Gate
	http     *http.Server
	stopping atomic.Bool
}

// NewServer builds a server for handler within limits, of which Opening bounds the
// handshakes; name is for the log. Serve starts it.
func NewServer(name string, handler http.Handler, limits gate.Limits, log *slog.Logger) *Server {
	s := &Server{Tracker: NewTracker(limits.Connections), gate: gate.New(name, limits, log, nil)}
	s.http = &http.Server{
		Handler:                      handler,
		ReadTimeout:                  handshakeLimit,
		WriteTimeout:                 2 * handshakeLimit,
		MaxHeaderBytes:               headerLimit,
		DisableGeneralOptionsHandler: true, // OPTIONS * has to pass the handler's rules too
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.gate.Guard(s.http)
	s.http.SetKeepAlivesEnabled(false)
	return s
}

// Stopping reports whether Shutdown has begun: from then on the answer is 503.
func (s *Server) Stopping() bool { return s.stopping.Load() }

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	err := s.http.Serve(s.gate.Listen(ln))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Connections counts the connections that are open or being opened.
func (s *Server) Connections() int { return s.Tracker.Len() }

// Shutdown refuses new upgrades with 503, ends every connection with
// sessions.Shutdown and waits for them, or for ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	s.Tracker.CloseAll(sessions.Shutdown)
	s.gate.Stop()
	brief, cancel := context.WithTimeout(ctx, CloseLimit)
	defer cancel()
	if err := s.http.Shutdown(brief); err != nil {
		_ = s.http.Close() // handshakes that did not end by themselves
	}
	if err := s.Tracker.Wait(ctx); err != nil {
		return fmt.Errorf("wait for connections: %w", err)
	}
	return nil
}
