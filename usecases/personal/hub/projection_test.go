package hub_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// allowed is every member that a phone may see, by its path without array
// indices. A question mark stands behind what a row may lack.
const allowed = `
type revision
memory memory.entries memory.cursor memory.overview
capabilities capabilities.tasks capabilities.tasks.input capabilities.tasks.cancel capabilities.tasks.continue
capabilities.memory capabilities.memory.list capabilities.memory.get capabilities.memory.correct
capabilities.memory.forgetEntry capabilities.memory.forgetSource capabilities.memory.purgeEntry
pending_approvals pending_confirmations
news news.enabled news.refreshing news.items news.saved
workbench_context workbench_context.status workbench_context.recap workbench_context.recap.text
workbench_context.recap.projects workbench_context.cards
profile_preparation profile_preparation.status profile_preparation.draft
life
life.todos life.todos.id life.todos.kind life.todos.version life.todos.title life.todos.note life.todos.status
life.todos.created_at life.todos.updated_at life.todos.due life.todos.goal_id life.todos.idea_id
life.ideas life.ideas.id life.ideas.kind life.ideas.version life.ideas.title life.ideas.note life.ideas.status
life.ideas.created_at life.ideas.updated_at life.ideas.goal_id
life.goals life.goals.id life.goals.kind life.goals.version life.goals.title life.goals.note life.goals.status
life.goals.created_at life.goals.updated_at life.goals.success_criteria life.goals.idea_id
life.goals.progress life.goals.progress.done life.goals.progress.total
life.profile life.profile.about life.profile.version
conversations conversations.selected_id conversations.voice_id conversations.unread_count
conversations.items conversations.items.id conversations.items.kind conversations.items.title conversations.items.subject_key
conversations.items.created_at conversations.items.updated_at conversations.items.generation
conversations.items.unread_count conversations.items.coding_target
conversations.messages conversations.messages.id conversations.messages.conversation_id conversations.messages.role
conversations.messages.text conversations.messages.created_at conversations.messages.read
conversations.messages.turn_id? conversations.messages.reply_to? conversations.messages.request_id?
conversations.messages.generation_status? conversations.messages.delivery?
conversations.messages.source_todo? conversations.messages.source_todo.id conversations.messages.source_todo.version
feed feed.id feed.kind feed.title feed.why_now feed.evidence_refs
feed.memory_refs feed.memory_refs.entry_id feed.memory_refs.version feed.source feed.source.type feed.source.ref
feed.suggestion_id feed.task_ref feed.task_ref.work_id feed.subject_key feed.priority feed.created_at feed.updated_at
feed.expires_at feed.user_state feed.snooze_until feed.lifecycle
feed.delivery feed.delivery.presented_at feed.delivery.notified_at feed.delivery.spoken_at
feed.prepared? feed.prepared.trust feed.prepared.text feed.prepared.evidence_refs feed.action_label?
tasks tasks.id tasks.phase tasks.conversation_id tasks.conversation_generation? tasks.goal tasks.acceptance tasks.origin_ref
tasks.todo_ref? tasks.todo_ref.id tasks.todo_ref.version tasks.execution_route?
tasks.controller tasks.controller.kind tasks.controller.client_id? tasks.control_revision tasks.goal_revision
tasks.corrections tasks.work_ids tasks.session_ids tasks.evidence_refs tasks.artifact_refs tasks.waiting_reason tasks.todo_sync
`

// member is what the list says of one member.
type member struct {
	path string
	must bool
}

// allowedMembers is the list by the path of the object and the member's name.
func allowedMembers() map[string]map[string]member {
	objects := map[string]map[string]member{}
	for _, word := range strings.Fields(allowed) {
		path, optional := strings.CutSuffix(word, "?")
		at := strings.LastIndexByte(path, '.')
		object := path[:max(at, 0)]
		if objects[object] == nil {
			objects[object] = map[string]member{}
		}
		objects[object][path[at+1:]] = member{path, !optional}
	}
	return objects
}

