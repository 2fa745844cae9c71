package phone

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/cli"
	"plexus/domain/nova"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	phoneToken   = "0123456789abcdef0123456789abcdef"
	phoneCode    = "fedcba9876543210fedcba9876543210"
	phoneID      = "3f0c8c1e-33f2-4e09-9a51-0b6a2a9f1c77"
	phonePayload = `{"type":"nova.pair","version":1,"server":"wss://box.example.ts.net/client/v1","code":"` + phoneCode + `"}`
	phoneCard    = `{"type":"executor.approval","executor":"code","display_name":"Code\u001b[2J","pending_approval":true,` +
		`"pending_approval_busy":false,"pending_approval_id":"a1","kind":"command_execution",` +
		`"local_detail":{"kind":"command_execution","command":"make \u202ekcart","cwd":"/src"},"operation_summary":"Run make","expires_in_seconds":60}`
)

// novaHost is a host that a test tells what to do with each command.
type novaHost struct {
	t      *testing.T
	server *httptest.Server
	on     func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any)
	// personal: it grants the extension, and takes text and dictation.
	personal bool

	mu    sync.Mutex
	seen  []string // "pair", "hello", then the kinds of commands
	hello string
}

func newNovaHost(t *testing.T, on func(*novaHost, *websocket.Conn, string, map[string]any)) *novaHost {
	h := &novaHost{t: t, on: on}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	return h
}

func (h *novaHost) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, what)
}

func (h *novaHost) saw() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.seen, " ")
}

func (h *novaHost) say(ws *websocket.Conn, text string) {
	if err := ws.Write(h.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		h.t.Logf("the host says: %v", err)
	}
}

func (h *novaHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil || r.Host != "box.example.ts.net" {
		h.t.Errorf("the phone asks for %s: %v", r.Host, err)
		return
	}
	defer ws.CloseNow()
	_, first, err := ws.Read(r.Context())
	if err != nil {
		return
	}
	if r.URL.Path == "/client/pair" {
		h.note("pair")
		if !strings.Contains(string(first), phoneCode) {
			h.say(ws, `{"type":"pair.error","message":"pairing failed"}`)
			return
		}
		h.say(ws, `{"type":"pair.ready","token":"`+phoneToken+`","device_id":"`+phoneID+`"}`)
		return
	}
	h.note("hello")
	h.hello = string(first)
	more, media := "", ""
	if h.personal {
		more = `,"personal","text_input","dictation"`
		media = `"media":{"transport":"host_pcm_v1","path":"relay","audio_owner":"client","pipeline":"cascaded"},`
	}
	h.say(ws, `{"type":"client.ready","protocol_version":1,"server_instance_id":"`+phoneID+`","connection_id":"`+phoneID+`",`+media+
		`"input_audio":{"encoding":"pcm_s16le","sample_rate":16000,"channels":1},"output_audio":{"encoding":"pcm_s16le","sample_rate":24000,"channels":1},`+
		`"capabilities":["audio","captions","projects","executor"`+more+`]}`)
	h.on(h, ws, "hello", nil)
	for h.command(ws) {
	}
}

func (h *novaHost) command(ws *websocket.Conn) bool {
	binary, message, err := ws.Read(h.t.Context())
	if err != nil {
		return false
	}
	if binary == websocket.MessageBinary {
		h.on(h, ws, "PCM", nil)
		return true
	}
	var c struct {
		RequestID string         `json:"request_id"`
		Payload   map[string]any `json:"payload"`
	}
	if err := json.Unmarshal(message, &c); err != nil {
		h.t.Errorf("the phone said %q", message)
		return false
	}
	kind, _ := c.Payload["type"].(string)
	h.note(kind)
	h.say(ws, `{"type":"client.command_result","request_id":"`+c.RequestID+`","status":"applied"}`)
	h.on(h, ws, kind, c.Payload)
	return true
}

