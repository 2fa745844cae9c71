package novaws

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// admitOnly is a client that reads exactly what it is told to.
func (h *harness) admitOnly() *wstest.Peer {
	h.t.Helper()
	p := h.open(clientPath)
	if err := p.SendText(hello(masterToken, "")); err != nil {
		h.t.Fatal(err)
	}
	for range 2 { // ready and the capabilities
		if _, err := p.ReceiveMessage(); err != nil {
			h.t.Fatal(err)
		}
	}
	synctest.Wait()
	return p
}

func caption(text string) nova.Caption {
	return nova.Caption{Role: nova.User, Text: "x", Final: true, FullText: text}
}

// flood queues required captions until the connection is not to go on, and
// closes it as a speaker would.
func flood(t *testing.T, c *session) (queued int) {
	t.Helper()
	for ; queued < 1000; queued++ {
		if reason := c.out.send(caption(strings.Repeat("x", 3_900))); reason != 0 {
			if closeCode(reason, false).Code != 4008 {
				t.Errorf("too much output ends with %v", reason)
			}
			c.Close(reason)
			return queued
		}
	}
	t.Fatal("there is no bound")
	return 0
}

// TestN37_ASlowPhoneIsTold4008OrCut: it is told if it begins to read again within
// half a second, else it is cut; the host goes on, and so does its successor.
func TestN37_ASlowPhoneIsTold4008OrCut(t *testing.T) {
	for _, reads := range []bool{true, false} {
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
			p := h.admitOnly()
			began := time.Now()
			if n := flood(t, h.only()); n < 32 || n > 129 {
				t.Errorf("%d captions of 4 KB were queued", n)
			}
			if reads {
				time.Sleep(300 * time.Millisecond)
				c := h.start(p)
				c.endsWith(4008)
			} else {
				h.lifetime()
				if _, err := p.ReadFrame(); endCode(err) != 0 {
					t.Errorf("%v", err)
				}
			}
			within(t, "the end", time.Since(began), 0, 1100*time.Millisecond)
			h.connect("").alive()
		})
	}
}

// TestN37_UnreadReceiptsAreBounded: a client that commands and does not read.
func TestN37_UnreadReceiptsAreBounded(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.admitOnly()
		stale := `{"type":"client.command","request_id":"r","connection_id":"c","payload":{}}`
		sent := 0
		for ; sent < 1000; sent++ {
			if p.SendText(stale) != nil {
				break
			}
			synctest.Wait()
		}
		if sent < 128 || sent > 2*(inboxMessages+1) { // as many again wait until the goodbye is over
			t.Errorf("%d commands were taken in", sent)
		}
		within(t, "the end", h.lifetime(), 0, 1100*time.Millisecond)
	})
}

// TestN38_N35_WhatCannotBeSaidIsNotSent: and disturbs nobody.
func TestN38_N35_WhatCannotBeSaidIsNotSent(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p, out := h.connect(""), h.only().out
		for _, m := range []nova.Message{
			nova.ExecutorTasks{Revision: 1, Tasks: make([]nova.Task, nova.MaxTasks+1)},
			nova.TextResult{RequestID: strings.Repeat("x", 17_000)},
			nova.ClockPing{},
		} {
			if reason := out.send(m); reason != 0 {
				t.Errorf("%s: %v", m.Type(), reason)
			}
		}
		if reason := out.send(nova.PairError{}); reason != sessions.Internal {
			t.Errorf("a message of another path: %v", reason)
		}
		p.alive()
	})
}

// TestN39_AFailedWriteEndsTheConnectionAlone: the next one is told the state again.
func TestN39_AFailedWriteEndsTheConnectionAlone(t *testing.T) {
	log := inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		h.admitOnly() // reads nothing more
		if reason := h.only().out.send(caption("x")); reason != 0 {
			t.Fatal(reason)
		}
		within(t, "the slow reader", h.lifetime(), writeLimit, writeLimit+2*time.Second)
		h.connect("").alive()
	})
	if !strings.Contains(log, "reason=slow_reader code=0") {
		t.Errorf("%s", log)
	}
}

// TestSlowLink_IsNoDeadClient: a write that makes progress is not cut, however
// long it takes.
func TestSlowLink_IsNoDeadClient(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.admitOnly()
		for range 14 {
			if reason := h.only().out.send(caption(strings.Repeat("x", 3_900))); reason != 0 {
				t.Fatal(reason)
			}
		}
		for range 14 { // 4 KB every 9 s: neither a pong nor a byte for two minutes
			time.Sleep(9 * time.Second)
			if f, err := p.ReadFrame(); err != nil || f.Opcode != wstest.Text && f.Opcode != wstest.Ping {
				t.Fatalf("a slow client was cut: %v", err)
			}
		}
	})
}

