package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/wsconn"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// There is no audio on this socket that could stall; what could hold a command up
// is a text whose write to the store takes long.
func TestP65_ACommandWaitsForNothingButCommands(t *testing.T) {
	h := &fakeHost{}
	h.deliver = func(ctx context.Context, c nova.Control) error {
		switch m := c.(type) {
		case nova.InputText:
			<-ctx.Done() // a store that hangs
			return ctx.Err()
		case nova.PersonalCommand:
			h.link().Send(nova.PersonalResult{RequestID: m.RequestID})
		}
		return nil
	}
	inFakeTime(t, h, func(t *testing.T, st *stage) {
		p := st.connect()
		p.say(written("t1", "one"))
		p.say(written("t2", "two"))
		p.say(command("c1", "conversations.voice"))
		if m := p.next(); m["type"] != "personal.result" || m["request_id"] != "c1" {
			t.Errorf("came %v", m)
		}
		if got := h.kinds(); got != "input.text personal.command" {
			t.Errorf("delivered %s: texts keep their order", got)
		}
	})
}

func TestP66_OversizedFramesAreReplacedAndTheSocketStays(t *testing.T) {
	h := &fakeHost{}
	inFakeTime(t, h, func(t *testing.T, st *stage) {
		p := st.connect()
		huge := json.RawMessage(`"` + strings.Repeat("x", nova.MaxDesktopText) + `"`)
		h.link().Send(nova.PersonalResult{RequestID: "c1", Data: huge})
		if m := p.next(); m["request_id"] != "c1" || m["ok"] != false || m["error"] != "personal_frame_too_large" || m["input_status"] != "unknown" {
			t.Errorf("for a result came %v", m)
		}
		h.mu.Lock()
		h.snapshot = nova.PersonalState{Revision: 7, Frame: huge}
		h.mu.Unlock()
		h.link().Changed(7)
		if m := p.next(); m["type"] != "personal.error" || m["error"] != "personal_frame_too_large" {
			t.Errorf("for a state came %v", m)
		}
		// What just fits goes through whole.
		fits := json.RawMessage(`"` + strings.Repeat("x", nova.MaxDesktopText-nova.MaxText-2) + `"`)
		h.link().Send(nova.PersonalResult{RequestID: "c2", Data: fits})
		if m := p.next(); m["request_id"] != "c2" || m["ok"] != true || len(m["data"].(string)) != len(fits)-2 {
			t.Errorf("a result that fits: ok %v, error %v", m["ok"], m["error"])
		}
		p.say(command("c3", "state"))
		if got := h.kinds(); got != "personal.command" {
			t.Errorf("afterwards delivered %q", got)
		}
	})
}

func TestP67_TheClientIsTheDesktopWhateverAFrameSays(t *testing.T) {
	h := &fakeHost{}
	inFakeTime(t, h, func(t *testing.T, st *stage) {
		p := st.connect()
		p.say(command("c1", "tasks.list"))
		if h.terms.Caller() != desktopCaller || !h.terms.Personal {
			t.Errorf("attached with %+v", h.terms)
		}
		for _, member := range []string{`"client_id":"remote:master"`, `"can_takeover":false`, `"client":{"id":"x"}`} {
			p := st.connect()
			p.say(strings.Replace(command("c2", "tasks.list"), "{", "{"+member+",", 1))
			p.closes(1002)
		}
		if got := h.kinds(); got != "personal.command" {
			t.Errorf("delivered %q", got)
		}
	})
}

// A fault is what no client that speaks the protocol sends.
func TestK17_OnlyFaultsEndTheSocket(t *testing.T) {
	for name, c := range map[string]struct {
		frame wstest.Frame
		code  int
	}{
		"odd audio":           {wstest.Frame{Opcode: wstest.Binary, Payload: make([]byte, 641)}, 1002},
		"empty audio":         {wstest.Frame{Opcode: wstest.Binary}, 1002},
		"no JSON":             {text(`hello`), 1002},
		"an unknown type":     {text(`{"type":"hello"}`), 1002},
		"a remote's envelope": {text(`{"type":"client.command","request_id":"a","connection_id":"b","payload":{}}`), 1002},
		"a member too many":   {text(`{"type":"input.audio","conversation_id":"chat:main","x":1}`), 1002},
		"a text that is none": {text(`{"type":"input.text","text":7}`), 1002},
		"no request id":       {text(`{"type":"personal.command","method":"state"}`), 1002},
		"an unsafe number":    {text(`{"type":"personal.command","request_id":"c","method":"state","params":{"n":9007199254740993}}`), 1002},
		"a long command":      {text(command("c", "state") + strings.Repeat(" ", nova.MaxText)), 1002},
		"no UTF-8":            {text("{\"type\":\"\xff\"}"), 1007},
		"too long":            {text(`{"type":"` + strings.Repeat("x", nova.MaxMessage) + `"}`), 1009},
		"a reserved opcode":   {wstest.Frame{Opcode: 0x3}, 1002},
	} {
		t.Run(name, func(t *testing.T) {
			h := &fakeHost{}
			inFakeTime(t, h, func(t *testing.T, st *stage) {
				p := st.connect()
				if err := p.SendFrame(c.frame.Opcode, c.frame.Payload); err != nil {
					t.Fatal(err)
				}
				p.closes(c.code)
				if got := h.kinds(); got != "" || h.left != 1 {
					t.Errorf("delivered %q, left %d times", got, h.left)
				}
			})
		})
	}
}