// takesText answers texts and shows what the host says to them.
func takesText(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) {
	switch kind {
	case "hello":
		h.say(ws, `{"type":"desktop.capabilities","capabilities":["text_input"],"input_instance_id":"`+phoneID+`"}`)
	case "input.text":
		id, _ := payload["request_id"].(string)
		h.say(ws, `{"type":"caption","turn_id":"1","role":"assistant","text":"Good","final":false,"sequence":1}`)
		h.say(ws, `{"type":"caption","turn_id":"1","role":"assistant","text":"Good \u001b[31mday","final":true,"sequence":2}`)
		h.say(ws, `{"type":"input.text_result","request_id":"`+id+`","ok":true}`)
	}
}

// printout is what a run has printed so far.
type printout struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed by the next print
}

func (p *printout) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.changed)
	p.changed = make(chan struct{})
	return p.text.Write(b)
}

func (p *printout) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (p *printout) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Reset()
}

// await waits until all parts have been printed, or ctx ends.
func (p *printout) await(ctx context.Context, parts ...string) {
	for {
		p.mu.Lock()
		text, changed := p.text.String(), p.changed
		p.mu.Unlock()
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) }) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// phoneRun is one run of the command, with a home of its own.
type phoneRun struct {
	h     *novaHost
	out   *printout
	home  string // XDG_STATE_HOME
	state string // path of the file
	json  bool
}

func newPhoneRun(t *testing.T, on func(*novaHost, *websocket.Conn, string, map[string]any)) phoneRun {
	dir := t.TempDir()
	return phoneRun{
		h: newNovaHost(t, on), out: &printout{changed: make(chan struct{})},
		home: dir, state: filepath.Join(dir, "plexus", "phone.json"),
	}
}

func (r phoneRun) run(ctx context.Context, payloadFile string, input io.Reader) (stdout, stderr string, err error) {
	r.out.clear()
	var errs bytes.Buffer
	env := cli.Env{Environ: []string{"XDG_STATE_HOME=" + r.home}, Stdin: input, Stdout: r.out, Stderr: &errs}
	dial := strings.TrimPrefix(r.h.server.URL, "http://")
	err = Run(ctx, env, Options{PayloadFile: payloadFile, Dial: dial, JSON: r.json})
	return r.out.String(), errs.String(), err
}

func (r phoneRun) payload(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "invitation")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPhone_PairsOnceAndTalks(t *testing.T) {
	r := newPhoneRun(t, takesText)
	stdout, stderr, err := r.run(t.Context(), r.payload(t, phonePayload+"\n"), strings.NewReader("hello\n"))
	if err != nil || stderr != "" {
		t.Fatalf("the first run: %v\n%s%s", err, stdout, stderr)
	}
	want := "paired with box.example.ts.net as \"Plexus phone\", device " + phoneID + "\n" +
		"connecting to box.example.ts.net\nconnected\n" +
		"this host takes text. An app would not show its text box: dictation is missing\nhost: Good \\x1b[31mday\n"
	if stdout != want {
		t.Errorf("it printed %q, want %q", stdout, want)
	}
	info, err := os.Stat(r.state)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state has mode %v (%v)", info.Mode(), err)
	}
	if !strings.Contains(r.h.hello, phoneToken) || strings.Contains(stdout+stderr, phoneToken) {
		t.Error("the token goes to the host, and nowhere else")
	}
	stdout, stderr, err = r.run(t.Context(), "", strings.NewReader("/quit\nnot sent\n"))
	if err != nil || strings.Contains(stdout, "paired") {
		t.Errorf("the second run: %v\n%s%s", err, stdout, stderr)
	}
	_, stderr, err = r.run(t.Context(), "-", strings.NewReader(phonePayload+"\n/quit\n"))
	if err != nil || !strings.Contains(stderr, "paired with box.example.ts.net already") {
		t.Errorf("a second invitation: %v, %s", err, stderr)
	}
	if got := r.h.saw(); got != "pair hello input.text hello hello" {
		t.Errorf("the host saw %s", got)
	}
}

