package nerve_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"plexus/adapters/gate"
	"plexus/adapters/nervews"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
)

// TestG12_HalfOpenSockets: no more than may shake hands at once do, the oldest of
// them give way, and a crowd of them keeps nobody out.
func TestG12_HalfOpenSockets(t *testing.T) {
	f := start(t, setup{})
	const crowd = 3
	places := nervews.DefaultPlaces().Opening
	var held []net.Conn
	for range crowd * places {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		prepare(t, conn)
		held = append(held, conn)
	}
	f.admits(t, "anvesha-v1."+token, offer(token))
	for i, conn := range held[:(crowd-1)*places] {
		if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("half-open socket %d gave %d bytes and %v, want a close", i, n, err)
		}
	}
	f.admits(t, "anvesha-v1."+token, offer(token))
}

// TestG12_EstablishedConnectionsAreNoHandshakes: more connections than may shake
// hands at once live side by side.
func TestG12_EstablishedConnectionsAreNoHandshakes(t *testing.T) {
	s := setup{}
	s.config.Places = gate.Limits{Connections: 1024, Opening: 2}
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
	s.config.Places = gate.Limits{Connections: 2, Spare: 1}
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
