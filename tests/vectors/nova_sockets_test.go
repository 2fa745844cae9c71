package vectors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"plexus/adapters/adminweb/desktop"
	"plexus/adapters/memory"
	"plexus/adapters/novaws"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/pairing"
	"plexus/ports"
	"plexus/usecases/devices"
	"plexus/usecases/personal"
)

// What became of a control, in the words of a receipt, or that it ended the socket.
const (
	taken    = "applied"
	rejected = "rejected"
	faulty   = "closed 1002"
)

// socketControls are asked of both sockets, each with the answer that both give.
var socketControls = map[string]struct{ control, want string }{
	"a text":                            {`{"type":"input.text","text":"hello","request_id":"t","conversation_id":"chat:main"}`, taken},
	"a text without an id":              {`{"type":"input.text","text":"hello"}`, taken},
	"a text of an unknown conversation": {`{"type":"input.text","text":"hello","request_id":"t","conversation_id":"nowhere"}`, rejected},
	"the same without an id":            {`{"type":"input.text","text":"hello","conversation_id":"nowhere"}`, rejected},
	"no text":                           {`{"type":"input.text","text":"","request_id":"t","conversation_id":"chat:main"}`, rejected},
	"blanks":                            {`{"type":"input.text","text":" \n\u3000","request_id":"t"}`, rejected},
	"blanks without an id":              {`{"type":"input.text","text":" \n\u3000"}`, rejected},
	"a long text":                       {`{"type":"input.text","text":"` + strings.Repeat("x", 4001) + `","request_id":"t"}`, rejected},
	"a long text without an id":         {`{"type":"input.text","text":"` + strings.Repeat("字", 4001) + `"}`, rejected},
	"an article":                        {`{"type":"input.text","text":"` + strings.Repeat("字", 20_000) + `","request_id":"t"}`, rejected},
	"an article without an id":          {`{"type":"input.text","text":"` + strings.Repeat(`\u5b57`, 10_000) + `"}`, rejected},
	"a good text in a long message":     {`{"type":"input.text","text":"hello"` + strings.Repeat(" ", 17_000) + `}`, faulty},
	"another control that is long":      {`{"type":"speech.onset","speech_id":"s"` + strings.Repeat(" ", 17_000) + `}`, faulty},
	"a text that is none":               {`{"type":"input.text","text":["hello"]}`, faulty},
	"a pong":                            {`{"type":"clock.pong","ping_id":"p","t_render_ms":1}`, taken},
	"speech that begins":                {`{"type":"speech.onset","speech_id":"s"}`, taken},
	"playback":                          {`{"type":"playback.done","utterance_id":"u","generation_epoch":1}`, taken},
	"telemetry that is wrong":           {`{"type":"playback.telemetry","final":7}`, taken},
	"a diagnostic":                      {`{"type":"connection.diagnostic","phase":"closed","close_code":1006,"reason":"abnormal"}`, taken},
	"a confirmation":                    {`{"type":"project.confirmation_decision","proposal_id":"p","confirmed":true}`, taken},
	"a confirmation of nowhere":         {`{"type":"project.confirmation_decision","proposal_id":"p","confirmed":true,"conversation_id":"x"}`, rejected},
	"an approval":                       {`{"type":"executor.approval_decision","executor":"e","approval_id":"a","approved":true}`, taken},
	"an approval of nowhere":            {`{"type":"executor.approval_decision","executor":"e","approval_id":"a","approved":false,"conversation_id":"x"}`, rejected},
	"a task's end":                      {`{"type":"executor.task_action","request_id":"a","work_id":"w","executor":"e","action":"cancel"}`, rejected},
	"a task's folder with a path":       {`{"type":"executor.task_action","request_id":"a","work_id":"w","executor":"e","action":"open","path":"/"}`, faulty},
	"more of progress":                  {`{"type":"coding.progress_narration","mode":"continuous"}`, rejected},
	"a draft":                           {`{"type":"input.dictation","id":"d","action":"start"}`, taken},
	"the end of no draft":               {`{"type":"input.dictation","id":"d","action":"finish"}`, rejected},
	"giving up no draft":                {`{"type":"input.dictation","id":"d","action":"cancel"}`, taken},
	"voice":                             {`{"type":"input.audio","conversation_id":"chat:main"}`, rejected},
	"voice of nobody":                   {`{"type":"input.audio"}`, rejected},
	"a command":                         {`{"type":"personal.command","request_id":"c","method":"conversations.create","params":{"title":"New"}}`, taken},
	"a command out of order":            {`{"type":"personal.command","request_id":"c","method":"conversations.create","params":{"title":7}}`, taken},
	"a command to speak":                {`{"type":"personal.command","request_id":"c","method":"conversations.voice","params":{"id":"chat:main","enabled":true}}`, taken},
	"a command that nobody knows":       {`{"type":"personal.command","request_id":"c","method":"files.delete"}`, rejected},
	"a repeated hello":                  {`{"type":"hello"}`, faulty},
	"a camera":                          {`{"type":"camera.frame"}`, faulty},
}

