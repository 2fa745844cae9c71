// Package nerveuds serves NERVE V1 on a Unix socket: the same frames and the same
// session as over WebSocket, for the owner's own tools. Only the owner can open the
// socket: its folder is private and the listener checks the peer's user.
package nerveuds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"

	"plexus/adapters/gate"
	"plexus/adapters/nervews"
	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/sessions"
	"plexus/usecases/syncx"
)

// PeerAuth knows the open sockets; who can open this one is the owner.
// *browsers.Registry is one.
type PeerAuth interface {
	nervews.Attacher
	Refuse(cause admission.Cause, peer string)
}

// Config is the listener's settings. The zero value of a number means its
// default.
type Config struct {
	Places gate.Limits // default DefaultPlaces
	// Payloads is shared with the other transport; the default is nervews.NewPayloads.
	Payloads *syncx.Budget
	Timing   nervews.Timing
	Limits   wsconn.Limits
	Log      *slog.Logger
}

// DefaultPlaces are those of decisions G12 and G17. A tool shakes no hands: until it
// has sent a frame it counts as silent.
func DefaultPlaces() gate.Limits { return gate.Limits{Connections: 1024} }

// Server is the NERVE Unix-socket listener.
type Server struct {
	queries nervews.QueryService
	auth    PeerAuth
	config  Config
	gate    *gate.Gate
	tracker *wsconn.Tracker
	lastID  atomic.Uint64 // of a connection, for the log

	mu       sync.Mutex
	listener net.Listener
	stopped  bool
}

// New builds a server; Serve starts it.
func New(queries nervews.QueryService, auth PeerAuth, config Config) *Server {
	if config.Places == (gate.Limits{}) {
		config.Places = DefaultPlaces()
	}
	if config.Payloads == nil {
		config.Payloads = nervews.NewPayloads()
	}
	if config.Limits == (wsconn.Limits{}) {
		config.Limits = wsconn.DefaultLimits()
	}
	return &Server{
		queries: queries, auth: auth, config: config,
		gate: gate.New("NERVE socket", config.Places, config.Log, func() { auth.Refuse(admission.TooMany, "") }),
		// The gate bounds the connections; a session may outlive its own for a moment.
		tracker: wsconn.NewTracker(2 * config.Places.Connections),
	}
}

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	ln = s.gate.Listen(ln)
	s.mu.Lock()
	s.listener = ln
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		_ = ln.Close()
		return nil
	}
	for {
		conn, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("accept on the NERVE socket: %w", err)
		}
		s.admit(conn)
	}
}

// admit starts the session of a connection, if there is room for one.
func (s *Server) admit(conn net.Conn) {
	if !s.tracker.Reserve() {
		s.auth.Refuse(admission.TooMany, "")
		_ = conn.Close()
		return
	}
	log := s.config.Log.With("connection", s.lastID.Add(1), "transport", "unix", "basis", string(admission.AsLocalUser))
	peer := admission.Peer{Basis: admission.AsLocalUser}
	watchdog := wsconn.NewWatchdogConn(conn, s.config.Limits, false)
	link := &streamLink{conn: conn, watchdog: watchdog, reader: bufio.NewReader(watchdog), buffer: nervews.FrameBuffer{Waited: watchdog.FrameWaited}}
	go nervews.NewSession(link, s.queries, peer, s.config.Payloads, s.config.Timing, log).Serve(s.tracker, s.auth, admission.Verdict{Admitted: true, Peer: peer})
}

// Shutdown stops accepting, ends every session and waits for them, or for ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		if s.listener != nil {
			_ = s.listener.Close() // Serve sees it and returns
		}
	}
	s.mu.Unlock()
	s.tracker.CloseAll(sessions.Shutdown)
	if err := s.tracker.Wait(ctx); err != nil {
		return fmt.Errorf("wait for NERVE socket connections: %w", err)
	}
	return nil
}

// Connections counts the connections that are open.
func (s *Server) Connections() int { return s.tracker.Len() }
