package novaws

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/usecases/personal/hub"
)

const asksPersonal = `,"capabilities":["personal"]`

// stateOf is a snapshot of that revision, of at least size bytes.
func stateOf(revision uint64, size int) nova.PersonalState {
	frame := fmt.Appendf(nil, `{"type":"personal.state","revision":%d,"x":%q}`, revision, strings.Repeat("x", size))
	return nova.PersonalState{Revision: revision, Frame: frame}
}

func resultOf(id string, revision uint64) nova.PersonalResult {
	return nova.PersonalResult{RequestID: id, Data: json.RawMessage(`{"type":"personal.state"}`), Revision: revision}
}

// composes makes the host give snapshots of the revision that it has, and counts
// them.
func (d *fakeHost) composes(size int) (revision *atomic.Uint64, composed *atomic.Int64) {
	revision, composed = new(atomic.Uint64), new(atomic.Int64)
	d.snapshot = func(context.Context) (nova.PersonalState, error) {
		composed.Add(1)
		return stateOf(revision.Load(), size), nil
	}
	return revision, composed
}

func personalCommand(method string) string {
	return fmt.Sprintf(`{"type":"personal.command","request_id":"i","method":%q}`, method)
}

// wantState passes over clock pings.
func (p *phone) wantState(revision uint64) {
	p.t.Helper()
	m := p.receive()
	for _, ping := m.(nova.ClockPing); ping; _, ping = m.(nova.ClockPing) {
		m = p.receive()
	}
	if s, ok := m.(nova.PersonalState); !ok || s.Revision != revision || s.Frame == nil {
		p.t.Fatalf("%#v (end %v), want the state of revision %d", m, p.end, revision)
	}
}

func (p *phone) wantResult(id string) {
	p.t.Helper()
	if m, ok := p.receive().(nova.PersonalResult); !ok || m.RequestID != id {
		p.t.Fatalf("%#v (end %v), want the result of %s", m, p.end, id)
	}
}

// wantNothing checks that the client is sent nothing for a while.
func (p *phone) wantNothing(d time.Duration) {
	p.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	if n := len(p.frames); n > 0 {
		p.t.Fatalf("%d frames, the first is %s", n, (<-p.frames).Payload)
	}
}

// TestP68_PersonalFramesGoToPersonalClients: to nobody else, in silence; the limit
// of other messages stays.
func TestP68_PersonalFramesGoToPersonalClients(t *testing.T) {
	log := inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		for members, granted := range map[string]bool{"": false, asksPersonal: true, `,"capabilities":["other"]`: false} {
			p := h.connectAndHello(masterToken, members)
			if r, _ := p.receive().(nova.Ready); r.Personal != granted {
				t.Errorf("%s: %+v", members, r)
			}
			p.receive()
			synctest.Wait()
			client := h.host.last()
			if client.terms.Personal != granted {
				t.Errorf("%s: the terms are %+v", members, client.terms)
			}
			client.link.Send(nova.ConversationError{ConversationID: "c", Error: "response_failed"})
			client.link.Send(nova.TextResult{RequestID: "t", ConversationID: strings.Repeat("c", nova.MaxText)})
			client.link.Send(nova.PersonalResult{RequestID: "r", Data: json.RawMessage(`"` + strings.Repeat("x", 300_000) + `"`)})
			client.link.Send(stateOf(1, 10))
			client.link.Send(nova.TextResult{RequestID: "t"})
			kinds := []string{"conversation.error", "personal.result", "personal.state", "input.text_result"}
			if !granted {
				kinds = kinds[3:]
			}
			for _, kind := range kinds {
				if m := p.receive(); m == nil || m.Type() != kind {
					t.Fatalf("%s: %#v, want %s", members, m, kind)
				}
			}
			_ = p.Close()
			synctest.Wait()
		}
	})
	if n := strings.Count(log, "level=ERROR"); n != 3 { // the text too long, on each
		t.Errorf("%d errors:\n%s", n, log)
	}
}

