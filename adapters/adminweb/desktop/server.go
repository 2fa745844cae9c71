// Package desktop serves the owner's page as a client of the personal host: the
// desktop endpoint of the Nova client protocol (nova-personal §1.1 to §1.4,
// decision K12), over a WebSocket that the owner's page has admitted. Its client
// is desktop:local and can take tasks over; no frame can say otherwise.
//
// Inbound it takes every control that a client may send, each a text message
// without an envelope, and uplink PCM (decision K17). What the host does not take
// is answered client.command_result "rejected", which names the request or, where
// the control has none, its kind; input.text with a request id has its own result.
// Only faults end the socket, with 1002. Outbound, desktop.capabilities comes
// first; personal frames may have 8 MiB.
package desktop

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/personal/hub"
)

// Defaults and limits of the endpoint.
const (
	MaxSockets = 8
	closeLimit = 500 * time.Millisecond // for the closing handshake
)

// Host is the personal host: *personal.Host.
type Host interface {
	Attach(link ports.PersonalLink, terms hub.Terms) hub.Endpoint
	Input() nova.Input     // what can be handed in now
	InputInstance() string // names this process's text input
}

// Config is the endpoint's settings. The zero value of a number means its default.
type Config struct {
	Host      Host
	Limits    wsconn.Limits
	KeepAlive time.Duration // between two pings; default wsconn.KeepAliveInterval
	Log       *slog.Logger
}

// Server upgrades requests that somebody else has admitted.
type Server struct {
	config  Config
	tracker *wsconn.Tracker
	lastID  atomic.Uint64 // of a connection, for the log
}

// New builds a server.
func New(config Config) *Server {
	if config.Limits == (wsconn.Limits{}) {
		config.Limits = wsconn.DefaultLimits()
	}
	if config.KeepAlive == 0 {
		config.KeepAlive = wsconn.KeepAliveInterval
	}
	return &Server{config: config, tracker: wsconn.NewTracker(MaxSockets)}
}

// Serve answers one request, whose Host and session the caller has judged. It
// returns at once; signedOut then runs beside the socket: it waits until the session
// of the page has ended, and returns false when ctx ends first.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, signedOut func(ctx context.Context) bool) {
	if !wsconn.IsUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-WebSocket-Version", "13")
		http.Error(w, "This address speaks WebSocket over HTTP/1.1 only.", http.StatusUpgradeRequired)
		return
	}
	// The caller has judged the Origin too; a WebSocket is what any site may try to
	// open, so it is checked a second time here.
	if !httpguard.SameOrigin(r) {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	if !s.tracker.Reserve() {
		http.Error(w, "Plexus has no place for this connection now.", http.StatusServiceUnavailable)
		return
	}
	socket, err := wsconn.Upgrade(w, r, wsconn.UpgradeOptions{ReadLimit: nova.MaxMessage, Limits: s.config.Limits})
	if err != nil {
		s.tracker.Release(nil)
		s.config.Log.Debug("an upgrade failed", "error", err)
		return
	}
	// It runs in a goroutine of its own, so that net/http can free the request; the
	// tracker, which Shutdown waits for, has its slot already.
	go s.run(socket, signedOut)
}

// Shutdown refuses new sockets, ends the others with 1001 and waits for them, or
// for ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.tracker.CloseAll(sessions.Shutdown)
	if err := s.tracker.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the page's sockets: %w", err)
	}
	return nil
}