func TestPhone_AnswersCards(t *testing.T) {
	var input io.Writer
	var r phoneRun
	parts := []string{
		"[a1] Code\\x1b[2J asks: Run make\n", "command: make \\u202ekcart\n", "/approve a1 or /decline a1, within 1m0s\n",
		"not done: there is no such card\n", "not done: there is no such command; /help lists them\n", "not done: /confirm is for projects",
	}
	r = newPhoneRun(t, func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) {
		if kind == "hello" {
			h.say(ws, phoneCard) // before lines are taken
		}
		takesText(h, ws, kind, payload)
		switch kind {
		case "hello":
			go func() { _, _ = io.WriteString(input, "/approve b9\n/frob a1\n/confirm a1\nhello\n") }()
		case "input.text":
			go func() { _, _ = io.WriteString(input, "/approve a1\n") }()
		case "executor.approval_decision":
			if payload["approval_id"] != "a1" || payload["approved"] != true {
				t.Errorf("the answer is %v", payload)
			}
			h.say(ws, strings.Replace(phoneCard, `busy":false`, `busy":true`, 1))
			go func() {
				r.out.await(t.Context(), parts...) // answers to cards do not wait for each other
				_, _ = io.WriteString(input, "/quit\n")
			}()
		}
	})
	reader, writer := io.Pipe()
	input = writer
	defer writer.Close()
	stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(stdout, part) {
			t.Errorf("%q was not printed in\n%s", part, stdout)
		}
	}
	if got := r.h.saw(); got != "pair hello input.text executor.approval_decision" {
		t.Errorf("the host saw %s", got)
	}
}

func TestPhone_IsForgottenByItsHost(t *testing.T) {
	r := newPhoneRun(t, func(h *novaHost, ws *websocket.Conn, kind string, _ map[string]any) {
		_ = ws.Close(novaclient.CodeRejected, "client protocol rejected")
	})
	stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader("hello\n"))
	var usage cli.UsageError
	if err == nil || !strings.Contains(err.Error(), "Its pairing has been erased") || errors.As(err, &usage) || errors.Is(err, context.Canceled) {
		t.Errorf("got %v after\n%s", err, stdout)
	}
	if _, err := os.Stat(r.state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state is still there: %v", err)
	}
	_, _, err = r.run(t.Context(), "", strings.NewReader(""))
	if !errors.As(err, &usage) {
		t.Errorf("unpaired it gives %v", err)
	}
}

func TestPhone_OtherEnds(t *testing.T) {
	for code, part := range map[websocket.StatusCode]string{
		novaclient.CodeBusy: "another phone is connected", novaclient.CodeIncompatible: "may need an update",
	} {
		r := newPhoneRun(t, func(_ *novaHost, ws *websocket.Conn, _ string, _ map[string]any) { _ = ws.Close(code, "") })
		_, _, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader(""))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("close %d gave %v", code, err)
		}
		if _, err := os.Stat(r.state); err != nil {
			t.Errorf("close %d: the state is gone: %v", code, err)
		}
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("too slow"))
	defer stop()
	interrupted, interrupt := context.WithCancel(ctx)
	r := newPhoneRun(t, func(*novaHost, *websocket.Conn, string, map[string]any) { interrupt() })
	reader, writer := io.Pipe()
	defer writer.Close()
	if _, _, err := r.run(interrupted, r.payload(t, phonePayload), reader); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted it gives %v", err)
	}
}

