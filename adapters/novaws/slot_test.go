package novaws

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/pairing"
	"plexus/domain/sessions"
)

// silentClient says hello and is let in, takes everything, and never answers a ping.
func (h *harness) silentClient() *wstest.Peer {
	h.t.Helper()
	p := h.open(clientPath)
	go func() { _, _ = io.Copy(io.Discard, p.Conn) }()
	if err := p.SendText(hello(masterToken, "")); err != nil {
		h.t.Fatal(err)
	}
	synctest.Wait()
	return p
}

// TestN5_K3_ALiveClientKeepsTheSlot: it is asked by a ping and notices nothing.
func TestN5_K3_ALiveClientKeepsTheSlot(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		first := h.connect("")
		for _, members := range []string{"", `,"capabilities":["personal"]`} {
			h.connectAndHello(deviceToken, members).wantEnd(4009)
		}
		if len(first.frames) != 0 {
			t.Errorf("the first client was sent %d frames", len(first.frames))
		}
		first.alive()
	})
	if attached, _ := d.admissions(); attached != 1 {
		t.Errorf("%d admissions", attached)
	}
}

// The owner is told who did not get in.
func TestK18_ASecondPhoneIsInTheListOfRefusals(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(_ *testing.T, h *harness) {
		h.connect("")
		h.connectAndHello(deviceToken, "").wantEnd(4009)
		h.connectAndHello(masterToken, "").wantEnd(4009)
		h.connectAndHello(wrongToken, "").wantEnd(4003)
	})
	if fmt.Sprint(d.refused, d.peers) != "[phone_busy phone_busy] [phone ]" {
		t.Errorf("refused are %q, %q", d.refused, d.peers)
	}
}

// While the place is kept for a phone that the owner has let in, the others get 4009
// although nobody is connected. The one that was ended for it gets 4009 too.
func TestK18_ThePlaceIsKeptForWhoIsLetIn(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(_ *testing.T, h *harness) {
		first := h.connect("")
		h.connectAndHello(deviceToken, "").wantEnd(4009)
		d.keep(true)
		d.mu.Lock()
		for link := range d.links {
			link.Close(sessions.ConcurrentClient)
		}
		d.mu.Unlock()
		first.wantEnd(4009)
		h.connectAndHello(masterToken, "").wantEnd(4009)
		second := h.connectAndHello(deviceToken, "")
		second.welcomed()
		second.alive()
		d.keep(false)
		h.connectAndHello(masterToken, "").wantEnd(4009)
	})
	if fmt.Sprint(d.refused) != "[phone_busy phone_busy phone_busy]" {
		t.Errorf("refused are %v", d.refused)
	}
}

// So does one that has waited, meanwhile, for the other to show a sign of life.
func TestK18_ThePlaceIsKeptFromWhoWaitsForIt(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		h.silentClient()
		waiting := h.connectAndHello(masterToken, "")
		time.Sleep(probeLimit / 2)
		d.keep(true)
		waiting.wantEnd(4009)
		h.connectAndHello(deviceToken, "").welcomed()
	})
}

// keep keeps the place from clients with the master token.
func (d *fakeHost) keep(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keepsOut[pairing.DeviceID{}] = on
}

// TestK3_AnyByteIsASignOfLife: a client that answers no ping and sends something.
func TestK3_AnyByteIsASignOfLife(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		first := h.silentClient()
		newcomer := h.connectAndHello(masterToken, "")
		time.Sleep(time.Second)
		if err := first.Send([]byte{0, 0}); err != nil {
			t.Fatal(err)
		}
		newcomer.wantEnd(4009)
		synctest.Wait()
		if h.s.Connections() != 1 {
			t.Error("the first client is gone")
		}
	})
}

// TestK3_ASilentClientGivesWay: after two seconds without a sign of life; it is cut, so
// that it comes back by itself if it was none.
func TestK3_ASilentClientGivesWay(t *testing.T) {
	d := newFakeHost()
	log := inFakeTime(t, d, func(t *testing.T, h *harness) {
		h.silentClient()
		began := time.Now()
		newcomer := h.connectAndHello(masterToken, "")
		newcomer.welcomed()
		within(t, "the probe", time.Since(began), 2*time.Second, 2*time.Second)
		newcomer.alive()
	})
	if !strings.Contains(log, "reason=ghost_retired code=0") {
		t.Errorf("%s", log)
	}
	if attached, detached := d.admissions(); attached != 2 || detached != 2 {
		t.Errorf("%d admissions, %d disconnects", attached, detached)
	}
}

