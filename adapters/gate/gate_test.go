package wsconn

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// queueListener accepts the connections that a test puts in.
type queueListener chan net.Conn

func (l queueListener) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (queueListener) Close() error   { return nil }
func (queueListener) Addr() net.Addr { return &net.TCPAddr{} }

// stage is a limiter with a listener that accepts what dial sends.
type stage struct {
	limiter  *handshakeLimiter
	queue    queueListener
	accepted chan net.Conn
}

func newStage(max int) *stage {
	g := &stage{limiter: &handshakeLimiter{max: max}, queue: make(queueListener), accepted: make(chan net.Conn, 100)}
	ln := &handshakeListener{Listener: g.queue, limiter: g.limiter}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			g.accepted <- c
		}
	}()
	return g
}

// dial opens a connection. server is nil when it was closed at once.
func (g *stage) dial() (client, server net.Conn) {
	client, ours := net.Pipe()
	g.queue <- ours
	synctest.Wait()
	select {
	case server = <-g.accepted:
	default:
	}
	return client, server
}

// served reports whether the request of c would be served; else it gets 503.
func (g *stage) served(t *testing.T, c net.Conn) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(g.limiter.connContext(t.Context(), c), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return !(&Server{limiter: g.limiter}).Full(r)
}

// isClosed reports whether the other end of c is closed.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func onStage(t *testing.T, max int, f func(t *testing.T, g *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newStage(max)
		f(t, g)
		close(g.queue)
	})
}

func (g *stage) expect(t *testing.T, served, refused int) {
	t.Helper()
	if len(g.limiter.served) != served || g.limiter.refused != refused {
		t.Errorf("%d are served and %d refused, want %d and %d", len(g.limiter.served), g.limiter.refused, served, refused)
	}
}

func TestHandshakes_AreServedThenRefusedThenClosed(t *testing.T) {
	onStage(t, 2, func(t *testing.T, g *stage) {
		for n, want := range []bool{true, true, false, false} {
			if _, c := g.dial(); c == nil || g.served(t, c) != want {
				t.Fatalf("connection %d: want served %v", n, want)
			}
		}
		if client, c := g.dial(); c != nil || !isClosed(client) {
			t.Error("the one beyond was not closed at once")
		}
		g.expect(t, 2, 2)
	})
}

// TestHandshakes_RefusedOnesDoNotCountAsServed: while others are being told 503, a
// place that comes free serves the next.
func TestHandshakes_RefusedOnesDoNotCountAsServed(t *testing.T) {
	onStage(t, 1, func(t *testing.T, g *stage) {
		_, first := g.dial()
		_, refused := g.dial()
		_ = first.Close()
		_, next := g.dial()
		if g.served(t, refused) || !g.served(t, next) {
			t.Error("a refused connection held the place")
		}
		g.expect(t, 1, 1)
	})
}

func TestHandshakes_ANewcomerEvictsASlowOne(t *testing.T) {
	onStage(t, 2, func(t *testing.T, g *stage) {
		oldest, old := g.dial()
		time.Sleep(time.Second)
		younger, _ := g.dial()
		time.Sleep(time.Second) // the oldest is exactly as old as may be
		if _, c := g.dial(); g.served(t, c) || isClosed(oldest) {
			t.Error("a handshake of two seconds lost its place")
		}
		time.Sleep(time.Millisecond)
		if _, c := g.dial(); c == nil || !g.served(t, c) || !isClosed(oldest) {
			t.Error("the newcomer did not get the place of the oldest")
		}
		if _, c := g.dial(); g.served(t, c) || isClosed(younger) {
			t.Error("a young handshake lost its place")
		}
		_ = old.Close() // its place is another's by now
		g.expect(t, 2, 2)
	})
}

func TestHandshakes_LeavingTwiceIsHarmless(t *testing.T) {
	onStage(t, 1, func(t *testing.T, g *stage) {
		client, c := g.dial()
		bare := c.(*handshakeConn).HandshakeDone()
		g.expect(t, 0, 0)
		if c.(*handshakeConn).HandshakeDone() != bare || isClosed(client) {
			t.Error("leaving closed the connection")
		}
		_, second := g.dial()
		_, refused := g.dial()
		_ = c.Close()
		g.expect(t, 1, 1)
		for range 2 {
			_ = refused.Close()
			g.expect(t, 1, 0)
		}
		for range 2 {
			_ = second.Close()
			g.expect(t, 0, 0)
		}
	})
}
