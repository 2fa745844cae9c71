package novaws

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
)

// TestN14_N15_N16_OneDeliveryForEachCommand: a repetition, a conflict, another
// connection's.
func TestN14_N15_N16_OneDeliveryForEachCommand(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connect("")
		for _, c := range []struct {
			id, connection, payload string
			status                  nova.Status
		}{
			{"r", p.id, onset("a"), nova.Applied},
			{"r", p.id, onset("a"), nova.Applied},
			{"r", p.id, onset("b"), nova.Rejected},
			{"r", p.id, onset("a"), nova.Applied},
			{"s", strings.ToUpper(p.id) + "x", onset("a"), nova.Stale},
		} {
			p.say(commandText(c.id, c.connection, c.payload))
			p.wantReceipt(c.id, c.status)
		}
	})
	if got := d.delivered(); len(got) != 1 || got[0] != (nova.SpeechOnset{SpeechID: "a"}) {
		t.Errorf("delivered: %+v", got)
	}
}

// TestN17_N18_ARefusalIsRemembered: so is that nobody takes controls, and a
// handler that falls over; the connection lives on.
func TestN17_N18_ARefusalIsRemembered(t *testing.T) {
	for name, deliver := range map[string]func(context.Context, nova.Control) error{
		"an error": func(context.Context, nova.Control) error { return errNo },
		"a panic":  func(context.Context, nova.Control) error { panic(privateText) },
		"a fault":  func(context.Context, nova.Control) error { return fmt.Errorf("fault: %d", []int(nil)[len(name())]) },
	} {
		d := newFakeHost()
		d.deliver = deliver
		log := inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.connect("")
			for range 2 {
				p.command("r", onset("a"))
				p.wantReceipt("r", nova.Rejected)
			}
			p.alive()
		})
		if n := len(d.delivered()); n != 1 {
			t.Errorf("%s: %d deliveries", name, n)
		}
		if panicked := strings.Contains(log, "personal host panicked"); panicked != (name != "an error") {
			t.Errorf("%s: in the log: %v", name, panicked)
		}
	}
}

// name is something the compiler does not know the length of.
func name() string { return strings.Repeat("x", 1) }

// TestN19_TheLastReceiptComesBeforeTheClose: 256 commands, 256 true receipts, and
// nothing of what is in flight behind them.
func TestN19_TheLastReceiptComesBeforeTheClose(t *testing.T) {
	for _, members := range []string{"", `,"capabilities":["personal"]`} {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.connect(members)
			for i := range 256 {
				id := fmt.Sprint(i)
				p.command(id, onset(id))
				if i < 255 {
					p.wantReceipt(id, nova.Applied)
				}
			}
			_ = p.SendText(commandText("256", p.id, onset("256")))
			p.wantReceipt("255", nova.Applied)
			p.wantEnd(4008)
		})
		if n := len(d.delivered()); n != 256 {
			t.Errorf("%d deliveries", n)
		}
	}
}

// TestN20_AFaultClosesWithoutAReceipt: in the column of the client's kind.
func TestN20_AFaultClosesWithoutAReceipt(t *testing.T) {
	d := newFakeHost()
	for members, code := range map[string]int{"": 4003, `,"capabilities":["personal"]`: 1002} {
		for what, text := range map[string]string{
			"unknown":      `{"type":"x"}`,
			"camera":       "camera",
			"hello again":  hello(masterToken, ""),
			"16,385 bytes": "long",
		} {
			inFakeTime(t, d, func(t *testing.T, h *harness) {
				p := h.connect(members)
				switch text {
				case "camera":
					text = commandText("r", p.id, `{"type":"camera.frame"}`)
				case "long":
					good := commandText("r", p.id, onset("a"))
					text = good + strings.Repeat(" ", nova.MaxText+1-len(good))
				}
				p.say(text)
				if before := p.endsWith(code); len(before) > 0 {
					t.Errorf("%s: %q", what, before)
				}
			})
		}
	}
	if n := len(d.delivered()); n != 0 {
		t.Errorf("%d deliveries", n)
	}
}

// TestN21_WhatIsQueuedAtTheEndIsNotDelivered: the client leaves while a control
// is slow.
func TestN21_WhatIsQueuedAtTheEndIsNotDelivered(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		d.deliver = func(ctx context.Context, _ nova.Control) error {
			<-ctx.Done()
			time.Sleep(time.Second) // it is slow to notice
			return nil
		}
		p := h.connect("")
		for _, id := range []string{"1", "2", "3"} {
			p.command(id, onset(id))
		}
		synctest.Wait()
		_ = p.Close()
		synctest.Wait()
		h.connect("").alive() // and the next client need not wait for it
	})
	if n := len(d.delivered()); n != 1 {
		t.Errorf("%d deliveries, want the running one", n)
	}
}

// TestN22_CommandsRunOneAtATimeInOrder: each receipt comes after its handler.
func TestN22_CommandsRunOneAtATimeInOrder(t *testing.T) {
	running, most := 0, 0
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		d.deliver = func(context.Context, nova.Control) error {
			running++
			most = max(most, running)
			time.Sleep(time.Second)
			running--
			return nil
		}
		p, began := h.connect(""), time.Now()
		for i := range 5 {
			p.command(fmt.Sprint(i), onset(fmt.Sprint(i)))
		}
		for i := range 5 {
			p.wantReceipt(fmt.Sprint(i), nova.Applied)
			within(t, "a receipt", time.Since(began), time.Duration(i+1)*time.Second, time.Duration(i+1)*time.Second)
		}
	})
	for i, c := range d.delivered() {
		if c != (nova.SpeechOnset{SpeechID: fmt.Sprint(i)}) {
			t.Errorf("delivery %d was %+v", i, c)
		}
	}
	if most != 1 {
		t.Errorf("%d handlers at once", most)
	}
}