// checkMembers walks a frame: every member must be on the list, and every object
// have those that must be there. It returns the paths that it has met.
func checkMembers(t *testing.T, frame []byte) map[string]bool {
	t.Helper()
	objects, met := allowedMembers(), map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(path, one)
			}
		case map[string]any:
			for name, m := range objects[path] {
				if _, there := v[name]; m.must && !there {
					t.Errorf("an object of %q lacks %s", path, name)
				}
			}
			for name, one := range v {
				m, may := objects[path][name]
				if !may {
					t.Errorf("%s of %q is private", name, path)
				}
				met[m.path] = true
				walk(m.path, one)
			}
		}
	}
	var whole map[string]any
	if err := json.Unmarshal(frame, &whole); err != nil {
		t.Fatal(err)
	}
	walk("", whole)
	return met
}

func TestP69_N79_PhonesSeeTheAllowedMembersAndNoOthers(t *testing.T) {
	frame, _ := mobileFrame(t, fullHost())
	text, err := nova.Append(nil, nova.PersonalResult{RequestID: "r", Data: frame})
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Data json.RawMessage }
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string][]byte{"pushed": frame, "in a result": result.Data} {
		t.Run(name, func(t *testing.T) {
			met := checkMembers(t, state)
			for _, word := range strings.Fields(allowed) {
				if path := strings.TrimSuffix(word, "?"); !met[path] {
					t.Errorf("%s is missing", path)
				}
			}
		})
	}
	page := map[string]json.RawMessage{}
	if err := json.Unmarshal(desktopFrame(t, fullHost()), &page); err != nil {
		t.Fatal(err)
	}
	private := slices.DeleteFunc(slices.Sorted(maps.Keys(page)), func(name string) bool {
		_, may := allowedMembers()[""][name]
		return may
	})
	if want := []string{"connectors", "feishu", "presentation_mode", "settings", "sources", "understanding"}; !slices.Equal(private, want) {
		t.Errorf("the owner's page alone has %v, want %v", private, want)
	}
}

// A frame of exactly 1,048,576 bytes passes, one more does not, and characters
// of three bytes count as three.
func TestP72_N80_FramesArePersonalUpToTheLastByte(t *testing.T) {
	if nova.MaxPersonalText != 1_048_576 || workbench.MaxMobileFrame > nova.MaxPersonalText {
		t.Fatalf("phones get up to %d bytes, and states of %d", nova.MaxPersonalText, workbench.MaxMobileFrame)
	}
	state := func(size int) nova.Message {
		return nova.PersonalState{Revision: 41, Frame: padded(`{"type":"personal.state","revision":41,"pad":"`, `"}`, size)}
	}
	result := func(size int) nova.Message {
		around := len(`{"type":"personal.result","request_id":"r","ok":true,"data":}`)
		return nova.PersonalResult{RequestID: "r", Data: padded(`{"type":"personal.state","pad":"`, `"}`, size-around)}
	}
	for name, c := range map[string]struct {
		message func(size int) nova.Message
		marker  string
	}{
		"state":  {state, `{"type":"personal.state","revision":41,"reload_required":true}`},
		"result": {result, `{"type":"personal.result","request_id":"r","ok":true,"reload_required":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			fits, err := nova.Append(nil, c.message(1_048_576))
			if err != nil || len(fits) != 1_048_576 {
				t.Errorf("1,048,576 bytes become %d, %v", len(fits), err)
			}
			if points := len([]rune(string(fits))); points > 400_000 {
				t.Errorf("%d characters do not tell bytes from characters", points)
			}
			long, err := nova.Append(nil, c.message(1_048_577))
			if err != nil || string(long) != c.marker {
				t.Errorf("one byte more becomes %.120s, %v", long, err)
			}
		})
	}
}

// padded is a text of exactly size bytes, nearly all of them in characters of three.
func padded(head, tail string, size int) json.RawMessage {
	n := size - len(head) - len(tail)
	return json.RawMessage(head + strings.Repeat("字", n/3) + strings.Repeat("x", n%3) + tail)
}
