package wsconn

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// patience is how old a handshake must be before a newcomer may take its place
// when every place is taken. An honest one takes milliseconds.
const patience = 2 * time.Second

// Gate counts the connections of a listener that are still in their HTTP
// handshake. Up to max of them are served. When all places are taken, a newcomer
// gets the place of the oldest, if that has dawdled for longer than patience;
// else it is told 503, as long as no more than max are being told that; what
// comes beyond is closed unheard. So half-open sockets cost next to nothing and
// cannot keep others out for long.
type Gate struct {
	max int

	mu      sync.Mutex
	served  []*gatedConn // oldest first
	refused int
}

// NewGate allows max handshakes at once.
func NewGate(max int) *Gate { return &Gate{max: max} }

// Listener wraps ln.
func (g *Gate) Listener(ln net.Listener) net.Listener { return &gatedListener{Listener: ln, gate: g} }

// connContext is an http.Server.ConnContext that marks the refused.
func (g *Gate) connContext(ctx context.Context, c net.Conn) context.Context {
	if gc, ok := c.(*gatedConn); ok && gc.refused {
		return context.WithValue(ctx, refusedKey{}, true)
	}
	return ctx
}

type refusedKey struct{}

// admit finds a place for c. evicted, if any, is the caller's to close.
func (g *Gate) admit(c *gatedConn, now time.Time) (ok bool, evicted *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.served) < g.max:
	case now.Sub(g.served[0].since) > patience:
		evicted = g.served[0]
		g.served = slices.Delete(g.served, 0, 1)
	case g.refused < g.max:
		g.refused++
		c.refused = true
		return true, nil
	default:
		return false, nil
	}
	g.served = append(g.served, c)
	return true, evicted
}

func (g *Gate) leave(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.refused {
		g.refused--
		return
	}
	if i := slices.Index(g.served, c); i >= 0 { // not there when it was evicted
		g.served = slices.Delete(g.served, i, i+1)
	}
}

type gatedListener struct {
	net.Listener
	gate *Gate
}

func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		now := time.Now()
		c := &gatedConn{Conn: conn, gate: l.gate, since: now}
		ok, evicted := l.gate.admit(c, now)
		if evicted != nil {
			_ = evicted.Close() // it had its time
		}
		if ok {
			return c, nil
		}
		_ = conn.Close() // beyond hope of an answer
	}
}

type gatedConn struct {
	net.Conn
	gate    *Gate
	since   time.Time
	refused bool // set before anybody else sees the connection
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

func (c *gatedConn) leave() { c.left.Do(func() { c.gate.leave(c) }) }
