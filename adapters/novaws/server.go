package novaws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/ports"
)

// Identity is who a token belongs to. Every phone acts as remote:master without
// takeover rights, whatever its token (decision K9); the device is kept so that
// its revocation finds its connection.
type Identity struct {
	Device pairing.DeviceID // "" for the master token
	Round  uint64           // revocations seen when the token was checked
}

// Desk is what the listener asks of the host.
type Desk interface {
	// Authenticate finds out whose token it is; ok is false for nobody's.
	Authenticate(ctx context.Context, token secret.Text) (who Identity, ok bool)
	// AttachClient registers an admitted client's link. ok is false when the
	// device was revoked since Authenticate.
	AttachClient(ctx context.Context, who Identity, link ports.ClientLink) (detach func(), ok bool)
	// DeliverControl takes one control. An error refuses it.
	DeliverControl(ctx context.Context, c nova.Control) error
	// Redeem exchanges a code. Any error is the same answer on the wire.
	Redeem(ctx context.Context, r nova.PairRedeem) (nova.PairReady, error)
	// Administer answers a request on /client/pair-admin. Any error is the same
	// answer on the wire.
	Administer(ctx context.Context, r nova.PairRequest) (nova.Message, error)
	// CountAttempt counts a first message on /client/pair; false: too many lately.
	CountAttempt() bool
	// HostAccepted and OriginAccepted apply decision K8; a port is part of both.
	HostAccepted(host string) bool
	OriginAccepted(origin string) bool
	// PhonesPaused reports whether the owner wants no phone for now.
	PhonesPaused() bool
	// Refuse notes a refused attempt.
	Refuse(cause admission.Cause, peer string)
}

// Config is the listener's settings. The zero value of a number means its
// default.
type Config struct {
	MaxConnections   int // default 64
	Limits           wsconn.Limits
	Keepalive        time.Duration // between two pings; default 20 s
	RemoteAdmin      bool          // /client/pair-admin also through a proxy
	ServerInstanceID string        // UUIDs of this process
	InputInstanceID  string
	NewID            func() string // a fresh UUID
	Input            nova.Input    // what the host can take
	Log              *slog.Logger
}

// Defaults and limits of the listener.
const (
	DefaultConnections = 64
	defaultKeepalive   = 20 * time.Second
	headerLimit        = 12 << 10 // net/http adds 4 KiB of slack
	handshakeLimit     = 5 * time.Second
	retireLimit        = 500 * time.Millisecond // for a retired client's closing handshake
)

// Server is the client listener: /client/v1, /client/pair and /client/pair-admin.
type Server struct {
	desk     Desk
	config   Config
	tracker  *wsconn.Tracker
	gate     *wsconn.Gate
	http     *http.Server
	stopping atomic.Bool
	numbers  atomic.Uint64
	port     atomic.Pointer[string]

	mu    sync.Mutex
	place sessions.Place
	lobby sessions.Lobby
	open  map[sessions.ConnID]*session
	pairs int // pairing sockets that are open
}

// New builds a server; Serve starts it.
func New(desk Desk, config Config) *Server {
	if config.MaxConnections == 0 {
		config.MaxConnections = DefaultConnections
	}
	if config.Limits == (wsconn.Limits{}) {
		config.Limits = wsconn.DefaultLimits()
	}
	if config.Keepalive == 0 {
		config.Keepalive = defaultKeepalive
	}
	s := &Server{
		desk: desk, config: config,
		tracker: wsconn.NewTracker(config.MaxConnections),
		gate:    wsconn.NewGate(config.MaxConnections),
		open:    make(map[sessions.ConnID]*session),
	}
	s.http = &http.Server{
		Handler:                      s,
		ReadHeaderTimeout:            handshakeLimit,
		ReadTimeout:                  handshakeLimit,
		WriteTimeout:                 2 * handshakeLimit,
		MaxHeaderBytes:               headerLimit,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug),
		ConnContext:                  s.gate.ConnContext,
	}
	s.http.SetKeepAlivesEnabled(false)
	return s
}

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	if _, port, err := net.SplitHostPort(ln.Addr().String()); err == nil {
		s.port.Store(&port)
	}
	err := s.http.Serve(s.gate.Listener(ln))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve clients: %w", err)
}

// Shutdown refuses new upgrades with 503, ends every connection with 1001 and
// waits for them, or for ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	s.tracker.CloseAll(sessions.Shutdown)
	brief, cancel := context.WithTimeout(ctx, wsconn.CloseLimit)
	defer cancel()
	if err := s.http.Shutdown(brief); err != nil {
		_ = s.http.Close() // handshakes that did not end by themselves
	}
	if err := s.tracker.Wait(ctx); err != nil {
		return fmt.Errorf("wait for clients: %w", err)
	}
	return nil
}

// Connections counts the sockets that are open or being opened.
func (s *Server) Connections() int { return s.tracker.Len() }
