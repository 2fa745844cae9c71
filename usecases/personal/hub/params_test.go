package hub_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/usecases/personal/absent"
	"plexus/usecases/personal/chats"
	"plexus/usecases/personal/feed"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/presentation"
	"plexus/usecases/personal/tasks"
)

func parse(t *testing.T, method, params string) any {
	t.Helper()
	c, err := host("").Read(method, json.RawMessage(params))
	if err != nil {
		t.Fatalf("%s %s: %v", method, params, err)
	}
	return c
}

// accepted has at least one command of every method.
func accepted() []struct {
	method, params string
	want           any
} {
	some := nova.Some[string]
	noon := time.Date(2026, 1, 2, 12, 0, 0, 123456000, time.UTC)
	fence := tasks.Precondition{TaskID: "t", ControlRevision: 1, GoalRevision: 2}
	return []struct {
		method, params string
		want           any
	}{
		{"state", ``, hub.Nothing{}},
		{"state", `{"extra":[1]}`, hub.Nothing{}},
		{"feed.action", `{"id":"f","action":"open"}`, feed.Action{ID: "f", Verb: feed.VerbOpen}},
		{"feed.action", `{"id":"f","action":"snooze","snooze_until":"2026-01-02T12:00:00.123456Z"}`,
			feed.Action{ID: "f", Verb: feed.VerbSnooze, SnoozeUntil: noon}},
		{"conversations.create", `{}`, chats.Create{}},
		{"conversations.create", `{"title":"T"}`, chats.Create{Title: "T"}},
		{"conversations.select", `{"id":"a"}`, chats.Select{ID: "a"}},
		{"conversations.read", `{"id":"a","through_message_id":"m"}`, chats.Acknowledge{ID: "a", Through: "m"}},
		{"conversations.clear", `{"id":"a"}`, chats.Clear{ID: "a"}},
		{"conversations.clear", `{"id":"a","expected_generation":0}`,
			chats.Clear{ID: "a", Expected: nova.Some[uint64](0)}},
		{"conversations.open_feed", `{"feed_id":"f","label":"L"}`, feed.OpenTopic{FeedID: "f", Label: "L"}},
		{"conversations.voice", `{"id":"a","enabled":true}`, chats.Voice{ID: "a", Enabled: true}},
		{"conversations.open_work", `{"work_id":"w"}`, absent.OpenWork{WorkID: "w"}},
		{"conversations.confirm", `{"id":"a","proposal_id":"p","confirmed":true}`,
			absent.Confirm{ID: "a", ProposalID: "p", Confirmed: true}},
		{"conversations.approve", `{"id":"a","approval_id":"p","approved":false}`, absent.Approve{ID: "a", ApprovalID: "p"}},
		{"conversations.targets", `{}`, hub.Nothing{}},
		{"conversations.target", `{"id":"a","target":null}`, hub.Nothing{}},
		{"life.mutate", `{"op":"create","kind":"todo","title":" T ","due":"2024-02-29","goal_id":null}`,
			life.Params{Op: life.CreateItem{Kind: workbench.Todo, Title: "T", Due: "2024-02-29"}}},
		{"life.mutate", `{"op":"update","kind":"todo","id":"i","expected_version":1.0,"due":null,"note":"","status":"done"}`,
			life.Params{Op: life.UpdateItem{
				Kind: workbench.Todo, ID: "i", Expected: 1, Due: some(""), Note: some(""), Status: "done"}}},
		{"life.mutate", `{"op":"update","kind":"goal","id":"i","expected_version":1,"title":" T","success_criteria":"C"}`,
			life.Params{Op: life.UpdateItem{
				Kind: workbench.Goal, ID: "i", Expected: 1, Title: some("T"), Criteria: some("C")}}},
		{"life.mutate", `{"op":"convert","id":"i","target":"goal","expected_version":3}`,
			life.Params{Op: life.ConvertIdea{ID: "i", Target: workbench.Goal, Expected: 3}}},
		{"life.mutate", `{"op":"undo_create","id":"i","expected_version":1}`, life.Params{Op: life.UndoCreate{ID: "i"}}},
		{"life.mutate", `{"op":"profile","about":"","expected_version":0}`, life.Params{Op: life.SetProfile{}}},
		{"life.mutate", `{"op":"from_news","article":{}}`, life.Params{Op: life.FromNews{}}},
		{"memory.evidence", `{"evidence_id":"e"}`, absent.Evidence{EvidenceID: "e"}},
		{"memory.list", `{"cursor":"","limit":100,"include_expired":true}`, absent.List{}},
		{"memory.correct", `{"id":"m","expected_version":"v","content":" c "}`, absent.Correct{}},
		{"memory.forget", `{"id":"m","expected_version":7,"content":null}`, absent.Forget{}},
		{"memory.purge", `{"id":"m","expected_version":0}`, absent.Purge{}},
		{"memory.reextract", `{"id":"m"}`, absent.Reextract{}},
		{"context.adopt", `{"id":"c"}`, absent.Card{ID: "c"}},
		{"context.dismiss", `{"id":"c"}`, absent.Card{ID: "c"}},
		{"presentation.set", `{"mode":"orb"}`, presentation.Mode{Mode: workbench.ModeOrb}},
		{"presentation.seen", `{"approval_id":"a"}`, presentation.Seen{ApprovalID: "a"}},
		{"tasks.list", `{}`, hub.Nothing{}},
		{"tasks.get", `{"task_id":"t","after":5,"input_request_id":"r"}`, tasks.Look{TaskID: "t", After: 5, InputRequestID: "r"}},
		{"tasks.delegate", `{"conversation_id":"a","goal":"g","acceptance":["x"],"origin_ref":"o","execution_route":"e","todo_ref":{"id":"i","version":2}}`,
			tasks.Delegation{ConversationID: "a", Goal: "g", OriginRef: "o", Route: "e", Acceptance: []string{"x"},
				Todo: nova.Some(nova.TodoRef{ID: "i", Version: 2})}},
		{"tasks.control", fenced(`"action":"takeover"`), tasks.Control{Precondition: fence, Takeover: true}},
		{"tasks.control", fenced(`"action":"return"`), tasks.Control{Precondition: fence}},
		{"tasks.input", fenced(`"session_id":"s","text":"hi"`), tasks.Input{Precondition: fence, SessionID: "s", Text: "hi"}},
		{"tasks.cancel", fenced(``), fence},
		{"tasks.continue", fenced(``), fence},
		{"tasks.reconcile", fenced(`"resolution":"done"`), tasks.Reconciliation{Precondition: fence, Done: true}},
		{"tasks.reconcile", fenced(`"resolution":"not_run"`), tasks.Reconciliation{Precondition: fence}},
		{"tasks.complete_todo", fenced(`"todo_version":4`), tasks.Completion{Precondition: fence, Version: 4}},
		{"sources.add", `{"not":"looked at"}`, nil},
		{"discovery.configure", `{}`, nil},
		{"profile.refresh", `{}`, nil},
		{"understanding.start", `{}`, nil},
		{"news.convert", `{}`, nil},
		{"connector.status", `{}`, nil},
		{"feishu.app.start", `{}`, nil},
	}
}

