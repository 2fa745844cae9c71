package wsconn

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// slowHandshake is how old a handshake must be before a newcomer may evict it. An
// honest one takes milliseconds.
const slowHandshake = 2 * time.Second

// handshakeLimiter bounds the connections of a listener that are still in their
// HTTP handshake. Up to max of them are served. Beyond that a newcomer evicts the
// oldest, if that has taken longer than slowHandshake; else it is answered 503, as
// long as no more than max are being answered so; all others are closed at once.
// So half-open sockets cost next to nothing and cannot keep others out for long.
type handshakeLimiter struct {
	max int

	mu      sync.Mutex
	served  []*handshakeConn // oldest first
	refused int
}

// connContext is an http.Server.ConnContext that marks the refused.
func (h *handshakeLimiter) connContext(ctx context.Context, c net.Conn) context.Context {
	if gc, ok := c.(*handshakeConn); ok && gc.refused {
		return context.WithValue(ctx, refusedKey{}, true)
	}
	return ctx
}

type refusedKey struct{}

// admit lets c in, or says no. evicted, if any, is the caller's to close.
func (h *handshakeLimiter) admit(c *handshakeConn, now time.Time) (ok bool, evicted *handshakeConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case len(h.served) < h.max:
	case now.Sub(h.served[0].since) > slowHandshake:
		evicted = h.served[0]
		h.served = slices.Delete(h.served, 0, 1)
	case h.refused < h.max:
		h.refused++
		c.refused = true
		return true, nil
	default:
		return false, nil
	}
	h.served = append(h.served, c)
	return true, evicted
}

type handshakeListener struct {
	net.Listener
	limiter *handshakeLimiter
}

func (l *handshakeListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		now := time.Now()
		c := &handshakeConn{Conn: conn, limiter: l.limiter, since: now}
		ok, evicted := l.limiter.admit(c, now)
		if evicted != nil {
			_ = evicted.Close()
		}
		if ok {
			return c, nil
		}
		_ = conn.Close()
	}
}

type handshakeConn struct {
	net.Conn
	limiter *handshakeLimiter
	since   time.Time
	refused bool // set before anybody else sees the connection
	left    sync.Once
}

// HandshakeDone ends the handshake of a hijacked connection and gives the bare
// net.Conn below.
func (c *handshakeConn) HandshakeDone() net.Conn {
	c.leave()
	return c.Conn
}

func (c *handshakeConn) Close() error {
	c.leave()
	return c.Conn.Close()
}

func (c *handshakeConn) leave() {
	c.left.Do(func() {
		h := c.limiter
		h.mu.Lock()
		defer h.mu.Unlock()
		if c.refused {
			h.refused--
		} else if i := slices.Index(h.served, c); i >= 0 { // not there when it was evicted
			h.served = slices.Delete(h.served, i, i+1)
		}
	})
}