// blocked is a client whose first command's handler does not end.
func (h *harness) blocked(members string) *phone {
	h.t.Helper()
	h.host.deliver = func(ctx context.Context, _ nova.Control) error { <-ctx.Done(); return nil }
	p := h.connect(members)
	p.command("slow", onset("slow"))
	synctest.Wait()
	return p
}

// TestN23_WhatMayWaitUnfinished: 128 messages and 262,144 bytes, the one that is
// being worked on among them; one more ends the connection.
func TestN23_WhatMayWaitUnfinished(t *testing.T) {
	for members, code := range map[string]int{"": 4003, `,"capabilities":["personal"]`: 1002} {
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
			p := h.blocked(members)
			for range 127 { // empty ones count
				if err := p.SendText(""); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if len(p.frames) != 0 || h.s.Connections() != 1 {
				t.Fatal("128 messages are too many")
			}
			_ = p.SendText("")
			p.wantEnd(code)
		})
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
			p := h.blocked(members)
			for left := 262_144 - len(commandText("slow", p.id, onset("slow"))); left > 0; {
				n := min(left, nova.MaxMessage)
				if err := p.Send(make([]byte, n)); err != nil {
					t.Fatal(err)
				}
				left -= n
			}
			synctest.Wait()
			if h.s.Connections() != 1 {
				t.Fatal("262,144 bytes are too many")
			}
			_ = p.Send([]byte{0})
			p.wantEnd(code)
		})
	}
}

// TestN23_BeforeTheHelloIsJudged: the budget holds for a stranger too.
func TestN23_BeforeTheHelloIsJudged(t *testing.T) {
	d := newFakeHost()
	d.authenticate = func(ctx context.Context) error { <-ctx.Done(); return nil }
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connectAndHello(masterToken, "")
		synctest.Wait()
		for range 128 {
			if p.SendText("") != nil {
				break
			}
		}
		p.wantEnd(4003)
	})
	if attached, _ := d.admissions(); attached != 0 {
		t.Error("admitted")
	}
}

// TestHello_WhatFollowsItWaitsForTheAdmission: and is taken then.
func TestHello_WhatFollowsItWaitsForTheAdmission(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		d.authenticate = func(context.Context) error { time.Sleep(time.Second); return nil }
		p := h.connectAndHello(masterToken, "")
		p.say(commandText("early", "not known yet", `{}`))
		synctest.Wait()
		if len(p.frames) != 0 {
			t.Error("something was said before the token was checked")
		}
		if m, ok := p.receive().(nova.Ready); !ok {
			t.Errorf("first came %#v", m)
		}
		early := nova.Receipt{RequestID: "early", Status: nova.Stale}
		if one, other := p.receive(), p.receive(); one != early && other != early { // a receipt may overtake the capabilities
			t.Errorf("%#v, %#v: no receipt", one, other)
		}
	})
}

// TestN24_TooLargeAMessageIs1009: on each path, from 65,537 bytes on.
func TestN24_TooLargeAMessageIs1009(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.connect("")
		if err := p.Send(make([]byte, 65_536)); err != nil {
			t.Fatal(err)
		}
		p.alive()
		_ = p.Send(make([]byte, 65_537))
		p.wantEnd(1009)
		for _, path := range []string{clientPath, pairPath, pairAdminPath} {
			p := h.start(h.open(path))
			_ = p.Send(make([]byte, 65_537))
			p.wantEnd(1009)
			if want := "a message has at most 65536 bytes"; !strings.Contains(p.end.Error(), want) {
				t.Errorf("%s: the end says %v, want %q", path, p.end, want)
			}
		}
	})
}

func TestText_ThatIsNotUTF8Is1007(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		for _, p := range []*phone{h.start(h.open(clientPath)), h.connect("")} {
			_ = p.SendFrame(wstest.Text, []byte{'{', 0xff, '}'})
			p.wantEnd(1007)
		}
	})
}

// TestFrame_ThatBreaksTheRulesOfWebSocket: an unmasked one, a reserved bit, an
// opcode that is none.
func TestFrame_ThatBreaksTheRulesOfWebSocket(t *testing.T) {
	for name, raw := range map[string][]byte{
		"unmasked": {0x81, 1, 'x'}, "reserved": {0xc1, 0x80, 0, 0, 0, 0}, "opcode": {0x83, 0x80, 0, 0, 0, 0},
		"endless ping": append([]byte{0x89, 0xfe, 0, 126, 0, 0, 0, 0}, bytes.Repeat([]byte{0}, 126)...),
	} {
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
			p := h.connect("")
			_, _ = p.Write(raw)
			for range p.frames {
			}
			if code := endCode(p.end); code != 1002 && code != 0 {
				t.Errorf("%s: %v", name, p.end)
			}
			h.connect("").alive()
		})
	}
}

// TestFrame_ThatStalls: ten seconds from its first byte to its last.
func TestFrame_ThatStalls(t *testing.T) {
	for members, code := range map[string]int{"": 4003, `,"capabilities":["personal"]`: 1002} {
		inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
			p, began := h.connect(members), time.Now()
			whole := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Text, Payload: []byte("{}")})
			if _, err := p.Write(whole[:3]); err != nil {
				t.Fatal(err)
			}
			p.wantEnd(code)
			within(t, "the frame", time.Since(began), 10*time.Second, 12*time.Second)
		})
	}
}
