package phone

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"plexus/domain/conversations"
	"plexus/domain/pcm"
	"plexus/domain/workbench"
)

// workbenchHost plays a host with a workbench. More says what else it does.
type workbenchHost struct {
	t    *testing.T
	more func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) (done bool)

	mu       sync.Mutex
	snapshot workbench.MobileSnapshot
	asked    []string // method and parameters, or the text with its conversation
	inputID  string
}

func newWorkbenchHost(t *testing.T) *workbenchHost {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return &workbenchHost{t: t, inputID: phoneID, snapshot: workbench.MobileSnapshot{
		Type: "personal.state", Revision: 1,
		Memory: raw("{}"), Capabilities: raw("{}"), News: raw("{}"), PendingApprovals: raw("[]"), PendingConfirmations: raw("[]"),
		WorkbenchContext: raw("{}"), ProfilePreparation: raw("{}"), Feed: []workbench.FeedRow{}, Tasks: []workbench.TaskRow{},
		Conversations: workbench.ConversationsMember{
			SelectedID: conversations.MainID,
			Items: []workbench.ConversationRow{
				{ID: conversations.MainID, Kind: conversations.Chat, Title: "Main"},
				{ID: conversations.ProactiveID, Kind: conversations.Proactive, Title: "Remind\x1bers"},
			},
			Messages: []workbench.MessageRow{},
		},
		Life: workbench.LifeMember{Todos: []workbench.TodoRow{}, Ideas: []workbench.IdeaRow{}, Goals: []workbench.GoalRow{}},
	}}
}

// push sends the snapshot after a change.
func (d *workbenchHost) push(h *novaHost, ws *websocket.Conn, change func(*workbench.MobileSnapshot)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.snapshot)
	d.snapshot.Revision++
	frame, err := json.Marshal(d.snapshot)
	if err != nil {
		d.t.Error(err)
	}
	h.say(ws, string(frame))
}

func (d *workbenchHost) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
}

func (d *workbenchHost) saw() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.asked, "\n")
}

func (d *workbenchHost) on(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) {
	if d.more != nil && d.more(h, ws, kind, payload) {
		return
	}
	id, _ := payload["request_id"].(string)
	switch kind {
	case "hello":
		h.say(ws, `{"type":"desktop.capabilities","capabilities":["text_input","dictation"],"input_instance_id":"`+d.inputID+`"}`)
	case "input.text":
		d.note("text %v in %v", payload["text"], payload["conversation_id"])
		words, _ := payload["text"].(string)
		conversation, _ := payload["conversation_id"].(string)
		d.push(h, ws, func(s *workbench.MobileSnapshot) {
			s.Conversations.Messages = append(s.Conversations.Messages, workbench.MessageRow{
				ID: "of " + words, ConversationID: conversation, Role: conversations.User, Text: words, RequestID: id, Status: conversations.Completed,
			})
		})
		h.say(ws, `{"type":"input.text_result","request_id":"`+id+`","ok":true}`)
	case "personal.command":
		method, _ := payload["method"].(string)
		params, _ := payload["params"].(map[string]any)
		encoded, _ := json.Marshal(params) // decoded from JSON
		d.note("%s %s", method, encoded)
		data := d.obey(h, ws, method, params)
		h.say(ws, `{"type":"personal.result","request_id":"`+id+`",`+data+`}`)
	}
}