// TestN10_TheLanguageReachesTheHost: with each connection anew.
func TestN10_TheLanguageReachesTheHost(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		for _, c := range []struct {
			members string
			want    hub.Terms
		}{
			{`,"language":"en"`, hub.Terms{Language: nova.English}},
			{"", hub.Terms{}},
			{`,"language":"zh-CN"` + asksPersonal, hub.Terms{Personal: true, Language: nova.Chinese}},
		} {
			p := h.connect(c.members)
			if got := h.host.last().terms; got != c.want {
				t.Errorf("%s: %+v", c.members, got)
			}
			_ = p.Close()
			synctest.Wait()
		}
	})
}

// TestK10_TheOfferIsThatOfTheHello: a recogniser that is found later is offered
// then.
func TestK10_TheOfferIsThatOfTheHello(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		for _, in := range []nova.Input{nova.NoInput, nova.TextAndDictation, nova.TextInput} {
			h.host.input = in
			p := h.connectAndHello(masterToken, "")
			if r, _ := p.receive().(nova.Ready); r.Pipeline != in.Pipeline() {
				t.Errorf("input %d: %+v", in, r)
			}
			want, announced := nova.NewDesktopCapabilities(in, inputID)
			synctest.Wait()
			if (len(p.frames) == 1) != announced || announced && p.receive() != want {
				t.Errorf("input %d: not announced as %+v", in, want)
			}
			_ = p.Close()
			synctest.Wait()
		}
	})
}

// TestN18_WithoutAPersonalHost: nothing is granted or announced, and nobody takes
// a control; audio falls on the floor.
func TestN18_WithoutAPersonalHost(t *testing.T) {
	d := newFakeHost()
	d.alone = true
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connectAndHello(masterToken, asksPersonal)
		ready, _ := p.receive().(nova.Ready)
		if p.id = ready.ConnectionID; ready.Personal || ready.TextInput {
			t.Errorf("%+v", ready)
		}
		synctest.Wait()
		for range 2 {
			p.command("r", onset("a"))
			p.wantReceipt("r", nova.Rejected)
		}
		_ = p.Send([]byte{0, 0})
		p.alive()
		_ = p.Send([]byte{0})
		p.wantEnd(1002) // it offered
	})
}

// TestN78_P70_StatesOfOneWindowAreOneFrame: the newest, 250 ms after the first
// change, and none to a client that has left.
func TestN78_P70_StatesOfOneWindowAreOneFrame(t *testing.T) {
	d := newFakeHost()
	revision, composed := d.composes(10)
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect(asksPersonal)
		p.wantNothing(time.Second)
		link, began := d.last().link, time.Now()
		for r := range uint64(5) {
			revision.Store(r)
			link.Changed(r)
			time.Sleep(60 * time.Millisecond)
		}
		p.wantState(4)
		within(t, "the window", time.Since(began), 300*time.Millisecond, 300*time.Millisecond) // asked for at 250
		if n := composed.Load(); n != 1 {
			t.Errorf("composed %d times", n)
		}
		p.wantNothing(time.Second)
		link.Changed(5)
		time.Sleep(100 * time.Millisecond)
		_ = p.Close()
		time.Sleep(time.Second)
		if n := composed.Load(); n != 1 {
			t.Errorf("composed %d times, once for nobody", n)
		}
		link.Changed(6)
		link.Send(resultOf("late", 6)) // to nobody
	})
}

// TestN78_P71_AResultCancelsTheStateItHas: before it is composed, while it is, and
// where its change is announced late.
func TestN78_P71_AResultCancelsTheStateItHas(t *testing.T) {
	d := newFakeHost()
	revision, composed := d.composes(10)
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect(asksPersonal)
		link := d.last().link
		link.Changed(3)
		link.Send(resultOf("equal", 3))
		p.wantResult("equal")
		p.wantNothing(300 * time.Millisecond)
		link.Send(resultOf("first", 5))
		link.Changed(5)
		p.wantResult("first")
		p.wantNothing(300 * time.Millisecond)
		if n := composed.Load(); n != 0 {
			t.Errorf("composed %d times", n)
		}
		revision.Store(7)
		link.Changed(7)
		link.Send(resultOf("older", 6))
		p.wantResult("older")
		p.wantState(7)
		quick := d.snapshot
		d.snapshot = func(ctx context.Context) (nova.PersonalState, error) {
			s, err := quick(ctx)
			time.Sleep(time.Second)
			return s, err
		}
		revision.Store(8)
		link.Changed(8)
		time.Sleep(500 * time.Millisecond) // it is being composed
		link.Send(resultOf("meanwhile", 9))
		p.wantResult("meanwhile")
		p.wantNothing(2 * time.Second)
	})
}

