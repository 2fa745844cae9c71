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

// gateway is a gate with a listener that accepts what knock sends.
type gateway struct {
	gate     *Gate
	queue    queueListener
	accepted chan net.Conn
}

func newGateway(max int) *gateway {
	g := &gateway{gate: NewGate(max), queue: make(queueListener), accepted: make(chan net.Conn, 100)}
	ln := g.gate.Listener(g.queue)
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

// knock opens a connection. server is nil when it was closed unheard.
func (g *gateway) knock() (client, server net.Conn) {
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
func (g *gateway) served(t *testing.T, c net.Conn) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(g.gate.connContext(t.Context(), c), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return !(&Server{gate: g.gate}).Full(r)
}

// isClosed reports whether the other end of c is closed.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func inGateway(t *testing.T, max int, f func(t *testing.T, g *gateway)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(max)
		f(t, g)
		close(g.queue)
	})
}

func (g *gateway) expect(t *testing.T, served, refused int) {
	t.Helper()
	if len(g.gate.served) != served || g.gate.refused != refused {
		t.Errorf("%d are served and %d refused, want %d and %d", len(g.gate.served), g.gate.refused, served, refused)
	}
}

func TestGate_ServesThenRefusesThenClosesUnheard(t *testing.T) {
	inGateway(t, 2, func(t *testing.T, g *gateway) {
		for n, want := range []bool{true, true, false, false} {
			if _, c := g.knock(); c == nil || g.served(t, c) != want {
				t.Fatalf("connection %d: want served %v", n, want)
			}
		}
		if client, c := g.knock(); c != nil || !isClosed(client) {
			t.Error("the one beyond was not closed unheard")
		}
		g.expect(t, 2, 2)
	})
}

// TestGate_RefusedOnesDoNotCountAsServed: while others are being told 503, a
// place that comes free serves the next.
func TestGate_RefusedOnesDoNotCountAsServed(t *testing.T) {
	inGateway(t, 1, func(t *testing.T, g *gateway) {
		_, first := g.knock()
		_, refused := g.knock()
		_ = first.Close()
		_, next := g.knock()
		if g.served(t, refused) || !g.served(t, next) {
			t.Error("a refused connection held the place")
		}
		g.expect(t, 1, 1)
	})
}

func TestGate_ANewcomerTakesThePlaceOfADawdler(t *testing.T) {
	inGateway(t, 2, func(t *testing.T, g *gateway) {
		oldest, old := g.knock()
		time.Sleep(time.Second)
		younger, _ := g.knock()
		time.Sleep(time.Second) // the oldest is exactly as old as may be
		if _, c := g.knock(); g.served(t, c) || isClosed(oldest) {
			t.Error("a handshake of two seconds lost its place")
		}
		time.Sleep(time.Millisecond)
		if _, c := g.knock(); c == nil || !g.served(t, c) || !isClosed(oldest) {
			t.Error("the newcomer did not get the place of the oldest")
		}
		if _, c := g.knock(); g.served(t, c) || isClosed(younger) {
			t.Error("a young handshake lost its place")
		}
		_ = old.Close() // its place is another's by now
		g.expect(t, 2, 2)
	})
}

func TestGate_LeavingTwiceIsHarmless(t *testing.T) {
	inGateway(t, 1, func(t *testing.T, g *gateway) {
		client, c := g.knock()
		bare := c.(*gatedConn).Admitted()
		g.expect(t, 0, 0)
		if c.(*gatedConn).Admitted() != bare || isClosed(client) {
			t.Error("leaving closed the connection")
		}
		_, second := g.knock()
		_, refused := g.knock()
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