// obey does a command and gives what follows the ID in its result.
func (d *workbenchHost) obey(h *novaHost, ws *websocket.Conn, method string, params map[string]any) string {
	result := `"ok":true`
	word := func(name string) string { s, _ := params[name].(string); return s }
	d.push(h, ws, func(s *workbench.MobileSnapshot) {
		c := &s.Conversations
		switch method {
		case "conversations.create":
			c.SelectedID, c.Messages = "chat:new", []workbench.MessageRow{}
			c.Items = append(c.Items, workbench.ConversationRow{ID: c.SelectedID, Kind: conversations.Chat, Title: word("title")})
		case "conversations.select":
			c.SelectedID = word("id")
		case "conversations.clear":
			c.Items[0].Generation++
			c.Messages = []workbench.MessageRow{}
		case "conversations.read":
			c.Unread, c.Items[1].Unread = 0, 0
		case "life.mutate":
			if word("op") == "create" {
				row := workbench.ItemRow{ID: "t1", Kind: workbench.Todo, Version: 1, Title: word("title"), Status: "open"}
				s.Life.Todos = append(s.Life.Todos, workbench.TodoRow{ItemRow: row})
				result = `"ok":true,"data":{"id":"t1","version":1}`
			} else {
				s.Life.Todos[0].Status, s.Life.Todos[0].Version = word("status"), 2
			}
		case "state", "presentation.set":
		default:
			result = `"ok":false,"error":"unsupported"`
		}
	})
	return result
}

// workbenchRun is a run with a host that has a workbench.
func workbenchRun(t *testing.T, d *workbenchHost) phoneRun {
	r := newPhoneRun(t, d.on)
	r.h.personal = true
	return r
}

func TestPhone_Workbench(t *testing.T) {
	d := newWorkbenchHost(t)
	d.snapshot.Conversations.Messages = []workbench.MessageRow{
		{ID: "m1", ConversationID: conversations.MainID, Role: conversations.User, Text: "Hi", Status: conversations.Interrupted},
		{ID: "m2", ConversationID: conversations.MainID, Role: conversations.Assistant, Text: "Good\nday\u202e", Delivery: conversations.CutOff},
	}
	d.more = func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) bool {
		if kind == "input.text" && payload["text"] == "first" {
			d.push(h, ws, func(s *workbench.MobileSnapshot) {
				s.Conversations.Unread, s.Conversations.Items[1].Unread = 2, 2
				s.Conversations.Items = append(s.Conversations.Items, workbench.ConversationRow{ID: "topic:1", Kind: conversations.Topic, Title: "A page"})
			})
		}
		return false
	}
	r := workbenchRun(t, d)
	stdout, stderr, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader(
		"/list\nfirst\n/open 2\nsecond\n/read\n/open 1\n/clear\n/new Garden\nthird\n/open 9\n/todo Buy \x1bmilk\n/todos\n/done 1\n/todos\n/done 7\n/todo\n/send\n/search\n/search for bridges\n/help\n/dictate /nowhere\n"))
	if err != nil || stderr != "" {
		t.Fatalf("it ended with %v\n%s%s", err, stdout, stderr)
	}
	for _, part := range []string{
		"this host takes text and dictation\n", "2 conversations, 0 unread. What you type goes to \"Main\"\n",
		"*   1  chat       Main\n    2  proactive  Remind\\x1bers\n",
		"new topic: \"A page\", /open 3\n", "2 unread in \"Remind\\x1bers\", /open 2\n",
		"what you type goes to \"Remind\\x1bers\" now\nproactive \"Remind\\x1bers\":\n  you (interrupted): Hi\n  host (interrupted): Good\n    day\\u202e\n",
		"0 unread in \"Remind\\x1bers\", /open 2\n", "new chat: \"Garden\", /open 4\n", "chat \"Garden\":\n    nothing has been said here\n",
		"not done: there is no such conversation", "    1  Buy \\x1bmilk\n", "there is nothing to do\n", "not done: there is no such to-do",
		"not done: say what is to be done", "not done: say what to search for", "not done: nothing has been dictated", "  /open N          go to conversation N", "not done: reading the speech: open /nowhere",
	} {
		if !strings.Contains(stdout, part) {
			t.Errorf("%q was not printed", part)
		}
	}
	if t.Failed() {
		t.Log(stdout)
	}
	want := `presentation.set {"mode":"workbench"}
state {}
text first in chat:main
conversations.select {"id":"chat:proactive"}
text second in chat:proactive
conversations.read {"id":"chat:proactive","through_message_id":"of second"}
conversations.select {"id":"chat:main"}
conversations.clear {"expected_generation":0,"id":"chat:main"}
conversations.create {"title":"Garden"}
text third in chat:new
life.mutate {"kind":"todo","op":"create","title":"Buy \u001bmilk"}
life.mutate {"expected_version":1,"id":"t1","kind":"todo","op":"update","status":"done"}
text /search for bridges in chat:new`
	if got := d.saw(); got != want {
		t.Errorf("the host was asked\n%s\nwant\n%s", got, want)
	}
}

