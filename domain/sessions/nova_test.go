package sessions

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"plexus/domain/nova"
	"plexus/domain/secret"
)

const (
	server     = "11111111-1111-4111-8111-111111111111"
	input      = "22222222-2222-4222-8222-222222222222"
	connection = "33333333-3333-4333-8333-333333333333"
	token      = "0123456789abcdef0123456789abcdef"
)

// start is when every session of the tests was opened.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newNova() *Nova { return NewNova(NovaIDs{server, input, connection}, start) }

// typing is a host that takes text and has the personal extension.
var typing = Offer{Input: nova.TextInput, Personal: true, Admits: func(method string) bool { return method == "state" }}

// helloWith is a hello with more members.
func helloWith(members string) []byte {
	return []byte(`{"type":"hello","token":"` + token + `","protocol_version":1` + members + `}`)
}

// admitted is a session whose client has been let in.
func admitted(t *testing.T, members string) *Nova {
	t.Helper()
	n := newNova()
	n.Text(helloWith(members), start)
	n.TokenChecked(TokenKnown)
	n.SlotAcquired(true, typing)
	if e := n.AdmissionDone(nil, start); e.Close != 0 || n.Busy() {
		t.Fatalf("a good hello gave %+v", e)
	}
	return n
}

func command(id, connectionID, payload string) []byte {
	return fmt.Appendf(nil, `{"type":"client.command","request_id":%q,"connection_id":%q,"payload":%s}`, id, connectionID, payload)
}

// onset is the payload of a control that the host has to act upon.
func onset(id string) string { return fmt.Sprintf(`{"type":"speech.onset","speech_id":%q}`, id) }

func want(t *testing.T, what string, got, want Effects) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s gave %+v, want %+v", what, got, want)
	}
}

func receipted(id string, status nova.Status) Effects {
	return Effects{Send: []nova.Message{nova.Receipt{RequestID: id, Status: status}}}
}

func TestN1_ReadyIsTheFirstFrame(t *testing.T) {
	n := newNova()
	want(t, "hello", n.Text(helloWith(""), start), Effects{Call: CheckToken{secret.New(token)}})
	want(t, "a known token", n.TokenChecked(TokenKnown), Effects{Call: AcquireSlot{}})
	if readySent(n) {
		t.Error("greeted before the place was given")
	}
	want(t, "the place", n.SlotAcquired(true, Offer{Input: nova.TextInput}), Effects{
		Send: []nova.Message{
			nova.NewReady(server, connection, nova.TextInput, false),
			nova.DesktopCapabilities{TextInput: true, InputInstanceID: input},
		},
		Call: Admission{},
	})
	if !readySent(n) || !n.Busy() {
		t.Error("admission must be under way after ready")
	}
	want(t, "admission", n.AdmissionDone(nil, start), Effects{})
	if n.Busy() {
		t.Error("busy after admission")
	}
}

func TestN2_WithoutAPipelineReadyHasNoMedia(t *testing.T) {
	for in, wanted := range map[nova.Input]struct {
		pipeline nova.Pipeline
		frames   int
	}{
		nova.NoInput: {"", 1}, nova.TextInput: {"", 2}, nova.TextAndDictation: {nova.Cascaded, 2},
	} {
		n := newNova()
		n.Text(helloWith(""), start)
		n.TokenChecked(TokenKnown)
		e := n.SlotAcquired(true, Offer{Input: in})
		if len(e.Send) != wanted.frames {
			t.Fatalf("input %d: %d frames, want %d", in, len(e.Send), wanted.frames)
		}
		if r, ok := e.Send[0].(nova.Ready); !ok || r.Pipeline != wanted.pipeline {
			t.Errorf("input %d: %+v, want pipeline %q", in, e.Send[0], wanted.pipeline)
		}
	}
}

