// Package nervews serves NERVE V1 over WebSocket, and holds the session that the
// Unix socket (package nerveuds) runs too.
package nervews

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"

	"plexus/adapters/gate"
	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/usecases/syncx"
)

// PeerAuth decides who may open a socket, and knows the open ones.
// *browsers.Registry is one.
type PeerAuth interface {
	Admit(ctx context.Context, k admission.HandshakeRequest) admission.Verdict
	Attacher
	OriginAllowed(ctx context.Context, origin string) bool
	IsToken(key admission.KeyHash) bool
	Refuse(cause admission.Cause, peer string)
}

// Config is the listener's settings. The zero value of a number means its
// default.
type Config struct {
	Places gate.Limits // default DefaultPlaces
	// Payloads is shared with the other transport; the default is NewPayloads.
	Payloads *syncx.Budget
	Timing   Timing
	Limits   wsconn.Limits
	Log      *slog.Logger
	// OwnersPage is the address of the owner's page, which extensions are told; "" for
	// none. It has nothing of a session.
	OwnersPage string
	// PeerIsOurs tells whether a connection comes from a process of our user.
	// nil where the system cannot say.
	PeerIsOurs func(net.Conn) (bool, error)
}

// MaxPayloads bounds the bytes of all queries that the process has in flight (decision
// G17). One origin gets half of them at most.
const MaxPayloads = 256 << 20

// NewPayloads gives the room for the payloads of all connections.
func NewPayloads() *syncx.Budget { return syncx.NewBudget(MaxPayloads) }

// DefaultPlaces are those of decisions G12 and G17.
func DefaultPlaces() gate.Limits { return gate.Limits{Connections: 1024, Opening: 64, Spare: 8} }

// Server is the NERVE WebSocket listener.
type Server struct {
	*wsconn.Server
	queries QueryService
	auth    PeerAuth
	config  Config
	hosts   atomic.Pointer[httpguard.HostRule]
	lastID  atomic.Uint64 // of a connection, for the log
}

// New builds a server; Serve starts it.
func New(queries QueryService, auth PeerAuth, config Config) *Server {
	if config.Places == (gate.Limits{}) {
		config.Places = DefaultPlaces()
	}
	if config.Payloads == nil {
		config.Payloads = NewPayloads()
	}
	if config.Limits == (wsconn.Limits{}) {
		config.Limits = wsconn.DefaultLimits()
	}
	s := &Server{queries: queries, auth: auth, config: config}
	s.Server = wsconn.NewServer("listener for extensions", s, config.Places, config.Log)
	return s
}

// Serve accepts connections on ln until Shutdown. It returns nil after one.
func (s *Server) Serve(ln net.Listener) error {
	s.hosts.Store(httpguard.ListenerHosts(ln.Addr()))
	return s.Server.Serve(ln)
}