// events are the objects that a run printed.
func events(t *testing.T, stdout string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil || event["event"] == "" {
			t.Errorf("%q: %v", line, err)
		}
		all = append(all, event)
	}
	return all
}

// expectEvent wants an event with these members among all.
func expectEvent(t *testing.T, all []map[string]any, want map[string]any) {
	t.Helper()
	if !slices.ContainsFunc(all, func(event map[string]any) bool {
		for name, value := range want {
			if event[name] != value {
				return false
			}
		}
		return true
	}) {
		t.Errorf("no event has %v", want)
	}
}

func TestPhone_SpeaksJSON(t *testing.T) {
	d := newWorkbenchHost(t)
	d.more = func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) bool {
		if kind == "input.text" {
			h.say(ws, phoneCard)
			h.say(ws, `{"type":"caption","turn_id":"1","role":"assistant","text":"Good \u009b31mday","final":true,"sequence":2,"conversation_id":"chat:main"}`)
			h.say(ws, `{"type":"conversation.error","conversation_id":"chat:main","error":"response_failed"}`)
		}
		return false
	}
	r := workbenchRun(t, d)
	r.json = true
	stdout, stderr, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader("hello\n/todo \x1b\n/list\n/frob\n"))
	if err != nil || stderr != "" || strings.ContainsAny(stdout, "\u009b\x1b") {
		t.Fatalf("it ended with %v\n%q%s", err, stdout, stderr)
	}
	all := events(t, stdout)
	for _, want := range []map[string]any{
		{"event": "paired", "server": "box.example.ts.net", "device_id": phoneID},
		{"event": "status", "phase": "connecting"},
		{"event": "status", "phase": "connected"},
		{"event": "ready", "server_instance_id": phoneID, "pipeline": "cascaded", "personal": true, "text_input": true, "dictation": true},
		{"event": "input", "text_input": true, "dictation": true, "input_instance_id": phoneID, "text_box": true},
		{"event": "snapshot", "selected_id": "chat:main", "unread": 0.0, "message_count": 0.0},
		{"event": "card", "id": "a1", "kind": "approval", "summary": "Run make", "busy": false},
		{"event": "caption", "role": "assistant", "turn_id": "1", "text": "Good \u009b31mday", "final": true, "conversation_id": "chat:main"},
		{"event": "conversation_error", "conversation_id": "chat:main", "error": "response_failed"},
		{"event": "text", "ok": true, "conversation_id": "chat:main"},
		{"event": "done", "line": "hello"},
		{"event": "done", "line": "/todo \x1b"},
		{"event": "done", "line": "/list"},
		{"event": "error", "line": "/frob", "error": errNoCommand.Error()},
	} {
		expectEvent(t, all, want)
	}
	i := slices.IndexFunc(all, func(e map[string]any) bool { return e["line"] == "/list" })
	if got := fmt.Sprint(all[i-1]["conversations"], all[i-1]["todos"]); !strings.Contains(got, "id:chat:proactive kind:proactive number:2 title:Remind") ||
		!strings.Contains(got, "id:t1 number:1 status:open title:\x1b version:1") {
		t.Errorf("the list is %s", got)
	}
	if t.Failed() {
		t.Log(stdout)
	}
}

