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
	"time"

	"plexus/domain/sessions"
)

// Limits of the HTTP handshake of a listener.
const (
	handshakeLimit = 5 * time.Second
	headerLimit    = 12 << 10 // net/http adds 4 KiB of slack: 16 KiB in all
)

// Server is the HTTP side of a listener for WebSockets: handshakes and
// connections are counted and bounded, and a shutdown ends them all.
type Server struct {
	Tracker *Tracker

	limiter  *handshakeLimiter
	http     *http.Server
	stopping atomic.Bool
}

// NewServer builds a server for handler with that many connections and, among
// them, handshakes at once. Serve starts it.
func NewServer(handler http.Handler, connections, handshakes int, log *slog.Logger) *Server {
	s := &Server{Tracker: NewTracker(connections), limiter: &handshakeLimiter{max: handshakes}}
	s.http = &http.Server{
		Handler:                      handler,
		ReadHeaderTimeout:            handshakeLimit,
		ReadTimeout:                  handshakeLimit,
		WriteTimeout:                 2 * handshakeLimit,
		MaxHeaderBytes:               headerLimit,
		DisableGeneralOptionsHandler: true, // OPTIONS * has to pass the handler's rules too
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return s.limiter.connContext(context.WithValue(ctx, connKey{}, c), c)
		},
	}
	s.http.SetKeepAlivesEnabled(false)
	return s
}

type connKey struct{}

// ConnOf gives the connection of a request; nil for one that no Server serves.
func ConnOf(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return c
}

// Full reports whether the request has to be told 503: the server stops, or too
// many handshakes are under way.
func (s *Server) Full(r *http.Request) bool {
	refused, _ := r.Context().Value(refusedKey{}).(bool)
	return refused || s.stopping.Load()
}

// Stopping reports whether Shutdown has begun.
func (s *Server) Stopping() bool { return s.stopping.Load() }

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	err := s.http.Serve(&handshakeListener{Listener: ln, limiter: s.limiter})
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
	// net/http would wait five seconds for a connection that never sent a byte.
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