// TestP71_AResultWithoutItsSnapshotCancelsNothing: too large a one goes without.
func TestP71_AResultWithoutItsSnapshotCancelsNothing(t *testing.T) {
	d := newFakeHost()
	revision, _ := d.composes(10)
	log := inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect(asksPersonal)
		link := d.last().link
		revision.Store(3)
		link.Changed(3)
		link.Send(nova.PersonalResult{RequestID: "r", Data: make(json.RawMessage, nova.MaxPersonalText), Revision: 3})
		if m, ok := p.receive().(nova.PersonalResult); !ok || !m.ReloadRequired {
			t.Errorf("%#v", m)
		}
		p.wantState(3)
		link.Send(stateOf(4, nova.MaxPersonalText))
		if m, ok := p.receive().(nova.PersonalState); !ok || m.Revision != 4 || m.Frame != nil {
			t.Errorf("%#v", m)
		}
	})
	if n := strings.Count(log, "level=WARN"); n != 2 {
		t.Errorf("%d warnings:\n%s", n, log)
	}
}

// TestState_OneIsComposedAtATime: what changes meanwhile is in the next one.
func TestState_OneIsComposedAtATime(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		var revision atomic.Uint64
		var running atomic.Int64
		d.snapshot = func(context.Context) (nova.PersonalState, error) {
			if running.Add(1) > 1 {
				t.Error("two at once")
			}
			defer running.Add(-1)
			defer time.Sleep(2 * time.Second)
			return stateOf(revision.Load(), 10), nil
		}
		p := h.connect(asksPersonal)
		began := time.Now()
		for revision.Load() < 5 {
			d.last().link.Changed(revision.Add(1))
			time.Sleep(300 * time.Millisecond)
		}
		p.wantState(1)
		p.wantState(5)
		within(t, "both", time.Since(began), 4250*time.Millisecond, 4250*time.Millisecond) // the second window was over
		p.wantNothing(5 * time.Second)
	})
}

// TestState_ThatCannotBeComposed: is logged once, and tried again at the next
// change.
func TestState_ThatCannotBeComposed(t *testing.T) {
	d := newFakeHost()
	var tries int
	log := inFakeTime(t, d, func(t *testing.T, h *harness) {
		d.snapshot = func(context.Context) (nova.PersonalState, error) {
			if tries++; tries < 4 || tries == 5 {
				return nova.PersonalState{}, errNo
			}
			return stateOf(uint64(tries), 10), nil
		}
		p := h.connect(asksPersonal)
		for r := range uint64(3) {
			d.last().link.Changed(r + 1)
			p.wantNothing(time.Minute / 4)
		}
		d.last().link.Changed(4)
		p.wantState(4)
		d.last().link.Changed(5)
		p.wantNothing(time.Second)
	})
	if n := strings.Count(log, "could not be composed"); n != 2 || tries != 5 {
		t.Errorf("%d tries:\n%s", tries, log)
	}
}

// TestP74_N82_FaultsOfAPersonalConnection: 1002, save for a token that is none; of
// any other 4003.
func TestP74_N82_FaultsOfAPersonalConnection(t *testing.T) {
	for members, code := range map[string]int{"": 4003, asksPersonal: 1002} {
		for name, do := range map[string]func(h *harness, p *phone){
			"empty PCM":      func(_ *harness, p *phone) { _ = p.Send(nil) },
			"odd PCM":        func(_ *harness, p *phone) { _ = p.Send([]byte{1, 2, 3}) },
			"malformed JSON": func(_ *harness, p *phone) { p.say(`{"type":`) },
		} {
			inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
				p := h.connect(members)
				if do(h, p); t.Failed() {
					t.Fatal(name)
				}
				p.wantEnd(code)
			})
		}
		d := newFakeHost()
		d.onAttach = func() { panic(privateText) }
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			h.connectAndHello(masterToken, members).endsWith(code)
			d.onAttach = nil
			h.connect("").alive()
		})
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) { h.connectAndHello(wrongToken, members).wantEnd(4003) })
	}
}