func TestPhone_Dictates(t *testing.T) {
	d := newWorkbenchHost(t)
	heard := 0
	d.more = func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) bool {
		switch {
		case kind == "PCM":
			heard++
		case kind == "input.dictation" && payload["action"] == "finish":
			d.note("dictation in %v", payload["conversation_id"])
			id, _ := payload["id"].(string)
			h.say(ws, `{"type":"input.transcription","id":"`+id+`","text":"water the \u009bplants"}`)
		}
		return false
	}
	file := filepath.Join(t.TempDir(), "a note.wav")
	if err := os.WriteFile(file, pcm.AppendWAV(nil, make([]byte, pcm.BytesPerSecond/10)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := workbenchRun(t, d)
	stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader("/dictate "+file+"\n/send\n/send\n"))
	if err != nil || !strings.Contains(stdout, "dictated: water the \\x9bplants\n    /send sends it\nnot done: nothing has been dictated\n") {
		t.Errorf("it ended with %v\n%s", err, stdout)
	}
	if heard != 5 || !strings.HasSuffix(d.saw(), "dictation in chat:main\ntext water the \u009bplants in chat:main") {
		t.Errorf("the host heard %d pieces and was asked\n%s", heard, d.saw())
	}
}

func TestPhone_ALostTextIsAskedForAgain(t *testing.T) {
	d := newWorkbenchHost(t)
	var r phoneRun
	var input io.Writer
	var ids []string
	d.more = func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) bool {
		switch kind {
		case "hello":
			if len(ids) == 2 {
				d.inputID = "0" + phoneID[1:] // the host was started anew
			}
		case "personal.command":
			if payload["method"] == "state" && len(ids) > 0 { // the phone is connected again
				go func() { _, _ = io.WriteString(input, "/again\n") }()
			}
		case "input.text":
			id, _ := payload["request_id"].(string)
			instance, _ := payload["input_instance_id"].(string)
			ids = append(ids, id+" "+instance)
			if len(ids) < 3 {
				_ = ws.Close(1001, "")
				return true
			}
			h.say(ws, `{"type":"input.text_result","request_id":"`+id+`","ok":false,"error":"outcome_unknown"}`)
			go func() {
				r.out.await(t.Context(), "not done: "+errTextUnknown.Error())
				_, _ = io.WriteString(input, "/quit\n")
			}()
			return true
		}
		return false
	}
	r = workbenchRun(t, d)
	reader, writer := io.Pipe()
	input = writer
	defer writer.Close()
	go func() { _, _ = io.WriteString(writer, "hello\n") }()
	stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), reader)
	if err != nil || len(ids) != 3 || ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("it ended with %v and sent %q", err, ids)
	}
	if strings.Count(stdout, "not done: "+errTextLost.Error()) != 2 || !strings.Contains(stdout, "it is not known whether the host has this: hello\n") {
		t.Errorf("it said\n%s", stdout)
	}
}

func TestPhone_QuitsWithATextUnderWay(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		d := newWorkbenchHost(t)
		reader, writer := io.Pipe()
		d.more = func(_ *novaHost, _ *websocket.Conn, kind string, _ map[string]any) bool {
			if kind == "input.text" { // it is never said what became of it
				go func() { _, _ = io.WriteString(writer, "/quit\n") }()
			}
			return kind == "input.text"
		}
		r := workbenchRun(t, d)
		r.json = asJSON
		go func() { _, _ = io.WriteString(writer, "hello\n") }()
		stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), reader)
		_ = writer.Close() // never fails
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
		switch {
		case asJSON:
			all := events(t, stdout)
			expectEvent(t, all, map[string]any{"event": "text", "ok": false, "error": "lost"})
			expectEvent(t, all, map[string]any{"event": "error", "line": "hello", "error": errTextLost.Error()})
		case !strings.Contains(stdout, "not done: "+errTextLost.Error()):
			t.Errorf("it said\n%s", stdout)
		}
	}
}

