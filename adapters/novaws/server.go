package novaws

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"plexus/adapters/gate"
	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/loglimit"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/devices"
)

// DeviceAuth decides who may connect, and under which names of this host.
// *devices.Service is one.
type DeviceAuth interface {
	// Authenticate looks a token up: devices.ErrTokenUnknown for an unknown one,
	// any other error when the look-up failed.
	Authenticate(ctx context.Context, token pairing.DeviceToken) (devices.Identity, error)
	// AttachClient registers an admitted client's link. ok is false when the
	// device was revoked since Authenticate.
	AttachClient(ctx context.Context, who devices.Identity, link ports.ClientLink) (detach func(), ok bool)
	// MayEnter reports whether a client may take the one client's slot when it is free.
	MayEnter(who devices.Identity) bool
	// TurnAway notes that a client does not get the slot, and names it for the owner.
	TurnAway(ctx context.Context, who devices.Identity) (name string)
	// AcceptsHost and AcceptsOrigin apply decision K8 to names other than this
	// machine's own; a port is part of both.
	AcceptsHost(host string) bool
	AcceptsOrigin(origin string) bool
	// NoPhone reports whether the owner wants no phone for now.
	NoPhone() bool
}

// Pairing is what the two pairing paths call. *devices.Service is one. Every
// failure gets the same answer on the wire.
type Pairing interface {
	AuthenticateMaster(ctx context.Context, token pairing.MasterToken) error
	CountAttempt() bool // false: too many lately
	Redeem(ctx context.Context, code pairing.Code, name string) (pairing.DeviceToken, pairing.Device, error)
	CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error)
	CancelInvitation(ctx context.Context, id pairing.InvitationID) (canceled bool, err error)
	ActiveCode(code secret.Text) bool
	Devices(ctx context.Context) ([]devices.Status, error)
	Revoke(ctx context.Context, id pairing.DeviceID) error
}

// Deps is what the listener asks of the host.
type Deps struct {
	Auth     DeviceAuth
	Pairing  Pairing
	Personal PersonalHost // nil: there is none, and controls are rejected
	// Refuse notes a refused attempt for the owner's list.
	Refuse func(cause admission.Cause, peer string)
}

// Config is the listener's settings. The zero value of a number means its
// default.
type Config struct {
	Places           gate.Limits // default DefaultPlaces
	Limits           wsconn.Limits
	KeepAlive        time.Duration // between two pings; default wsconn.KeepAliveInterval
	RemoteAdmin      bool          // /client/pair-admin also through a proxy
	ServerInstanceID string        // UUIDs of this process
	InputInstanceID  string
	NewID            func() string // a fresh UUID
	Log              *slog.Logger
}

// Limits of a connection.
const (
	writeLimit = 60 * time.Second       // without progress (decision K3)
	closeLimit = 500 * time.Millisecond // for the closing handshake
)

// DefaultPlaces are those of decisions G12 and G17.
func DefaultPlaces() gate.Limits { return gate.Limits{Connections: 64, Spare: 8} }

// Server is the client listener: /client/v1, /client/pair and /client/pair-admin.
type Server struct {
	*wsconn.Server
	deps   Deps
	config Config
	lastID atomic.Uint64                      // of a connection, for the log
	hosts  atomic.Pointer[httpguard.HostRule] // this machine's own names; nil until it serves

	mu            sync.Mutex
	slot          sessions.Slot
	pendingHellos sessions.PendingHellos
	open          map[sessions.ConnID]*session
	pairs         int // pairing sockets that are open
	logLimit      loglimit.PerMinute
}

// mayLog reports whether a stranger's connection may cause one more line of a kind.
func (s *Server) mayLog(kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logLimit.Allow(kind, time.Now())
}

// New builds a server; Serve starts it.
func New(deps Deps, config Config) *Server {
	if config.Places == (gate.Limits{}) {
		config.Places = DefaultPlaces()
	}
	if config.Limits == (wsconn.Limits{}) {
		config.Limits = wsconn.Limits{Frame: wsconn.DefaultLimits().Frame, Write: writeLimit}
	}
	if config.KeepAlive == 0 {
		config.KeepAlive = wsconn.KeepAliveInterval
	}
	s := &Server{deps: deps, config: config, open: make(map[sessions.ConnID]*session), logLimit: loglimit.PerMinute{}}
	s.Server = wsconn.NewServer("listener for phones", s, config.Places, config.Log)
	return s
}

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	s.hosts.Store(httpguard.LoopbackHosts(ln.Addr()))
	return s.Server.Serve(ln)
}