// TestN3_N8_WhatAHelloIsRefusedFor: the token is judged before everything else,
// and a refusal never comes to a place or an admission.
func TestN3_N8_WhatAHelloIsRefusedFor(t *testing.T) {
	for name, c := range map[string]struct {
		hello   string
		verdict TokenVerdict // 0: it is refused before the token is looked up
		reason  CloseReason
	}{
		"no JSON":             {`hello`, 0, BadHello},
		"an array":            {`[]`, 0, BadHello},
		"another type":        {`{"type":"hallo","token":"` + token + `","protocol_version":1}`, 0, BadHello},
		"no token":            {`{"type":"hello","protocol_version":1}`, 0, BadHello},
		"a token in capitals": {`{"type":"hello","token":"` + strings.ToUpper(token) + `","protocol_version":1}`, 0, BadHello},
		"too long":            {string(helloWith(`,"x":"` + strings.Repeat("y", nova.MaxText) + `"`)), 0, BadHello},
		"unknown token":       {string(helloWith("")), TokenUnknown, AuthRejected},
		"a token unchecked":   {string(helloWith("")), TokenUnchecked, Internal},
		"unknown, version 2":  {`{"type":"hello","token":"` + token + `","protocol_version":2}`, TokenUnknown, AuthRejected},
		"version 2":           {`{"type":"hello","token":"` + token + `","protocol_version":2}`, TokenKnown, UnsupportedProtocol},
		"version as a string": {`{"type":"hello","token":"` + token + `","protocol_version":"1"}`, TokenKnown, UnsupportedProtocol},
		"direct media only":   {string(helloWith(`,"media":{"transports":["qwen_aoq_v1"]}`)), TokenKnown, UnsupportedMedia},
		"no transport":        {string(helloWith(`,"media":{"transports":[]}`)), TokenKnown, UnsupportedMedia},
		"media null":          {string(helloWith(`,"media":null`)), TokenKnown, UnsupportedMedia},
		"a key too many":      {string(helloWith(`,"media":{"transports":["host_pcm_v1"],"x":1}`)), TokenKnown, UnsupportedMedia},
		"French":              {string(helloWith(`,"language":"fr"`)), TokenKnown, UnsupportedLanguage},
		"language null":       {string(helloWith(`,"language":null`)), TokenKnown, UnsupportedLanguage},
	} {
		n := newNova()
		e := n.Text([]byte(c.hello), start)
		if c.verdict != 0 {
			if _, asks := e.Call.(CheckToken); !asks {
				t.Errorf("%s: %+v, want the token checked", name, e)
				continue
			}
			e = n.TokenChecked(c.verdict)
		}
		want(t, name, e, Effects{Close: c.reason})
		want(t, name+", then a good hello", n.Text(helloWith(""), start), Effects{})
	}
	n := newNova()
	n.Text(helloWith(`,"media":{"transports":["qwen_aoq_v1","host_pcm_v1"]}`), start)
	want(t, "a list with the relay in it", n.TokenChecked(TokenKnown), Effects{Call: AcquireSlot{}})
}

func TestN3_ABinaryFirstMessageIsNoHello(t *testing.T) {
	want(t, "binary", newNova().Binary([]byte{0, 0}), Effects{Close: BadHello})
}

// TestN4_TheHelloHasThreeSeconds: until it is accepted, not only until it came.
func TestN4_TheHelloHasThreeSeconds(t *testing.T) {
	for name, said := range map[string]bool{"silent": false, "still being checked": true} {
		n := newNova()
		if said {
			n.Text(helloWith(""), start)
		}
		want(t, name+" before", n.Tick(start.Add(HelloLimit-1)), Effects{})
		want(t, name+" at the deadline", n.Tick(start.Add(HelloLimit)), Effects{Close: HelloTimeout})
		want(t, name+" after", n.TokenChecked(TokenKnown), Effects{})
	}
	n := admitted(t, "")
	if e := n.Tick(start.Add(HelloLimit)); e.Close != 0 {
		t.Errorf("an admitted client was closed for %v", e.Close)
	}
}

func TestN5_TheOneClientsPlaceIsTaken(t *testing.T) {
	n := newNova()
	n.Text(helloWith(""), start)
	n.TokenChecked(TokenKnown)
	want(t, "no place", n.SlotAcquired(false, typing), Effects{Close: ConcurrentClient})
	if readySent(n) {
		t.Error("a client without a place was greeted")
	}
}

