package nerve_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"plexus/adapters/nervews"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
)

// TestG12_HalfOpenSockets: as many as may shake hands at once do; the next are
// told 503, those beyond are closed unheard, and none of it lasts.
func TestG12_HalfOpenSockets(t *testing.T) {
	f := start(t, setup{})
	var held []net.Conn
	hold := func(n int) {
		for range n {
			conn, err := net.Dial("tcp", f.addr)
			if err != nil {
				t.Fatal(err)
			}
			prepare(t, conn)
			held = append(held, conn)
		}
	}
	hold(nervews.DefaultHandshakes - 1)
	f.admits(t, "anvesha-v1."+token, offer(token)) // the last place, given back at 101
	hold(1)
	for range 3 {
		if _, response := f.upgrade(t, offer(token)); response.StatusCode != 503 {
			t.Errorf("answered %d, want 503", response.StatusCode)
		}
	}
	// Refused ones give their place back a moment after their answer.
	waitFor(t, "one that is closed unheard", func() bool {
		hold(1)
		if len(held) <= 2*nervews.DefaultHandshakes {
			return false
		}
		last := held[len(held)-1]
		if err := last.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := last.Read(make([]byte, 1))
		return n == 0 && errors.Is(err, io.EOF)
	})
	if len(held) > 2*nervews.DefaultHandshakes+4 {
		t.Errorf("only half-open socket %d was closed unheard", len(held))
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	waitFor(t, "an upgrade", func() bool {
		peer, response, err := wstest.Dial(f.addr, offer(token))
		if err == nil && response.StatusCode == 101 {
			_ = peer.Close()
			return true
		}
		return false
	})
}

// TestG12_EstablishedConnectionsAreNoHandshakes: more connections than may shake
// hands at once live side by side.
func TestG12_EstablishedConnectionsAreNoHandshakes(t *testing.T) {
	s := setup{}
	s.config.MaxHandshakes = 2
	f := start(t, s)
	var all []wire
	for range 20 {
		all = append(all, f.dialWebSocket(t))
	}
	for n, w := range all {
		send(t, w, ping(uint64(n)))
		expectEcho(t, w, uint64(n))
	}
}

// TestG12_ACrowdedListenerStillRefusesFirst: a wrong peer learns nothing of how
// many are here, and a place is free again as soon as its holder is gone.
func TestG12_ACrowdedListenerStillRefusesFirst(t *testing.T) {
	s := setup{}
	s.config.MaxConnections = 2
	f := start(t, s)
	held := []*wstest.Peer{f.dialWebSocket(t), f.dialWebSocket(t)}
	f.refuses(t, offer(wrongToken()))
	for range 5 {
		if _, response := f.upgrade(t, offer(token)); response.StatusCode != 503 {
			t.Errorf("answered %d, want 503", response.StatusCode)
		}
	}
	f.refusedFor(t, admission.TooMany)
	f.refuses(t, offer(wrongToken()))
	send(t, held[1], ping(1))
	expectEcho(t, held[1], 1)
	_ = held[0].Close()
	waitFor(t, "a place", func() bool { return f.websocket.Connections() == 1 })
	f.admits(t, "anvesha-v1."+token, offer(token))
}