func fenced(more string) string {
	return strings.TrimSuffix(`{"task_id":"t","control_revision":1,"goal_revision":2,`+more, ",") + "}"
}

func TestEveryMethodIsRead(t *testing.T) {
	for _, c := range accepted() {
		if got := parse(t, c.method, c.params); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s\ngives %#v\nwant  %#v", c.method, c.params, got, c.want)
		}
	}
}

// What must be refused: a member too many, one too few, one out of its bounds.
func TestWrongParamsAreInvalid(t *testing.T) {
	units := func(n int) string { return strings.Repeat("🎧", n/2) + strings.Repeat("a", n%2) }
	life := `"op":"update","kind":"idea","id":"i","expected_version":1`
	for _, c := range []struct{ method, params string }{
		{"state", `[]`},
		{"state", `null`},
		{"feed.action", `{"id":"f","action":"open","extra":1}`},
		{"feed.action", `{"id":"f","action":"delete"}`},
		{"feed.action", `{"id":"","action":"open"}`},
		{"feed.action", `{"id":"` + units(129) + `","action":"open"}`},
		{"feed.action", `{"id":"f","action":"snooze","snooze_until":null}`},
		{"conversations.create", `{"title":""}`},
		{"conversations.create", `{"title":"` + units(121) + `"}`},
		{"conversations.create", `{"title":1}`},
		{"conversations.select", `{}`},
		{"conversations.read", `{"id":"a"}`},
		{"conversations.clear", `{"id":"a","expected_generation":-1}`},
		{"conversations.clear", `{"id":"a","expected_generation":1.5}`},
		{"conversations.clear", `{"id":"a","expected_generation":9007199254740992}`},
		{"conversations.open_feed", `{"feed_id":"f","label":""}`},
		{"conversations.voice", `{"id":"a","enabled":1}`},
		{"conversations.confirm", `{"id":"a","proposal_id":"p"}`},
		{"life.mutate", `{}`},
		{"life.mutate", `{"op":"drop","id":"i"}`},
		{"life.mutate", `{"op":"create","kind":"todo","title":"   "}`},
		{"life.mutate", `{"op":"create","kind":"wish","title":"T"}`},
		{"life.mutate", `{"op":"create","kind":"todo","title":"T","status":"open"}`},
		{"life.mutate", `{"op":"create","kind":"todo","title":"T","due":"2023-02-29"}`},
		{"life.mutate", `{"op":"create","kind":"todo","title":"T","due":"2023-2-01"}`},
		{"life.mutate", `{"op":"create","kind":"todo","title":"` + units(201) + `"}`},
		{"life.mutate", `{"op":"create","kind":"todo","title":"T","note":"` + units(4001) + `"}`},
		{"life.mutate", `{"op":"create","kind":"goal","title":"T","success_criteria":"` + units(2001) + `"}`},
		{"life.mutate", `{` + life + `,"status":"done"}`},
		{"life.mutate", `{` + life + `,"title":null}`},
		{"life.mutate", `{` + life + `,"target":"todo"}`},
		{"life.mutate", `{"op":"update","kind":"idea","id":"i"}`},
		{"life.mutate", `{"op":"convert","id":"i","target":"idea","expected_version":1}`},
		{"life.mutate", `{"op":"undo_create","id":"i","expected_version":2}`},
		{"life.mutate", `{"op":"profile","about":"` + units(5001) + `","expected_version":0}`},
		{"memory.evidence", `{"evidence_id":"a\u0000b"}`},
		{"memory.list", `{"limit":101}`},
		{"memory.list", `{"limit":0}`},
		{"memory.correct", `{"id":"m","expected_version":1}`},
		{"memory.correct", `{"id":"m","expected_version":1,"content":"  "}`},
		{"memory.correct", `{"id":"m","expected_version":1,"content":"` + units(501) + `"}`},
		{"memory.forget", `{"id":"m"}`},
		{"memory.forget", `{"id":"m","expected_version":""}`},
		{"memory.forget", `{"id":"m","expected_version":-1}`},
		{"memory.forget", `{"id":"m","expected_version":null}`},
		{"presentation.set", `{"mode":"window"}`},
		{"tasks.list", `{"all":true}`},
		{"tasks.get", `{"task_id":"t","after":-1}`},
		{"tasks.delegate", `{"conversation_id":"a","goal":"g","origin_ref":"o"}`},
		{"tasks.delegate", `{"conversation_id":"a","goal":"g","acceptance":[` + strings.Repeat(`"x",`, 64) + `"x"],"origin_ref":"o"}`},
		{"tasks.control", fenced(`"action":"drop"`)},
		{"tasks.control", `{"task_id":"t","action":"return"}`},
		{"tasks.input", fenced(`"session_id":"s","text":"` + units(16001) + `"`)},
		{"tasks.complete_todo", fenced(``)},
		{"context.adopt", `{"id":"` + units(129) + `"}`},
	} {
		got, err := host("").Read(c.method, json.RawMessage(c.params))
		if !errors.Is(err, workbench.InvalidRequest) {
			t.Errorf("%s %.80s gives %#v, %v", c.method, c.params, got, err)
		}
	}
}

