package novaws

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/loglimit"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
)

const pairError = `{"type":"pair.error","message":"pairing failed"}`

// ask opens a pairing socket, says one thing and gives the one answer.
func (h *harness) ask(target, text string) string {
	h.t.Helper()
	p := h.start(h.open(target))
	p.say(text)
	return p.answer()
}

// answer waits for the one answer and its close.
func (p *phone) answer() string {
	p.t.Helper()
	got := p.endsWith(1000)
	if len(got) != 1 {
		p.t.Fatalf("%d answers: %q", len(got), got)
	}
	return got[0]
}

func adminText(kind, token, members string) string {
	return fmt.Sprintf(`{"type":%q,"token":%q%s}`, kind, token, members)
}

// devices asks for the list and whether pairCode is open.
func (h *harness) devices() nova.PairDevices {
	h.t.Helper()
	m, err := nova.DecodePairAnswer([]byte(h.ask(pairAdminPath, adminText("pair.list", masterToken, `,"code":"`+pairCode+`"`))))
	list, ok := m.(nova.PairDevices)
	if err != nil || !ok {
		h.t.Fatalf("%#v, %v", m, err)
	}
	return list
}

// TestN72_AdminAsksWithTheMasterTokenAlone: everything else is the same answer.
func TestN72_AdminAsksWithTheMasterTokenAlone(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		for name, text := range map[string]string{
			"wrong token":      adminText("pair.list", wrongToken, ""),
			"device token":     adminText("pair.list", deviceToken, ""),
			"invitation code":  adminText("pair.list", pairCode, ""),
			"no token":         `{"type":"pair.list"}`,
			"bad address":      adminText("pair.create", masterToken, `,"server":"ws://x"`),
			"no address":       adminText("pair.create", masterToken, ""),
			"a member more":    adminText("pair.list", masterToken, `,"x":1`),
			"a bad code":       adminText("pair.list", masterToken, `,"code":"1"`),
			"unknown device":   adminText("pair.revoke", masterToken, `,"device_id":"`+serverID+`"`),
			"a redeem":         redeemText(pairCode, "phone"),
			"unknown request":  adminText("pair.destroy", masterToken, ""),
			"private nonsense": `{"x":"` + privateText + `"`,
		} {
			if got := h.ask(pairAdminPath, text); got != pairError {
				t.Errorf("%s: %s", name, got)
			}
		}
		got := h.ask(pairAdminPath, adminText("pair.create", masterToken, `,"server":"wss://x.example"`))
		want := nova.Invitation{Server: "wss://x.example/client/v1", Code: secret.New(pairCode)}
		if m, err := nova.DecodePairAnswer([]byte(got)); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%#v, %v", m, err)
		}
	})
	if d.attempts != 0 {
		t.Error("the owner's requests count as attempts to redeem")
	}
}

// TestN73_N74_ACodeWorksOnce: the list says so, and so does cancel.
func TestN73_N74_ACodeWorksOnce(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		if l := h.devices(); !l.Active || len(l.Devices) != 1 {
			t.Errorf("%+v", l)
		}
		got := h.ask(pairPath, redeemText(pairCode, "  phone 2 "))
		m, err := nova.DecodePairAnswer([]byte(got))
		if r, ok := m.(nova.PairReady); err != nil || !ok || r.Token.Reveal() != freshToken || r.DeviceID != (pairing.DeviceID{2}).String() {
			t.Errorf("%#v, %v", m, err)
		}
		if l := h.devices(); l.Active || len(l.Devices) != 2 {
			t.Errorf("%+v", l)
		}
		if got := h.ask(pairPath, redeemText(pairCode, "phone")); got != pairError {
			t.Errorf("the second time: %s", got)
		}
		h.ask(pairAdminPath, adminText("pair.create", masterToken, `,"server":"wss://x.example"`))
		h.ask(pairAdminPath, adminText("pair.cancel", masterToken, `,"code":"`+wrongCode+`"`))
		if !h.devices().Active {
			t.Error("another code cancelled the invitation")
		}
		if got := h.ask(pairAdminPath, adminText("pair.cancel", masterToken, `,"code":"`+pairCode+`"`)); !strings.Contains(got, `"pairing_active":false`) {
			t.Errorf("cancel: %s", got)
		}
	})
	if d.tokens[freshToken].Name != "phone 2" {
		t.Errorf("%+v", d.tokens)
	}
}