// Speech reaches a draft only between its start and its end, so it keeps its place
// among the controls.
func TestK17_SpeechKeepsItsPlaceAmongTheControls(t *testing.T) {
	h := &fakeHost{}
	inFakeTime(t, h, func(t *testing.T, st *stage) {
		h.deliver = func(context.Context, nova.Control) error { time.Sleep(time.Second); return nil } // slow
		p := st.connect()
		dictate := func(action string) {
			p.say(`{"type":"input.dictation","id":"d","action":"` + action + `"}`)
		}
		dictate("start")
		if err := errors.Join(p.Send(make([]byte, 640)), p.Send(make([]byte, 2))); err != nil {
			t.Fatal(err)
		}
		dictate("finish")
		time.Sleep(time.Minute)
		if got := h.kinds(); got != "input.dictation 640 2 input.dictation" {
			t.Errorf("delivered %s", got)
		}
		p.silent()
	})
}

func text(s string) wstest.Frame { return wstest.Frame{Opcode: wstest.Text, Payload: []byte(s)} }

// Changes of one window are told once, and a snapshot in a result counts.
func TestChangesAreToldOnceAWindow(t *testing.T) {
	h := &fakeHost{}
	inFakeTime(t, h, func(t *testing.T, st *stage) {
		p := st.connect()
		began := time.Now()
		for revision := range uint64(5) {
			h.at(revision + 1)
			h.link().Changed(revision + 1)
			time.Sleep(40 * time.Millisecond)
		}
		if m := p.next(); m["type"] != "personal.state" || m["revision"] != 5.0 || time.Since(began) != sessions.CoalesceWindow {
			t.Errorf("after %v came %v", time.Since(began), m)
		}
		h.at(6)
		h.link().Changed(6)
		h.link().Send(nova.PersonalResult{RequestID: "c", Data: h.snapshot.Frame, Revision: 6})
		if m := p.next(); m["type"] != "personal.result" {
			t.Errorf("came %v", m)
		}
		time.Sleep(time.Second)
		p.silent()
	})
}

// A session that ends takes its sockets with it; so does the host.
func TestWhatEndsASocket(t *testing.T) {
	h := &fakeHost{}
	inFakeTime(t, h, func(_ *testing.T, st *stage) {
		p := st.connect()
		close(st.over)
		p.closes(4003)
	})
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		p := st.connect()
		st.host.link().Send(nova.ConversationError{ConversationID: "chat:main", Error: "response_failed"})
		go st.shutdown()
		if m := p.next(); m["type"] != "conversation.error" {
			t.Errorf("before the goodbye came %v", m)
		}
		p.closes(1001)
		synctest.Wait()
		peer, response := wstest.Pipe(st, upgrade())
		if peer != nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("an upgrade after the shutdown: %d", response.StatusCode)
		}
	})
}

func TestEightSocketsAndNoMore(t *testing.T) {
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		var first *page
		for i := range MaxSockets {
			if p := st.connect(); i == 0 {
				first = p
			}
		}
		peer, response := wstest.Pipe(st, upgrade())
		if peer != nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the ninth was answered %d", response.StatusCode)
		}
		if err := first.SendFrame(wstest.Close, []byte{0x03, 0xe8}); err != nil {
			t.Fatal(err)
		}
		first.closes(1000)
		synctest.Wait()
		st.connect()
	})
}

func TestAPlainGetIsToldToUpgrade(t *testing.T) {
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		r := upgrade()
		r.Header.Del("Upgrade")
		if _, response := wstest.Pipe(st, r); response.StatusCode != http.StatusUpgradeRequired || response.Header.Get("Upgrade") != "websocket" {
			t.Errorf("answered %d", response.StatusCode)
		}
	})
}

func TestOnlyThePageItselfOpensASocket(t *testing.T) {
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		for _, origins := range [][]string{
			nil, {""}, {"null"}, {"http://127.0.0.1:9011"}, {"https://127.0.0.1:9010"}, {"http://localhost:9010"}, {"http://evil.example"},
			{"chrome-extension://aaaa"}, {"http://127.0.0.1:9010", "http://127.0.0.1:9010"},
		} {
			r := upgrade()
			r.Header["Origin"] = origins
			if peer, response := wstest.Pipe(st, r); peer != nil || response.StatusCode != http.StatusForbidden {
				t.Errorf("%q was answered %d", origins, response.StatusCode)
			}
		}
	})
}