func TestK17_BothSocketsAnswerAlike(t *testing.T) {
	for name, c := range socketControls {
		t.Run(name, func(t *testing.T) {
			onBothSockets(t, func(t *testing.T, socket string, p *peer) {
				if got := p.ask(c.control); got != c.want {
					t.Errorf("%s: %s, want %s", socket, got, c.want)
				}
			})
		})
	}
}

// What the vectors say of a control holds on both sockets.
func TestN20_K17_ControlVectorsOnBothSockets(t *testing.T) {
	eachMessage(t, "host", "control", func(t *testing.T, v messageVector) {
		onBothSockets(t, func(t *testing.T, socket string, p *peer) {
			got := p.ask(string(v.bytes(t)))
			switch {
			case (got == faulty) != (v.Verdict == "refuse"),
				v.Verdict == "reject" && got != rejected,
				v.Admission == "unknown" && got != rejected,
				v.Admission == "not admitted" && (got == rejected) != (socket == "phone"):
				t.Errorf("%s: %s; the vector says %s %s", socket, got, v.Verdict, v.Admission)
			}
		})
	})
}

func TestK17_BothSocketsTakeSpeech(t *testing.T) {
	onBothSockets(t, func(t *testing.T, socket string, p *peer) {
		if got := p.ask(`{"type":"input.dictation","id":"d","action":"start"}`); got != taken {
			t.Fatalf("%s: the draft is %s", socket, got)
		}
		if err := p.Send(make([]byte, 6400)); err != nil {
			t.Fatal(err)
		}
		p.ask(`{"type":"input.dictation","id":"d","action":"finish"}`)
		if text := p.last["input.transcription"]["text"]; text != "dictated" {
			t.Errorf("%s: heard %v", socket, text)
		}
		if err := p.Send(make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(`{"type":"input.audio"}`); got != faulty {
			t.Errorf("%s: after half a sample it is %s", socket, got)
		}
	})
}

// While the host has no voice, who asks for it is told so.
func TestK10_VoiceIsRefusedByItsName(t *testing.T) {
	onBothSockets(t, func(t *testing.T, socket string, p *peer) {
		p.ask(`{"type":"personal.command","request_id":"c","method":"conversations.voice","params":{"id":"chat:main","enabled":true}}`)
		if r := p.last["personal.result"]; r["ok"] != false || r["error"] != "voice_unavailable" {
			t.Errorf("%s: conversations.voice gave %v", socket, r)
		}
		if got := p.ask(`{"type":"input.audio","conversation_id":"chat:main"}`); got != rejected {
			t.Errorf("%s: input.audio is %s", socket, got)
		}
		if got := p.ask(`{"type":"input.text","text":"hello","conversation_id":"chat:main"}`); got != taken {
			t.Errorf("%s: afterwards a text is %s", socket, got)
		}
	})
}

// A client without the personal extension erases its pairing after a 4003.
func TestK16_ALegacyClientKeepsItsPairing(t *testing.T) {
	for _, name := range []string{"no text", "blanks", "blanks without an id", "a long text", "an article", "an article without an id"} {
		inBubble(t, func(t *testing.T, host *personal.Host) {
			p := phoneOf(t, host, "")
			if got := p.ask(socketControls[name].control); got != rejected {
				t.Errorf("%s: %s", name, got)
			}
			if got := p.ask(`{"type":"input.text","text":"hello"}`); got != taken {
				t.Errorf("after %s a good text is %s", name, got)
			}
		})
	}
}

// onBothSockets runs a test on the socket of a phone and on that of the owner's page,
// each of a host with a model and a recognizer.
func onBothSockets(t *testing.T, test func(t *testing.T, socket string, p *peer)) {
	t.Helper()
	inBubble(t, func(t *testing.T, host *personal.Host) {
		test(t, "phone", phoneOf(t, host, `,"capabilities":["personal"]`))
	})
	inBubble(t, func(t *testing.T, host *personal.Host) { test(t, "page", pageOf(t, host)) })
}

func inBubble(t *testing.T, test func(t *testing.T, host *personal.Host)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, personalHost(t, func(d *personal.Deps) {
			d.Model, d.Transcriber = &memory.ScriptedModel{}, &memory.Transcriber{Text: "dictated"}
		}))
	})
}