func TestPhone_WaitsForTheLastAnswer(t *testing.T) {
	d := newWorkbenchHost(t)
	d.more = func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) bool {
		if kind != "input.text" {
			return false
		}
		id, _ := payload["request_id"].(string)
		message := workbench.MessageRow{ID: "m1", ConversationID: conversations.MainID, Role: conversations.User, Text: "hello", RequestID: id, Status: conversations.Pending}
		d.push(h, ws, func(s *workbench.MobileSnapshot) { s.Conversations.Messages = []workbench.MessageRow{message} })
		h.say(ws, `{"type":"input.text_result","request_id":"`+id+`","ok":true}`)
		d.push(h, ws, func(*workbench.MobileSnapshot) {})
		h.say(ws, `{"type":"caption","turn_id":"1","role":"assistant","text":"Good day","final":true,"sequence":1,"conversation_id":"chat:main"}`)
		message.Status = conversations.Completed
		d.push(h, ws, func(s *workbench.MobileSnapshot) { s.Conversations.Messages = []workbench.MessageRow{message} })
		return true
	}
	r := workbenchRun(t, d)
	stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader("hello\n"))
	if err != nil || !strings.HasSuffix(stdout, "host: Good day\n") {
		t.Errorf("it ended with %v\n%s", err, stdout)
	}
}

// What got no answer is asked again as a new text, once the person says so; what has its
// answer is not.
func TestPhone_AsksAgain(t *testing.T) {
	for name, fail := range map[string]func(d *workbenchHost, h *novaHost, ws *websocket.Conn, m workbench.MessageRow){
		"the answer failed": func(d *workbenchHost, h *novaHost, ws *websocket.Conn, m workbench.MessageRow) {
			m.Status = conversations.Pending // the snapshot is behind
			d.push(h, ws, func(s *workbench.MobileSnapshot) { s.Conversations.Messages = []workbench.MessageRow{m} })
			h.say(ws, `{"type":"conversation.error","conversation_id":"chat:main","error":"response_failed"}`)
			h.say(ws, `{"type":"input.text_result","request_id":"`+m.RequestID+`","ok":true}`)
		},
		"the host was started anew": func(d *workbenchHost, h *novaHost, ws *websocket.Conn, m workbench.MessageRow) {
			m.Status = conversations.Interrupted
			d.push(h, ws, func(s *workbench.MobileSnapshot) { s.Conversations.Messages = []workbench.MessageRow{m} })
			h.say(ws, `{"type":"input.text_result","request_id":"`+m.RequestID+`","ok":true}`)
		},
		"it was not taken": func(_ *workbenchHost, h *novaHost, ws *websocket.Conn, m workbench.MessageRow) {
			h.say(ws, `{"type":"input.text_result","request_id":"`+m.RequestID+`","ok":false,"error":"submission_failed"}`)
		},
		"it is not known": func(_ *workbenchHost, h *novaHost, ws *websocket.Conn, m workbench.MessageRow) {
			h.say(ws, `{"type":"input.text_result","request_id":"`+m.RequestID+`","ok":false,"error":"outcome_unknown"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newWorkbenchHost(t)
			var asked []string
			d.more = func(h *novaHost, ws *websocket.Conn, kind string, payload map[string]any) bool {
				if kind != "input.text" {
					return false
				}
				m := workbench.MessageRow{ID: "m1", ConversationID: conversations.MainID, Role: conversations.User, Text: "hello"}
				m.RequestID, _ = payload["request_id"].(string)
				asked = append(asked, fmt.Sprintf("%v in %v", payload["text"], payload["conversation_id"]), m.RequestID)
				if len(asked) == 2 {
					fail(d, h, ws, m)
					return true
				}
				m.Status = conversations.Completed
				d.push(h, ws, func(s *workbench.MobileSnapshot) { s.Conversations.Messages = []workbench.MessageRow{m} })
				h.say(ws, `{"type":"input.text_result","request_id":"`+m.RequestID+`","ok":true}`)
				return true
			}
			r := workbenchRun(t, d)
			stdout, _, err := r.run(t.Context(), r.payload(t, phonePayload), strings.NewReader("/again\nhello\n/again\n/again\n"))
			if err != nil || len(asked) != 4 || asked[0] != "hello in chat:main" || asked[2] != asked[0] || asked[1] == asked[3] {
				t.Errorf("it ended with %v and sent %q\n%s", err, asked, stdout)
			}
			if !strings.Contains(stdout, "not done: "+errNothingSent.Error()) || !strings.HasSuffix(stdout, "not done: "+errAnswered.Error()+"\n") {
				t.Errorf("it said\n%s", stdout)
			}
		})
	}
}
