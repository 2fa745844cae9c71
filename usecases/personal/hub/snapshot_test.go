package hub_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/usecases/personal/feed"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/tasks"
)

var update = flag.Bool("update", false, "write the golden files")

// moment is in no zone of the wire and finer than it, on purpose.
var moment = time.Date(2026, time.November, 30, 9, 30, 0, 123_456_789, time.FixedZone("", 2*60*60))

// newestFirst visits messages that are given oldest first, as a store does.
func newestFirst(all ...conversations.Message) func(func(conversations.Message) bool) error {
	return func(visit func(conversations.Message) bool) error {
		for i := len(all) - 1; i >= 0 && visit(all[i]); i-- {
		}
		return nil
	}
}

// emptyHost is a host that has just been set up.
func emptyHost() Parts {
	return Parts{
		Conversations: []conversations.Conversation{
			{ID: conversations.MainID, Kind: conversations.Chat, Title: "新对话 1", CreatedAt: moment, UpdatedAt: moment},
			{ID: conversations.ProactiveID, Kind: conversations.Proactive, Title: "主动提醒", CreatedAt: moment, UpdatedAt: moment},
		},
		SelectedID: conversations.MainID,
		Messages:   newestFirst(),
	}
}

func ptr[T any](v T) *T { return &v }

// fullHost has every member that a host can have, markup and an escape.
func fullHost() Parts {
	p := emptyHost()
	p.Revision, p.Mode, p.TimeZone = 7, workbench.ModeOrb, "Europe/Berlin"
	p.SelectedID, p.VoiceID = conversations.ProactiveID, "topic:1"
	p.Conversations[1].Unread, p.Conversations[1].ReadThrough, p.Conversations[1].Generation = 1, 2, 3
	p.Conversations = append(p.Conversations, conversations.Conversation{
		ID: "topic:1", Kind: conversations.Topic, Title: "<b>Tea</b> & co", SubjectKey: "https://example.org/?a=1&b=2",
		CreatedAt: moment, UpdatedAt: moment.Add(time.Hour),
	})
	p.Messages = newestFirst(
		conversations.Message{
			Seq: 1, ID: "m1", ConversationID: p.SelectedID, Role: conversations.User, Text: "When?\n\u2028", CreatedAt: moment,
			RequestID: "r1", Status: conversations.Completed, Todo: conversations.TodoRef{ID: "todo1", Version: 2},
		},
		conversations.Message{
			Seq: 2, ID: "m2", ConversationID: p.SelectedID, Role: conversations.Assistant, Text: "At <5> & later 🎧", CreatedAt: moment,
			TurnID: "t1", ReplyTo: "m1", Delivery: conversations.Delivered,
		},
		conversations.Message{Seq: 3, ID: "m3", ConversationID: p.SelectedID, Role: conversations.Assistant, Text: "Now.", CreatedAt: moment},
	)
	p.Items = []life.Item{
		{ID: "goal1", Kind: workbench.Goal, Version: 1, Title: "Run", Status: "active", Criteria: "10 km", IdeaID: "idea1", CreatedAt: moment, UpdatedAt: moment},
		{ID: "goal2", Kind: workbench.Goal, Version: 1, Title: "Rest", Status: "paused", CreatedAt: moment, UpdatedAt: moment},
		{ID: "idea1", Kind: workbench.Idea, Version: 1, Title: "Shoes", Note: "red", Status: "archived", GoalID: "goal1", CreatedAt: moment, UpdatedAt: moment},
		{ID: "idea2", Kind: workbench.Idea, Version: 1, Title: "Hat", Status: "active", CreatedAt: moment, UpdatedAt: moment},
		{ID: "todo1", Kind: workbench.Todo, Version: 2, Title: "Buy", Status: "done", Due: "2026-12-01", GoalID: "goal1", IdeaID: "idea1", CreatedAt: moment, UpdatedAt: moment},
		{ID: "todo2", Kind: workbench.Todo, Version: 1, Title: "Try", Status: "open", GoalID: "goal1", CreatedAt: moment, UpdatedAt: moment},
		{ID: "todo3", Kind: workbench.Todo, Version: 3, Title: "Ask", Status: "cancelled", GoalID: "goal1", CreatedAt: moment, UpdatedAt: moment},
	}
	p.Profile = life.Profile{About: "I drink tea.", Version: 4}
	p.Feed = []feed.Item{fullFeedItem("feed2"), {
		ID: "feed1", Kind: "change", Title: "Changed", Source: feed.Source{Type: "file", Ref: "f"}, SubjectKey: "s",
		Priority: 40, CreatedAt: moment, UpdatedAt: moment, UserState: "new", Lifecycle: "active",
	}}
	p.Tasks = []tasks.Task{{
		ID: "task1", Phase: "waiting", ConversationID: conversations.MainID, Goal: "Book a table", OriginRef: "o",
		Controller: tasks.Controller{Kind: "nova"}, ControlRevision: 1, GoalRevision: 1, TodoSync: "none",
	}, fullTask("task2")}
	return p
}