// TestN65_N66_N67_TheClosingLineTellsWhatWasMeasured: and the host is asked
// nothing of it.
func TestN65_N66_N67_TheClosingLineTellsWhatWasMeasured(t *testing.T) {
	d := newFakeHost()
	log := inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect("")
		began := time.Now()
		ping, ok := p.receive().(nova.ClockPing)
		if !ok {
			t.Fatalf("no ping: %v", p.end)
		}
		within(t, "the first ping", time.Since(began), time.Minute, time.Minute)
		time.Sleep(30 * time.Millisecond)
		for i, payload := range []string{
			fmt.Sprintf(`{"type":"clock.pong","ping_id":%q,"t_render_ms":7}`, ping.PingID),
			fmt.Sprintf(`{"type":"clock.pong","ping_id":%q,"t_render_ms":8}`, ping.PingID),
			`{"type":"clock.pong","ping_id":"never sent","t_render_ms":8}`,
			`{"type":"playback.telemetry","utterance_id":"` + privateText + `"}`,
			`{"type":"connection.diagnostic","phase":"closed","close_code":1006,"reason":"abnormal"}`,
		} {
			p.command(fmt.Sprint(i), payload)
			p.wantReceipt(fmt.Sprint(i), nova.Applied)
		}
	})
	for _, want := range []string{"observed.round_trips=1", "observed.round_trip=30ms", "observed.telemetry_rejected=1", "observed.closed=1"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
	if n := len(d.delivered()); n != 0 {
		t.Errorf("%d of them were delivered", n)
	}
}

// TestN65_AnUnreadPingIsNoReasonToEnd: pings are droppable, and one a minute.
func TestN65_AnUnreadPingIsNoReasonToEnd(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.connect("")
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if n := len(p.frames); n != 10 {
			t.Errorf("%d frames in ten minutes", n)
		}
	})
}

// TestShutdown_SaysGoodbyeAndTakesNobody: 1001 to every client and pairing
// socket, 503 to newcomers.
func TestShutdown_SaysGoodbyeAndTakesNobody(t *testing.T) {
	d := newFakeHost()
	d.redeem = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		ends := []*phone{h.connect(""), h.start(h.open(clientPath)), h.start(h.open(pairPath)), h.start(h.open(pairPath))}
		ends[3].say(redeemText(pairCode, "phone")) // under way
		synctest.Wait()
		began := time.Now()
		h.shutdown()
		for _, p := range ends {
			p.wantEnd(1001)
		}
		within(t, "the shutdown", time.Since(began), 0, closeLimit)
		if p, response := wstest.Pipe(h.s, wstest.UpgradeRequest(ownName, clientPath)); p != nil || response.StatusCode != 503 {
			t.Errorf("a newcomer got %d", response.StatusCode)
		}
	})
}

// TestShutdown_IsBoundedForAPeerThatDoesNotRead: whatever is being written.
func TestShutdown_IsBoundedForAPeerThatDoesNotRead(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		h.admitOnly()
		for range 20 {
			if reason := h.only().out.send(caption(strings.Repeat("x", 3_900))); reason != 0 {
				t.Fatal(reason)
			}
		}
		h.open(clientPath)
		h.open(pairPath)
		synctest.Wait()
		began := time.Now()
		h.shutdown()
		within(t, "the shutdown", time.Since(began), 0, 2*closeLimit+100*time.Millisecond)
	})
}

// TestFlood_OfPingsThatAreNotRead: the library's pongs are bounded too.
func TestFlood_OfPingsThatAreNotRead(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.admitOnly()
		began := time.Now()
		for p.SendFrame(wstest.Ping, []byte("x")) == nil {
		}
		within(t, "the flood", time.Since(began), 0, 13*time.Second)
	}, limits(wsconn.DefaultLimits().Frame, wsconn.DefaultLimits().Write))
}

// TestClient_PingsAreAnswered: some phones ping.
func TestClient_PingsAreAnswered(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.admitOnly()
		if err := p.SendFrame(wstest.Ping, []byte("hi")); err != nil {
			t.Fatal(err)
		}
		if f, err := p.ReadFrame(); err != nil || f.Opcode != wstest.Pong || string(f.Payload) != "hi" {
			t.Errorf("%+v, %v", f, err)
		}
		go func() { _, _ = io.Copy(io.Discard, p.Conn) }()
	})
}