func TestN6_AnOddFrameIsAFault(t *testing.T) {
	for size, reason := range map[int]CloseReason{0: ProtocolFault, 1: ProtocolFault, 2: 0, 3: ProtocolFault, nova.MaxPCM: 0} {
		pcm := make([]byte, size)
		wanted := Effects{Close: reason}
		if reason == 0 {
			wanted.Audio = pcm
		}
		want(t, fmt.Sprintf("%d bytes", size), admitted(t, "").Binary(pcm), wanted)
	}
}

func TestN7_EachConnectionNamesItselfAndTheProcess(t *testing.T) {
	other := NewNova(NovaIDs{server, input, "44444444-4444-4444-8444-444444444444"}, start)
	other.Text(helloWith(""), start)
	other.TokenChecked(TokenKnown)
	ready, ok := other.SlotAcquired(true, typing).Send[0].(nova.Ready)
	if !ok || ready.ServerInstanceID != server || ready.ConnectionID == connection {
		t.Errorf("%+v", ready)
	}
}

// TestN10_TheLanguageIsTheConnectionsOwn: a connection without one gets the
// host's default, whatever came before.
func TestN10_TheLanguageIsTheConnectionsOwn(t *testing.T) {
	for member, language := range map[string]nova.Language{`,"language":"en"`: nova.English, `,"language":"zh-CN"`: nova.Chinese, "": ""} {
		n := newNova()
		n.Text(helloWith(member), start)
		n.TokenChecked(TokenKnown)
		if got := n.SlotAcquired(true, typing).Call; got != (Admission{Language: language}) {
			t.Errorf("%q: %+v", member, got)
		}
	}
}

// TestPersonal_CountsFromTheGoodTokenOn: until then the other column of the
// close codes holds.
func TestPersonal_CountsFromTheGoodTokenOn(t *testing.T) {
	n := newNova()
	n.Text(helloWith(`,"capabilities":["personal"]`), start)
	if n.Personal() {
		t.Error("personal before the token was known")
	}
	n.TokenChecked(TokenKnown)
	if !n.Personal() {
		t.Error("not personal although it offered")
	}
	want(t, "overflow while the place is sought", n.Overflow(), Effects{Close: InputOverflow})
}

func TestOverflow_OfAStrangerIsNoHello(t *testing.T) {
	want(t, "overflow", newNova().Overflow(), Effects{Close: BadHello})
	n := newNova()
	n.Text(helloWith(""), start)
	want(t, "while the token is checked", n.Overflow(), Effects{Close: BadHello})
	want(t, "of a client", admitted(t, "").Overflow(), Effects{Close: InputOverflow})
}

func TestN14_ARepeatedCommandIsDeliveredOnce(t *testing.T) {
	n := admitted(t, "")
	want(t, "the command", n.Text(command("r", connection, onset("a")), start), Effects{Call: Deliver{nova.SpeechOnset{SpeechID: "a"}}})
	want(t, "its delivery", n.Delivered(nil), receipted("r", nova.Applied))
	same := `{"speech_id":"\u0061","unknown":[1.50],"type":"speech.onset"}`
	want(t, "the same in other words", n.Text(command("r", connection, same), start), receipted("r", nova.Applied))
}

func TestN15_AConflictingRetryIsRejected(t *testing.T) {
	n := admitted(t, "")
	n.Text(command("r", connection, onset("a")), start)
	n.Delivered(nil)
	want(t, "another payload", n.Text(command("r", connection, onset("b")), start), receipted("r", nova.Rejected))
	want(t, "the first again", n.Text(command("r", connection, onset("a")), start), receipted("r", nova.Applied))
}

func TestN16_AnotherConnectionsCommandIsStale(t *testing.T) {
	n := admitted(t, "")
	want(t, "another ID", n.Text(command("r", server, `{"type":"nonsense"}`), start), receipted("r", nova.Stale))
	if e := n.Text(command("r", connection, onset("a")), start); e.Call == nil {
		t.Errorf("a stale command was recorded: %+v", e)
	}
}