func fullFeedItem(id string) feed.Item {
	return feed.Item{
		ID: id, Kind: "notify", Title: "Leave soon", WhyNow: "Rain", EvidenceRefs: []string{"e1"},
		MemoryRefs: []feed.MemoryRef{{EntryID: "x", Version: 1}, {EntryID: "y", Version: "v2"}, {EntryID: "z"}},
		Source:     feed.Source{Type: "calendar", Ref: "c"}, SuggestionID: ptr("s1"), TaskRef: &feed.TaskRef{WorkID: "w1"},
		SubjectKey: "rain", Priority: 40.5, CreatedAt: moment, UpdatedAt: moment, ExpiresAt: ptr(moment.Add(24 * time.Hour)),
		UserState: "snoozed", SnoozeUntil: ptr(moment.Add(time.Hour)), Lifecycle: "active",
		Delivery:    feed.Delivery{PresentedAt: &moment, NotifiedAt: &moment, SpokenAt: &moment},
		Prepared:    &feed.Prepared{Trust: "untrusted_external", Text: "<i>wet</i>", EvidenceRefs: []string{"e1"}},
		ActionLabel: "Go",
	}
}

func fullTask(id string) tasks.Task {
	return tasks.Task{
		ID: id, Phase: "running", ConversationID: conversations.MainID, ConversationGeneration: ptr(uint64(2)), Goal: "Buy",
		Acceptance: []string{"bought"}, OriginRef: "o", TodoRef: &tasks.Todo{ID: "todo1", Version: 2}, ExecutionRoute: "codex",
		Controller: tasks.Controller{Kind: "user", ClientID: workbench.DesktopClient}, ControlRevision: 3, GoalRevision: 2,
		Corrections: []string{"blue"}, WorkIDs: []string{"w1"}, SessionIDs: []string{"s1"}, EvidenceRefs: []string{"e1"},
		ArtifactRefs: []string{"a1"}, WaitingReason: ptr("no executor"), TodoSync: "pending",
	}
}

func mobileFrame(t *testing.T, p Parts) ([]byte, Truncation) {
	t.Helper()
	frame, cut, err := MobileFrame(p)
	if err != nil {
		t.Fatal(err)
	}
	return frame, cut
}

func desktopFrame(t *testing.T, p Parts) []byte {
	t.Helper()
	frame, err := DesktopFrame(p)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

func TestGoldenSnapshots(t *testing.T) {
	for name, p := range map[string]Parts{"empty": emptyHost(), "full": fullHost()} {
		phone, cut := mobileFrame(t, p)
		if cut != (Truncation{}) {
			t.Errorf("%s: %+v is cut", name, cut)
		}
		for kind, frame := range map[string][]byte{"mobile": phone, "desktop": desktopFrame(t, p)} {
			t.Run(name+"-"+kind, func(t *testing.T) { golden(t, name+"-"+kind+".json", frame) })
		}
	}
}

// golden compares a frame with a file in which it stands indented.
func golden(t *testing.T, name string, frame []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	var got bytes.Buffer
	if err := json.Indent(&got, frame, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run go test ./usecases/personal/hub -update)", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs; look at it, then run go test ./usecases/personal/hub -update\n%s", file, got.Bytes())
	}
	if again := compact(t, want); !bytes.Equal(again, frame) {
		t.Errorf("%s: the frame holds white space", file)
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSnapshotsAreTheSameBytesEveryTime(t *testing.T) {
	phone, _ := mobileFrame(t, fullHost())
	page := desktopFrame(t, fullHost())
	for range 20 {
		again, _ := mobileFrame(t, fullHost())
		if !bytes.Equal(again, phone) || !bytes.Equal(desktopFrame(t, fullHost()), page) {
			t.Fatal("the same parts make other bytes")
		}
	}
}

func TestP56_UnreadCountsAreOfTheProactiveOneAndSumUp(t *testing.T) {
	p := emptyHost()
	p.Conversations[0].Unread = 5 // a chat has none, whatever is stored
	p.Conversations[1].Unread = 3
	for _, frame := range [][]byte{first(mobileFrame(t, p)), desktopFrame(t, p)} {
		s, err := workbench.DecodeSnapshot(frame)
		if err != nil {
			t.Fatal(err)
		}
		c := s.Conversations
		if c.Items[0].Unread != 0 || c.Items[1].Unread != 3 || c.Unread != 3 {
			t.Errorf("unread: main %d, proactive %d, all %d", c.Items[0].Unread, c.Items[1].Unread, c.Unread)
		}
	}
}

func first[A, B any](a A, _ B) A { return a }

func TestP55_MessagesUpToTheReadMarkAreRead(t *testing.T) {
	p := emptyHost()
	all := make([]conversations.Message, 4)
	for i := range all {
		all[i] = conversations.Message{Seq: int64(i + 1), ID: fmt.Sprint(i + 1), Role: conversations.Assistant, CreatedAt: moment}
	}
	all[3].Role = conversations.User
	p.Messages = newestFirst(all...)
	for selected, want := range map[string]string{conversations.ProactiveID: "true true false true", conversations.MainID: "true true true true"} {
		p.SelectedID, p.Conversations[1].ReadThrough = selected, 2
		s, err := workbench.DecodeSnapshot(first(mobileFrame(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range s.Conversations.Messages {
			got = append(got, fmt.Sprint(m.Read))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: read %v, want %s", selected, got, want)
		}
	}
}