// TestN75_ARevokedDeviceIsClosedAndStaysOut: others stay.
func TestN75_ARevokedDeviceIsClosedAndStaysOut(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		h.ask(pairPath, redeemText(pairCode, "new"))
		p := h.connectAndHello(freshToken, "")
		p.welcomed()
		got := h.ask(pairAdminPath, adminText("pair.revoke", masterToken, `,"device_id":"`+(pairing.DeviceID{2}).String()+`"`))
		if m, err := nova.DecodePairAnswer([]byte(got)); err != nil || len(m.(nova.PairDevices).Devices) != 1 {
			t.Errorf("%#v, %v", m, err)
		}
		p.wantEnd(4003)
		h.connectAndHello(freshToken, "").wantEnd(4003)
		other := h.connectAndHello(deviceToken, "")
		other.welcomed()
		other.alive()
	})
}

// TestN76_PairingTakesNoPlace: neither from a client that is there nor from one
// that comes, and it never comes to an admission.
func TestN76_PairingTakesNoPlace(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		for range 8 {
			h.start(h.open(pairPath))
		}
		synctest.Wait()
		if attached, _ := d.admissions(); attached != 0 {
			t.Error("admitted by pairing")
		}
		p := h.connect("")
		p.alive()
		time.Sleep(5 * time.Second)
		synctest.Wait() // the eight are gone
		if got := h.ask(pairPath, redeemText(pairCode, "phone")); strings.Contains(got, "error") {
			t.Error(got)
		}
		p.alive()
	})
	if attached, _ := d.admissions(); attached != 1 {
		t.Errorf("%d admissions", attached)
	}
}

// TestN77_EveryFailureIsOneAnswer: whatever was sent, and it is not repeated.
func TestN77_EveryFailureIsOneAnswer(t *testing.T) {
	long := func(n int) []byte {
		text := redeemText(pairCode, "phone")
		return append([]byte(text), strings.Repeat(" ", n-len(text))...)
	}
	for name, c := range map[string]struct {
		opcode byte
		body   []byte
		good   bool
	}{
		"4096 bytes":     {wstest.Text, long(4096), true},
		"4097 bytes":     {wstest.Text, long(4097), false},
		"65536 bytes":    {wstest.Text, long(65536), false},
		"binary":         {wstest.Binary, long(100), false},
		"empty":          {wstest.Text, nil, false},
		"not UTF-8":      {wstest.Text, []byte(redeemText(pairCode, "a\xff")), false},
		"wrong code":     {wstest.Text, []byte(redeemText(wrongCode, "phone")), false},
		"capital code":   {wstest.Text, []byte(redeemText(strings.ToUpper(pairCode), "phone")), false},
		"no name":        {wstest.Text, []byte(redeemText(pairCode, " ")), false},
		"a control":      {wstest.Text, []byte(`{"type":"pair.redeem","code":"` + pairCode + `","device_name":"a\u0007"}`), false},
		"81 units":       {wstest.Text, []byte(redeemText(pairCode, strings.Repeat("x", 81))), false},
		"80 units":       {wstest.Text, []byte(redeemText(pairCode, strings.Repeat("x", 80))), true},
		"a member more":  {wstest.Text, []byte(`{"type":"pair.redeem","code":"` + pairCode + `","device_name":"a","x":"` + privateText + `"}`), false},
		"an admin's":     {wstest.Text, []byte(adminText("pair.list", masterToken, "")), false},
		"a hello":        {wstest.Text, []byte(hello(masterToken, "")), false},
		"a private name": {wstest.Text, []byte(redeemText(wrongCode, privateText)), false},
	} {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.start(h.open(pairPath))
			_ = p.SendFrame(c.opcode, c.body)
			if got := p.answer(); (got == pairError) == c.good {
				t.Errorf("%s: %s", name, got)
			}
		})
		if d.attempts != 1 || d.code.Empty() != c.good {
			t.Errorf("%s: %d attempts counted, the code is used: %v", name, d.attempts, d.code.Empty())
		}
	}
	d := newFakeHost()
	d.noAttempts = true
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		if got := h.ask(pairPath, redeemText(pairCode, "phone")); got != pairError || d.code.Empty() {
			t.Errorf("over the rate: %s", got)
		}
	})
}