// peer is one client: it notes what comes, and says what became of a control.
type peer struct {
	*wstest.Peer
	t        *testing.T
	id       string // of a phone's connection; "" on the page's socket
	requests int
	last     map[string]map[string]any // the last message of each type since the last control
	frames   chan map[string]any       // closed at the end
	end      error                     // set before that
}

func newPeer(t *testing.T, h http.Handler, r *http.Request) *peer {
	t.Helper()
	socket, response := wstest.Pipe(h, r)
	if socket == nil {
		t.Fatalf("the upgrade was answered %d", response.StatusCode)
	}
	t.Cleanup(func() { _ = socket.Close() })
	p := &peer{Peer: socket, t: t, frames: make(chan map[string]any, 1000)}
	go func() {
		defer close(p.frames)
		for {
			f, err := socket.ReceiveMessage()
			if err != nil {
				p.end = err
				return
			}
			var m map[string]any
			if p.end = json.Unmarshal(f.Payload, &m); p.end != nil {
				return
			}
			p.frames <- m
		}
	}()
	return p
}

func phoneOf(t *testing.T, host *personal.Host, members string) *peer {
	t.Helper()
	ids := 0
	s := novaws.New(novaws.Deps{Auth: openDoor{}, Personal: host}, novaws.Config{
		ServerInstanceID: "11111111-1111-4111-8111-111111111111", InputInstanceID: "i", Log: slog.New(slog.DiscardHandler),
		NewID: func() string { ids++; return fmt.Sprintf("33333333-3333-4333-8333-%012d", ids) },
	})
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	p := newPeer(t, s, wstest.UpgradeRequest("phone.example", "/client/v1"))
	if err := p.SendText(`{"type":"hello","token":"0123456789abcdef0123456789abcdef","protocol_version":1` + members + `}`); err != nil {
		t.Fatal(err)
	}
	p.collect()
	p.id, _ = p.last["client.ready"]["connection_id"].(string)
	return p
}

func pageOf(t *testing.T, host *personal.Host) *peer {
	t.Helper()
	s := desktop.New(desktop.Config{Host: host, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	r := wstest.UpgradeRequest("127.0.0.1:9010", "/s/x/desktop")
	r.Header.Set("Origin", "http://127.0.0.1:9010")
	p := newPeer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Serve(w, r, func(ctx context.Context) bool { <-ctx.Done(); return false })
	}), r)
	p.collect()
	return p
}

// collect notes what comes until nothing more does.
func (p *peer) collect() {
	p.last = map[string]map[string]any{}
	for {
		synctest.Wait()
		select {
		case m, ok := <-p.frames:
			if !ok {
				return
			}
			kind, _ := m["type"].(string)
			p.last[kind] = m
		default:
			return
		}
	}
}

// ask sends a control, in the envelope that a phone puts around it, and says what
// became of it.
func (p *peer) ask(control string) string {
	p.t.Helper()
	p.requests++
	if p.id != "" {
		control = fmt.Sprintf(`{"type":"client.command","request_id":"r%d","connection_id":%q,"payload":%s}`, p.requests, p.id, control)
	}
	err := p.SendText(control)
	p.collect()
	var closed *wstest.CloseError
	switch {
	case errors.As(p.end, &closed):
		return fmt.Sprint("closed ", closed.Code)
	case err != nil || p.end != nil:
		p.t.Fatalf("the socket is gone: %v, %v", err, p.end)
	}
	if result := p.last["input.text_result"]; result != nil && result["ok"] == false {
		if result["error"] != "submission_failed" {
			p.t.Errorf("the text has the error %v", result["error"])
		}
		return rejected
	}
	if receipt := p.last["client.command_result"]; receipt != nil {
		return receipt["status"].(string)
	}
	if p.id != "" {
		p.t.Error("a phone got no receipt")
	}
	return taken
}

// openDoor lets everybody in.
type openDoor struct{}

func (openDoor) Authenticate(context.Context, pairing.DeviceToken) (devices.Identity, error) {
	return devices.Identity{Master: true}, nil
}

func (openDoor) AttachClient(context.Context, devices.Identity, ports.ClientLink) (func(), bool) {
	return func() {}, true
}

func (openDoor) MayEnter(devices.Identity) bool                    { return true }
func (openDoor) TurnAway(context.Context, devices.Identity) string { return "" }
func (openDoor) AcceptsHost(string) bool                           { return true }
func (openDoor) AcceptsOrigin(string) bool                         { return true }
func (openDoor) NoPhone() bool                                     { return false }
