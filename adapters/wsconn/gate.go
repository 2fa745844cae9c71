package wsconn

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Gate counts the connections of a listener that are still in their HTTP
// handshake. Up to max of them are served; as many again are told 503; what
// comes beyond is closed unheard, so that half-open sockets cost next to nothing.
type Gate struct {
	max int

	mu   sync.Mutex
	open int
}

// NewGate allows max handshakes at once.
func NewGate(max int) *Gate { return &Gate{max: max} }

// Listener wraps ln.
func (g *Gate) Listener(ln net.Listener) net.Listener { return &gatedListener{Listener: ln, gate: g} }

// ConnContext is an http.Server.ConnContext that lets Refused find its answer.
func (g *Gate) ConnContext(ctx context.Context, c net.Conn) context.Context {
	if gc, ok := c.(*gatedConn); ok && gc.refused {
		return context.WithValue(ctx, refusedKey{}, true)
	}
	return ctx
}

// Refused reports whether the request came over a connection beyond the limit.
func Refused(r *http.Request) bool {
	refused, _ := r.Context().Value(refusedKey{}).(bool)
	return refused
}

type refusedKey struct{}

type gatedListener struct {
	net.Listener
	gate *Gate
}

func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.gate.mu.Lock()
		open := l.gate.open
		if open < 2*l.gate.max {
			l.gate.open++
		}
		l.gate.mu.Unlock()
		if open >= 2*l.gate.max {
			_ = c.Close() // beyond hope of an answer
			continue
		}
		return &gatedConn{Conn: c, gate: l.gate, refused: open >= l.gate.max}, nil
	}
}

type gatedConn struct {
	net.Conn
	gate    *Gate
	refused bool
	left    sync.Once
}

// Admitted ends the handshake of a hijacked connection and gives the bare
// net.Conn below.
func (c *gatedConn) Admitted() net.Conn {
	c.leave()
	return c.Conn
}

func (c *gatedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}

func (c *gatedConn) leave() {
	c.left.Do(func() {
		c.gate.mu.Lock()
		c.gate.open--
		c.gate.mu.Unlock()
	})
}