func TestUnknownMethodsAreNoInvalidRequests(t *testing.T) {
	for _, method := range []string{"", "State", "tasks", "tasks.drop", "life.mutate.x", "sources."} {
		c, err := host("").Read(method, json.RawMessage(`{}`))
		if c != nil || !errors.Is(err, hub.ErrNotAdmitted) || errors.Is(err, workbench.InvalidRequest) {
			t.Errorf("%q: %v, %v", method, c, err)
		}
	}
}

func TestBoundsAreInUTF16Units(t *testing.T) {
	id := strings.Repeat("🎧", 64)
	parse(t, "conversations.select", `{"id":"`+id+`"}`)
	if _, err := host("").Read("conversations.select", json.RawMessage(`{"id":"`+id+`a"}`)); err == nil {
		t.Error("129 units passed")
	}
}

func TestTimesHaveALiteralZ(t *testing.T) {
	for s, want := range map[string]bool{
		"2026-01-02T12:00:00Z":          true,
		"2026-01-02T12:00:00.5Z":        true,
		"2026-01-02T12:00:00.123456Z":   true,
		"2026-01-02T12:00:00":           false,
		"2026-01-02T12:00:00z":          false,
		"2026-01-02T12:00:00+00:00":     false,
		"2026-01-02T20:00:00+08:00":     false,
		"2026-01-02 12:00:00Z":          false,
		"2026-01-02T12:00Z":             false,
		"2026-01-02T1:00:00Z":           false,
		"2026-01-02T12:00:00.Z":         false,
		"2026-01-02T12:00:00,5Z":        false,
		"2026-01-02T12:00:00.5.5Z":      false,
		"2026-02-30T12:00:00Z":          false,
		"2026-01-02T24:00:00Z":          false,
		"2026-01-02T12:00:00+01:00.5Z":  false,
		"-026-01-02T12:00:00Z":          false,
		"2026-01-02T12:00:00.\u0663Z":   false,
		"2026-01-02T12:00:00.12345678Z": true,
	} {
		_, err := host("").Read("feed.action", json.RawMessage(`{"id":"f","action":"snooze","snooze_until":"`+s+`"}`))
		if (err == nil) != want {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// What Read accepts it reads as the same command from the canonical form
// of the same parameters.
func FuzzReadParameters(f *testing.F) {
	for _, c := range accepted() {
		f.Add(c.method, []byte(c.params))
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		c, err := host("").Read(method, params)
		switch {
		case err != nil && c != nil:
			t.Fatalf("%#v beside %v", c, err)
		case err != nil || c == nil || len(params) == 0:
			return
		}
		canonical, err := jsonform.AppendCanonical(nil, jsonform.Read(params))
		if err != nil {
			return // an unsafe number in a member that nobody reads
		}
		again, err := host("").Read(method, canonical)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%#v, %v, was %#v", again, err, c)
		}
		if hub.Fingerprint(method, params) != hub.Fingerprint(method, canonical) {
			t.Fatal("two fingerprints")
		}
	})
}

func TestMethodsOfPhonesAndDesktops(t *testing.T) {
	admitted := "state feed.action life.mutate memory.list memory.evidence memory.correct memory.forget memory.purge " +
		"conversations.read conversations.create conversations.select conversations.open_work conversations.clear " +
		"conversations.confirm conversations.open_feed conversations.voice conversations.approve presentation.set " +
		"presentation.seen tasks.list tasks.get tasks.delegate tasks.control tasks.input tasks.cancel tasks.continue " +
		"tasks.reconcile tasks.complete_todo context.adopt context.dismiss"
	refusedOnes := "discovery.configure sources.add sources.sync connector.status connector.mail_status feishu.status feishu.app.bind " +
		"news.state understanding.start profile.refresh memory.reextract conversations.target conversations.targets"
	unknown := "memory tasks. state. State memory.list.x feed.Action x .state"
	type admission struct{ known, phone bool }
	for list, want := range map[string]admission{admitted: {true, true}, refusedOnes: {true, false}, unknown: {}, " ": {}} {
		for method := range strings.SplitSeq(list, " ") {
			if got := (admission{host("").Knows(method), host("").Admits(method)}); got != want {
				t.Errorf("%q: %v, want %v", method, got, want)
			}
		}
	}
	if n := len(strings.Fields(admitted)); n != 30 {
		t.Errorf("the test lists %d methods, want 30", n)
	}
}