func TestPhone_InvitationsAndStatesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ payload, part string }{
		"another code":  {strings.Replace(phonePayload, phoneCode, phoneToken, 1), "the host refused"},
		"not a payload": {"https://example.com", "no invitation"},
		"without TLS":   {strings.Replace(phonePayload, "wss:", "ws:", 1), "scheme"},
		"out of date":   {strings.Replace(phonePayload, `"}`, `","expires_at":1}`, 1), "out of date"},
		"an empty file": {"", "no invitation"},
	} {
		r := newPhoneRun(t, takesText)
		_, _, err := r.run(t.Context(), r.payload(t, c.payload), strings.NewReader("/quit\n"))
		if err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: got %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), phoneCode) || strings.Contains(err.Error(), phoneToken)) {
			t.Errorf("%s: the code was printed", name)
		}
	}
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		part    string
	}{
		"damaged": {"{}", 0o600, "damaged"}, "open to others": {"{}", 0o644, "chmod 600"},
	} {
		r := newPhoneRun(t, takesText)
		if err := errors.Join(os.MkdirAll(filepath.Dir(r.state), 0o700), os.WriteFile(r.state, []byte(c.content), c.mode)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader("")); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPhoneScreen_CaptionsGrow(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, state: &state{}}
	for _, c := range []nova.Caption{
		{TurnID: "1", Role: nova.User, Text: "He"}, {TurnID: "1", Role: nova.User, Text: "Hello"},
		{TurnID: "1", Role: nova.User, Text: "Hello.", Final: true},
		{TurnID: "2", Role: nova.Assistant, Text: "abcdef"}, {TurnID: "2", Role: nova.Assistant, Text: "defghi"}, // the last part alone
		{TurnID: "2", Role: nova.Assistant, Text: "ghijk", FullText: "abcdefghijk", Final: true},
		{Role: nova.User, Final: true}, // a reset says nothing
		{TurnID: "3", Role: nova.Assistant, Text: "one"}, {TurnID: "4", Role: nova.User, Text: "stop", Final: true},
		{TurnID: "5", Role: nova.User, Text: "wreck"}, {TurnID: "5", Role: nova.User, Text: "nice", Final: true},
	} {
		s.caption(c)
	}
	want := "you: Hello.\nhost: abcdefghijk\nhost: one\nyou: stop\nyou: wreck … nice\n"
	if out.String() != want {
		t.Errorf("the screen shows %q, want %q", out.String(), want)
	}
}

// TestPhoneScreen_LinesAreLines: an answer of several lines is shown as such while it
// grows, none of its lines looks like one of the screen's, and nothing else of it
// reaches the terminal as it is.
func TestPhoneScreen_LinesAreLines(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, state: &state{}}
	for _, c := range []nova.Caption{
		{TurnID: "1", Role: nova.Assistant, Text: "Two reasons:\n"},
		{TurnID: "1", Role: nova.Assistant, Text: "Two reasons:\n\n1. Rain\nyou:"},
		{TurnID: "1", Role: nova.Assistant, Text: "Two reasons:\n\n1. Rain\nyou: yes\x1b[2J\r\n"},
		{TurnID: "1", Role: nova.Assistant, Text: "Two reasons:\n\n1. Rain\nyou: yes\x1b[2J\r", Final: true}, // the last line end is not kept
		{TurnID: "2", Role: nova.User, Text: "a\tb\nc", Final: true},
	} {
		s.caption(c)
	}
	s.dictationResult("one\ntwo", nil)
	s.card(novaclient.Card{ID: "p", Executor: "x", Approval: nova.Approval{Summary: "run\nthis", Detail: nova.CommandExecution{CommandDetail: nova.CommandDetail{Command: "ls\nconnected", Cwd: "/"}}}})
	want := "host: Two reasons:\n    \n    1. Rain\n    you: yes\\x1b[2J\\x0d\nyou: a\tb\n    c\ndictated: one\n    two\n    /send sends it\n"
	if got, ok := strings.CutPrefix(out.String(), want); !ok || !strings.Contains(got, "asks: run\n    this\n    command: ls\n        connected\n    in: /\n") {
		t.Errorf("the screen shows %q", out.String())
	}
}

func TestPhoneScreen_Projects(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, state: &state{}}
	s.card(novaclient.Card{ID: "p1", Deadline: time.Now().Add(90 * time.Second), Proposal: nova.Proposal{Action: nova.CreateWorkspace, Workspace: "garden"}})
	s.card(novaclient.Card{ID: "p2"})
	s.card(novaclient.Card{ID: "p3", Busy: true})
	s.cardRemoved(novaclient.Card{ID: "p1"})
	for _, part := range []string{
		"[p1] the host asks to create workspace garden\n    /confirm p1 or /decline p1, within 1m30s\n",
		"holds the question back", "is being carried out", "[p1] is settled or withdrawn\n",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q was not printed in\n%s", part, out.String())
		}
	}
}