// TestK3_OneProbeAtATime: who comes during one is told at once.
func TestK3_OneProbeAtATime(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		h.silentClient()
		newcomer := h.connectAndHello(masterToken, "")
		time.Sleep(time.Second)
		began := time.Now()
		h.connectAndHello(masterToken, "").wantEnd(4009)
		within(t, "the third comer", time.Since(began), 0, 0)
		newcomer.welcomed()
	})
}

// TestK3_ANewcomerThatLeavesEvictsNobody: neither while it waits for the probe,
// nor in the moment before it asks.
func TestK3_ANewcomerThatLeavesEvictsNobody(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		first := h.silentClient()
		newcomer := h.connectAndHello(masterToken, "")
		time.Sleep(time.Second)
		_ = newcomer.Close()
		time.Sleep(5 * time.Second)
		if err := first.Send([]byte{0, 0}); err != nil || h.s.Connections() != 1 {
			t.Errorf("the first client was evicted for one that left: %v", err)
		}
		gone := &session{server: h.s, id: 999}
		var cancel context.CancelFunc
		gone.ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if h.s.acquireSlot(gone) {
			t.Error("a connection that has left got the slot")
		}
		synctest.Wait()
		if h.s.Connections() != 1 {
			t.Error("the first client was evicted for one that had left")
		}
	})
}

// TestK3_EightHellosMayBePending: the ninth drives out the oldest, by a cut: a code of
// 4003 would make an honest phone forget its token. A client that is in is not
// concerned.
func TestK3_EightHellosMayBePending(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		client := h.connect("")
		var silent []*phone
		for range 8 {
			silent = append(silent, h.start(h.open(clientPath)))
			synctest.Wait()
		}
		ninth := h.start(h.open(clientPath))
		silent[0].wantEnd(0)
		ninth.say(hello(masterToken, ""))
		ninth.wantEnd(4009)
		client.alive()
		for _, p := range silent[1:] {
			p.wantEnd(4003) // its own three seconds
		}
	})
}

func TestK3_OnePeerOfAProxyWaitsTwice(t *testing.T) {
	for _, header := range []string{"Tailscale-User-Login", "X-Forwarded-For"} {
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
			other := h.start(h.open(clientPath, header, "b@example.org"))
			var same []*phone
			for range 3 {
				same = append(same, h.start(h.open(clientPath, header, "a@example.org")))
				synctest.Wait()
			}
			same[0].wantEnd(0)
			if h.s.Connections() != 3 {
				t.Errorf("%s: %d sockets are left", header, h.s.Connections())
			}
			for _, p := range []*phone{other, same[1], same[2]} {
				p.wantEnd(4003)
			}
		})
	}
}

// TestN36_ALateFailureOfTheOldTouchesNotTheNew: the old client's writer is stuck
// while the new one is served, and fails long after.
func TestN36_ALateFailureOfTheOldTouchesNotTheNew(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		old := h.open(clientPath)
		if err := old.SendText(hello(masterToken, "")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // its ready is being written, and it takes nothing
		replacement := h.connectAndHello(masterToken, "")
		replacement.welcomed()
		for i := range 3 {
			time.Sleep(20 * time.Second)
			id := fmt.Sprint(i)
			replacement.command(id, onset(id))
			if m := replacement.receiveReceipt(); m.RequestID != id {
				t.Fatalf("%+v", m)
			}
		}
		if h.s.Connections() != 1 {
			t.Errorf("%d connections", h.s.Connections())
		}
	})
	if attached, detached := d.admissions(); attached != 2 || detached != 2 {
		t.Errorf("%d admissions, %d disconnects", attached, detached)
	}
}

// TestKeepAlive_PingsEvery20SecondsAndClosesASilentClient: after a minute of silence,
// give or take a look, and by a cut.
func TestKeepAlive_PingsEvery20SecondsAndClosesASilentClient(t *testing.T) {
	log := inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		h.silentClient()
		within(t, "the ghost", h.lifetime(), 60*time.Second, 81*time.Second)
	})
	if !strings.Contains(log, "reason=ghost_retired") {
		t.Errorf("%s", log)
	}
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.open(clientPath)
		if err := p.SendText(hello(masterToken, "")); err != nil {
			t.Fatal(err)
		}
		pings, began := 0, time.Now()
		for time.Since(began) < time.Hour {
			f, err := p.ReadFrame()
			if err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			if f.Opcode == wstest.Ping {
				pings++
				if err := p.SendFrame(wstest.Pong, f.Payload); err != nil {
					t.Fatal(err)
				}
			}
		}
		if pings < 175 || pings > 181 {
			t.Errorf("%d pings in an hour, want one every 20 s", pings)
		}
	})
}