// TestPairing_OnlyTheFirstMessageCounts: two at once get one answer.
func TestPairing_OnlyTheFirstMessageCounts(t *testing.T) {
	for first, good := range map[string]bool{pairCode: true, wrongCode: false} {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.start(h.open(pairPath))
			both := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Text, Payload: []byte(redeemText(first, "a"))})
			both = append(both, wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Text, Payload: []byte(redeemText(pairCode, "b"))})...)
			_, _ = p.Write(both)
			if got := p.answer(); (got == pairError) == good {
				t.Errorf("%s", got)
			}
		})
		if d.code.Empty() != good || d.attempts != 1 {
			t.Errorf("good %v: the code is used: %v, after %d attempts", good, d.code.Empty(), d.attempts)
		}
	}
}

// TestPairing_EightSocketsAtOnce: of both paths together; the ninth is cut, and
// takes no place from the others.
func TestPairing_EightSocketsAtOnce(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		var open []*phone
		for i := range 8 {
			open = append(open, h.start(h.open([]string{pairPath, pairAdminPath}[i%2])))
		}
		synctest.Wait()
		h.start(h.open(pairPath)).wantEnd(0)
		h.start(h.open(pairAdminPath)).wantEnd(0)
		open[0].say(redeemText(pairCode, "phone"))
		if got := open[0].answer(); got == pairError {
			t.Error(got)
		}
		synctest.Wait()
		if l := h.devices(); len(l.Devices) != 2 {
			t.Errorf("%+v", l)
		}
	})
}

// TestPairing_StrangersFillNoLog: of each kind some lines a minute.
func TestPairing_StrangersFillNoLog(t *testing.T) {
	log := inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		for range 2 {
			for range 3 * loglimit.Lines {
				h.ask(pairAdminPath, "{}")
			}
			for range 8 {
				h.start(h.open(pairPath))
			}
			synctest.Wait()
			for range 3 * loglimit.Lines {
				h.start(h.open(pairPath)).wantEnd(0)
			}
			time.Sleep(time.Minute)
		}
	})
	for _, text := range []string{"a pairing request was answered", "a pairing socket was cut"} {
		if got := strings.Count(log, text); got != 2*loglimit.Lines {
			t.Errorf("%d lines of %q in two minutes", got, text)
		}
	}
}

// TestPairing_FiveSecondsInAll: for a socket that says nothing, one that begins
// to, one whose answer is slow, and one that does not take it.
func TestPairing_FiveSecondsInAll(t *testing.T) {
	whole := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Text, Payload: []byte(redeemText(pairCode, "a"))})
	d := newFakeHost()
	for name, sent := range map[string][]byte{"silent": nil, "half": whole[:20]} {
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p, began := h.start(h.open(pairPath)), time.Now()
			if _, err := p.Write(sent); err != nil {
				t.Fatal(err)
			}
			p.wantEnd(0)
			within(t, name, time.Since(began), 5*time.Second, 5*time.Second)
		})
		if d.attempts != 0 {
			t.Errorf("%s: it counts as an attempt", name)
		}
	}
	d.redeem = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p, began := h.start(h.open(pairPath)), time.Now()
		p.say(redeemText(pairCode, "phone"))
		p.endsWith(0)
		within(t, "a slow answer", time.Since(began), 5*time.Second, 5*time.Second)
	})
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.open(pairPath)
		if err := p.SendText(redeemText(pairCode, "phone")); err != nil {
			t.Fatal(err)
		}
		within(t, "an answer that is not taken", h.lifetime(), 5*time.Second, 5100*time.Millisecond)
	})
}

// TestPairing_AHandlerThatFallsOver: takes neither the process nor a secret with
// it.
func TestPairing_AHandlerThatFallsOver(t *testing.T) {
	d := newFakeHost()
	d.redeem = func(context.Context) error { panic(pairCode) }
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.start(h.open(pairPath))
		p.say(redeemText(pairCode, "phone"))
		p.wantEnd(0)
		h.connect("").alive()
	})
}