func TestN17_AFailedCommandUsesUpItsEntry(t *testing.T) {
	n := admitted(t, "")
	n.Text(command("r", connection, onset("a")), start)
	want(t, "a failure", n.Delivered(errors.New("no")), receipted("r", nova.Rejected))
	want(t, "a repetition", n.Text(command("r", connection, onset("a")), start), receipted("r", nova.Rejected))
	if len(n.ledger.entries) != 1 {
		t.Errorf("%d entries", len(n.ledger.entries))
	}
}

// TestN19_TheLedgerIsFullAfter256: the last one gets its true receipt, then the
// client is told to reconnect.
func TestN19_TheLedgerIsFullAfter256(t *testing.T) {
	n := admitted(t, "")
	for i := range MaxCommands {
		id := fmt.Sprint(i)
		if e := n.Text(command(id, connection, onset(id)), start); e.Call == nil {
			t.Fatalf("command %d was not delivered: %+v", i, e)
		}
		wanted := receipted(id, nova.Applied)
		if i == MaxCommands-1 {
			wanted.Close = ControlCapacity
		}
		want(t, "delivery "+id, n.Delivered(nil), wanted)
	}
	want(t, "command 257", n.Text(command("256", connection, onset("x")), start), Effects{})
	if status, known := n.ledger.begin("256", nova.Fingerprint{}); status != nova.Rejected || !known {
		t.Errorf("the full ledger takes command 257: %q, %v", status, known)
	}
}

// TestN20_WhatIsNoCommandIsAFault: no receipt, no delivery.
func TestN20_WhatIsNoCommandIsAFault(t *testing.T) {
	good := string(command("r", connection, onset("a")))
	for name, text := range map[string]string{
		"no JSON":             `x`,
		"hello again":         string(helloWith("")),
		"unknown control":     string(command("r", connection, `{"type":"camera.frame"}`)),
		"debug board":         string(command("r", connection, `{"type":"debug.board"}`)),
		"direct media":        `{"type":"aoq.connect"}`,
		"a fifth member":      strings.Replace(good, `{"type"`, `{"x":1,"type"`, 1),
		"payload null":        string(command("r", connection, `null`)),
		"an unsafe integer":   string(command("r", connection, `{"type":"playback.done","utterance_id":"u","generation_epoch":9007199254740992}`)),
		"not finite":          string(command("r", connection, `{"type":"speech.onset","speech_id":"a","t_render_ms":1e999}`)),
		"16,385 bytes":        good + strings.Repeat(" ", nova.MaxText+1-len(good)),
		"a bad diagnostic":    string(command("r", connection, `{"type":"connection.diagnostic","phase":"closed"}`)),
		"an unsafe telemetry": string(command("r", connection, `{"type":"playback.telemetry","window_ms":9007199254740992}`)),
	} {
		want(t, name, admitted(t, "").Text([]byte(text), start), Effects{Close: ProtocolFault})
	}
	if e := admitted(t, "").Text([]byte(good+strings.Repeat(" ", nova.MaxText-len(good))), start); e.Call == nil {
		t.Errorf("16,384 bytes: %+v", e)
	}
}

// TestN22_OneCommandAtATime: while one is delivered nothing else is taken.
func TestN22_OneCommandAtATime(t *testing.T) {
	n := admitted(t, "")
	n.Text(command("1", connection, onset("a")), start)
	if !n.Busy() {
		t.Fatal("not busy during a delivery")
	}
	n.Delivered(nil)
	if n.Busy() {
		t.Error("busy after the delivery")
	}
	want(t, "a delivery nobody waits for", n.Delivered(nil), Effects{})
}

func TestAdmission_ThatFailsIsAFault(t *testing.T) {
	n := newNova()
	n.Text(helloWith(""), start)
	n.TokenChecked(TokenKnown)
	n.SlotAcquired(true, typing)
	want(t, "a failed admission", n.AdmissionDone(errors.New("no"), start), Effects{Close: ProtocolFault})
}

// readySent reports whether client.ready was sent.
func readySent(n *Nova) bool { return n.phase == admitting || n.phase == ready }