// TestP75_WhatIsNotAPhonesIsRejected: and nothing else comes of it; a command that
// is too long is a fault.
func TestN81_P75_WhatIsNotAPhonesIsRejected(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect(asksPersonal)
		for i, method := range []string{"sources.add", "connector.status", "feishu.status", "discovery.configure", "no.such"} {
			p.command(fmt.Sprint(i), personalCommand(method))
			p.wantReceipt(fmt.Sprint(i), nova.Rejected)
		}
		p.command("state", personalCommand("state"))
		p.wantReceipt("state", nova.Applied)
		text := commandText("long", p.id, personalCommand("state"))
		p.say(text + strings.Repeat(" ", nova.MaxText+1-len(text)))
		p.wantEnd(1002)
	})
	if got := d.delivered(); len(got) != 1 {
		t.Errorf("delivered: %+v", got)
	}
}

// TestP78_ASecondClientDisturbsNobody: the first one's state comes as if it had
// not been there.
func TestP78_ASecondClientDisturbsNobody(t *testing.T) {
	d := newFakeHost()
	revision, _ := d.composes(10)
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect(asksPersonal)
		revision.Store(1)
		d.last().link.Changed(1)
		h.connectAndHello(deviceToken, asksPersonal).wantEnd(4009)
		p.wantState(1)
		p.alive()
	})
	if len(d.attachments) != 1 || d.attachments[0].left != 1 {
		t.Errorf("%d clients at the host, the first left %d times", len(d.attachments), d.attachments[0].left)
	}
}

// TestP79_ARevocationEndsWith4003: also a personal connection, whose other faults end
// with 1002.
func TestP79_ARevocationEndsWith4003(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connectAndHello(deviceToken, asksPersonal)
		p.welcomed()
		if err := d.Revoke(t.Context(), pairing.DeviceID{1}); err != nil {
			t.Fatal(err)
		}
		p.wantEnd(4003)
	})
}

// TestN82_ARevocationWaitsForNothing: it ends a personal connection though a command
// runs and others wait; the slot is free and the host told.
func TestN82_ARevocationWaitsForNothing(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		d.deliver = func(ctx context.Context, _ nova.Control) error {
			time.Sleep(3 * time.Second) // whether or not ctx ends
			return nil
		}
		d.leave = func() {
			if h.s.slot.Holder() != 0 {
				t.Error("the slot is not free when the host is told")
			}
		}
		p := h.connectAndHello(deviceToken, asksPersonal)
		p.welcomed()
		client := d.last()
		for i := range 3 {
			p.command(fmt.Sprint(i), personalCommand("state"))
		}
		synctest.Wait()
		began := time.Now()
		if err := d.Revoke(t.Context(), pairing.DeviceID{1}); err != nil {
			t.Fatal(err)
		}
		p.wantEnd(4003)
		if client.left != 1 {
			t.Errorf("it left %d times", client.left)
		}
		h.connect(asksPersonal).alive()
		within(t, "all of it", time.Since(began), 0, 0)
	})
	if n := len(d.delivered()); n != 1 {
		t.Errorf("%d commands were delivered, want the running one alone", n)
	}
}

// TestAudio_GoesToTheHost: whole, and a fault of the host's ends the connection.
func TestAudio_GoesToTheHost(t *testing.T) {
	d := newFakeHost()
	log := inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect("")
		for _, n := range []int{2, 640, nova.MaxPCM} {
			_ = p.Send(make([]byte, n))
		}
		p.alive()
		if heard := d.last().heard; heard != 2+640+nova.MaxPCM {
			t.Errorf("%d bytes were heard", heard)
		}
		d.audio = func() { panic(privateText) }
		d.leave = d.audio
		_ = p.Send([]byte{0, 0})
		p.wantEnd(1011)
		d.audio, d.leave = nil, nil
		h.connect("").alive()
	})
	if !strings.Contains(log, "during=leave") {
		t.Error(log)
	}
}

// TestState_AHostThatPanicsEndsTheConnection: that one alone.
func TestState_AHostThatPanicsEndsTheConnection(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		d.snapshot = func(context.Context) (nova.PersonalState, error) { panic(privateText) }
		p := h.connect(asksPersonal)
		d.last().link.Changed(1)
		p.wantEnd(1011)
		h.connect("").alive()
	})
}