// A page that answers no ping is gone after three looks.
func TestASilentPageIsRetired(t *testing.T) {
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		alive := st.connect() // answers pings
		peer, _ := wstest.Pipe(st, upgrade())
		began := time.Now()
		for {
			if _, err := peer.ReadFrame(); err != nil {
				break
			}
		}
		if took := time.Since(began); took < 3*wsconn.KeepAliveInterval || took > 4*wsconn.KeepAliveInterval {
			t.Errorf("retired after %v", took)
		}
		alive.say(command("c", "state"))
		if st.host.kinds() != "personal.command" {
			t.Error("the other page was retired too")
		}
	})
}

// Whoever sends more than may wait is closed, and so is who takes nothing.
func TestLanesAndOutputAreBounded(t *testing.T) {
	h := &fakeHost{deliver: func(ctx context.Context, _ nova.Control) error { <-ctx.Done(); return ctx.Err() }}
	inFakeTime(t, h, func(_ *testing.T, st *stage) {
		p := st.connect()
		for i := range laneMessages + 2 { // one is being worked on
			if p.SendText(command(fmt.Sprint(i), "state")) != nil {
				break
			}
		}
		p.closes(1002)
	})
	inFakeTime(t, h, func(_ *testing.T, st *stage) {
		p := st.connect()
		p.say(written("t", "a text that is being stored"))
		for range laneBytes/nova.MaxPCM + 1 {
			if p.Send(make([]byte, nova.MaxPCM)) != nil {
				break
			}
		}
		p.closes(1002)
	})
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		peer, _ := wstest.Pipe(st, upgrade())
		st.peers = append(st.peers, peer)
		synctest.Wait() // the writer is stuck with desktop.capabilities
		for range maxWaitingFrames + 1 {
			st.host.link().Send(nova.TextResult{RequestID: "t"})
		}
		var closed *wstest.CloseError
		for err := error(nil); !errors.As(err, &closed); {
			if _, err = peer.ReceiveMessage(); err != nil && !errors.As(err, &closed) {
				t.Fatal(err)
			}
		}
		if closed.Code != 4008 {
			t.Errorf("a page that takes nothing got %v", closed)
		}
	})
}

// A caption that has grown replaces the one that still waits; finals are all told.
func TestCaptionsThatWaitGrow(t *testing.T) {
	inFakeTime(t, &fakeHost{}, func(t *testing.T, st *stage) {
		peer, _ := wstest.Pipe(st, upgrade())
		st.peers = append(st.peers, peer)
		synctest.Wait() // the writer is stuck with desktop.capabilities
		caption := nova.Caption{TurnID: "1", Role: nova.Assistant, ConversationID: "chat:main"}
		for i := range 2000 {
			caption.Sequence, caption.Text = uint64(i+1), strings.Repeat("w", i%100+1)
			st.host.link().Send(caption)
		}
		caption.Final, caption.Sequence = true, 2001
		st.host.link().Send(caption)
		var got []string
		for range 3 {
			f, err := peer.ReceiveMessage()
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Type     string
				Sequence int
			}
			if err := json.Unmarshal(f.Payload, &m); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(m.Type, m.Sequence))
		}
		if want := "desktop.capabilities0 caption2000 caption2001"; strings.Join(got, " ") != want {
			t.Errorf("came %v, want %s", got, want)
		}
	})
}

// What the host does not take has an answer all the same.
func TestK17_WhatIsRefusedIsAnswered(t *testing.T) {
	h := &fakeHost{deliver: func(context.Context, nova.Control) error { return errors.New("no") }}
	inFakeTime(t, h, func(t *testing.T, st *stage) {
		p := st.connect()
		p.say(written("t1", privateText))
		if m := p.next(); m["type"] != "input.text_result" || m["request_id"] != "t1" || m["error"] != "submission_failed" || m["conversation_id"] != "chat:main" {
			t.Errorf("came %v", m)
		}
		for frame, id := range map[string]string{
			command("c1", "state"):                                                            "c1",
			command("c2", "files.delete"):                                                     "c2",
			`{"type":"input.text","text":"` + privateText + `"}`:                              "input.text",
			`{"type":"input.audio","conversation_id":"chat:main"}`:                            "input.audio",
			`{"type":"input.dictation","id":"d","action":"start"}`:                            "input.dictation",
			`{"type":"clock.pong","ping_id":"p","t_render_ms":1}`:                             "clock.pong",
			`{"type":"project.confirmation_decision","proposal_id":"p","confirmed":true}`:     "project.confirmation_decision",
			`{"type":"playback.done","utterance_id":"u","generation_epoch":1,"played_ms":20}`: "playback.done",
		} {
			p.say(frame)
			if m := p.next(); m["type"] != "client.command_result" || m["request_id"] != id || m["status"] != "rejected" {
				t.Errorf("for %s came %v", frame, m)
			}
		}
	})
	h = &fakeHost{deliver: func(context.Context, nova.Control) error { panic(privateText) }}
	inFakeTime(t, h, func(_ *testing.T, st *stage) {
		p := st.connect()
		p.say(command("c1", "state"))
		p.closes(1011)
	})
}
