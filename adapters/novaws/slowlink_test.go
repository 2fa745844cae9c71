package novaws

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// slowLink lets 20 KiB a second through, and stands still for half a second to
// five after every 64 KiB.
type slowLink struct {
	net.Conn
	taken  int
	stalls time.Duration
	moves  func() // called after each stall
}

func (l *slowLink) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p[:min(len(p), 2<<10)])
	time.Sleep(time.Duration(n) * time.Second / (20 << 10))
	before := l.taken >> 16
	l.taken += n
	if after := l.taken >> 16; after != before {
		time.Sleep(time.Duration(1+after%10) * time.Second / 2)
		l.stalls++
		l.moves()
	}
	return n, err
}

// connectSlowly is a personal client behind a slow link.
func (h *harness) connectSlowly(moves func(p *phone)) (*phone, *slowLink) {
	h.t.Helper()
	link := &slowLink{Conn: h.open(clientPath).Conn}
	p := h.start(wstest.NewPeer(link))
	link.moves = func() { moves(p) }
	p.say(hello(masterToken, asksPersonal))
	p.welcomed()
	return p, link
}

// farLink takes all that is sent to it at once, as the buffers of a kernel and of a
// proxy do, and lets it through a little faster than the slowest link that counts as
// one.
type farLink struct {
	net.Conn
	taken chan []byte
	rest  []byte
}

func newFarLink(conn net.Conn) *farLink {
	l := &farLink{Conn: conn, taken: make(chan []byte, 1<<12)}
	go func() {
		defer close(l.taken)
		for {
			p := make([]byte, 4<<10)
			n, err := conn.Read(p)
			if n > 0 {
				l.taken <- p[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return l
}

func (l *farLink) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		more, ok := <-l.taken
		if !ok {
			return 0, io.EOF
		}
		l.rest = more
	}
	n := copy(p[:min(len(p), 2<<10)], l.rest)
	l.rest = l.rest[n:]
	time.Sleep(time.Duration(n) * time.Second / (wsconn.SlowestLink + 1<<10))
	return n, nil
}

// TestK5_WhatIsOnItsWayIsNoSilence: a state that the buffers have swallowed takes longer
// to arrive than a client may be silent, and the pings wait behind it.
func TestK5_WhatIsOnItsWayIsNoSilence(t *testing.T) {
	d := newFakeHost()
	revision, _ := d.composes(900 << 10)
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.start(wstest.NewPeer(newFarLink(h.open(clientPath).Conn)))
		defer p.hangUp()
		p.say(hello(masterToken, asksPersonal))
		p.welcomed()
		began := time.Now()
		revision.Store(1)
		d.last().link.Changed(1)
		p.wantState(1)
		within(t, "the state", time.Since(began), 90*time.Second, 2*time.Minute)
		p.command("after", onset("a"))
		if r := p.receiveReceipt(); r.RequestID != "after" || r.Status != nova.Applied {
			t.Errorf("%+v", r)
		}
	})
}

// hangUp closes p and waits until it has noticed.
func (p *phone) hangUp() {
	_ = p.Close()
	for range p.frames {
	}
}

// TestK5_N78_P70_ASnapshotOnASlowLink: 900 KiB that take a minute and more are no
// dead client. Its pings are answered in the middle, it keeps its place, receipts
// overtake what waits, and of all that changes meanwhile it gets the newest state
// alone, composed when there is room for it.
func TestK5_N78_P70_ASnapshotOnASlowLink(t *testing.T) {
	d := newFakeHost()
	revision, composed := d.composes(900 << 10)
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p, link := h.connectSlowly(func(p *phone) { _ = p.SendFrame(wstest.Ping, []byte("are you there")) })
		defer p.hangUp()
		change := func() { d.last().link.Changed(revision.Add(1)) }
		began := time.Now()
		change()
		time.Sleep(2 * time.Second)
		for range 200 {
			change()
			time.Sleep(100 * time.Millisecond)
		}
		for i := range 3 {
			d.last().link.Send(caption(fmt.Sprint(i)))
		}
		p.command("r", onset("a"))
		h.connectAndHello(deviceToken, "").wantEnd(4009)
		if n := composed.Load(); n != 1 || len(p.frames) != 0 {
			t.Errorf("%d states composed and %d frames taken while the first is on its way", n, len(p.frames))
		}
		p.wantState(1)
		within(t, "the first state", time.Since(began), time.Minute, 90*time.Second)
		p.wantReceipt("r", nova.Applied)
		for i := range 3 {
			if c, ok := p.receive().(nova.Caption); !ok || c.FullText != fmt.Sprint(i) {
				t.Errorf("%#v, want caption %d", c, i)
			}
		}
		p.wantState(201)
		if n := composed.Load(); n != 2 || link.stalls < 20 {
			t.Errorf("%d states composed, %d stalls", n, link.stalls)
		}
		p.command("last", onset("b"))
		if r := p.receiveReceipt(); r.RequestID != "last" {
			t.Errorf("%+v", r)
		}
	})
}

// TestK5_AClientThatTakesNothingIsNone: whatever is on its way.
func TestK5_AClientThatTakesNothingIsNone(t *testing.T) {
	d := newFakeHost()
	revision, _ := d.composes(900 << 10)
	log := inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.open(clientPath)
		if err := p.SendText(hello(masterToken, asksPersonal)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := p.ReceiveMessage(); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		revision.Store(1)
		d.last().link.Changed(1)
		if _, err := p.ReadFrame(); err != nil { // its first piece
			t.Fatal(err)
		}
		within(t, "the silence", h.lifetime(), writeLimit, writeLimit+2*time.Second)
	})
	if !strings.Contains(log, "reason=slow_reader") {
		t.Error(log)
	}
}

// TestState_NoneIsComposedBehindAResult: a client on a slow link that asked for
// the state is not sent it twice.
func TestState_NoneIsComposedBehindAResult(t *testing.T) {
	d := newFakeHost()
	revision, composed := d.composes(900 << 10)
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p, _ := h.connectSlowly(func(*phone) {})
		defer p.hangUp()
		link := d.last().link
		for i := range 2 { // 1.8 MiB, of which one is being written
			r := revision.Add(1)
			link.Send(nova.PersonalResult{RequestID: fmt.Sprint(i), Data: stateOf(r, 900<<10).Frame, Revision: r})
			link.Changed(r)
			time.Sleep(10 * time.Second)
		}
		p.wantResult("0")
		link.Changed(revision.Add(1))
		time.Sleep(10 * time.Second)
		if n := composed.Load(); n != 0 {
			t.Errorf("%d states composed", n)
		}
		p.wantResult("1")
		p.wantState(3)
	})
}

// TestP73_ABodyPassesWhereAudioWouldNot: 300 KB that wait, of each.
func TestP73_ABodyPassesWhereAudioWouldNot(t *testing.T) {
	o := openOutbox(true)
	pushAll(t, o, sized(kindPersonalResult, 300_000))
	became := queued
	for n := 0; n < 300_000 && became == queued; n += 60_000 {
		f := sized(kindAudio, 60_000)
		f.epoch = 1
		became = o.push(f)
	}
	if became != overBudget || closeCode(sessions.OutputBudget, true).Code != 4008 {
		t.Errorf("audio of 300 KB is %d, and closes with %d", became, closeCode(sessions.OutputBudget, true).Code)
	}
}
