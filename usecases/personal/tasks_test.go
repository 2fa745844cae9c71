package personal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"plexus/adapters/memory"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/tasks"
)

func TestP11_ClientsHaveIDsOfTheirOwnForTasks(t *testing.T) {
	staged(t, func(s *stage) {
		phone, page := s.phone(), s.desktop()
		first := phone.done("r", "tasks.delegate", delegate("Book a table"))
		page.done("r", "tasks.delegate", delegate("Call a taxi"))
		phone.refuse("r", "tasks.delegate", delegate("Something else"), workbench.RequestConflict)
		page.refuse("r", "tasks.delegate", delegate("Something else"), workbench.RequestConflict)
		s.restart()
		phone = s.phone()
		if again := phone.ask("r", "tasks.delegate", delegate("Book a table")); again.ReloadRequired || string(again.Data) != string(first) {
			s.Errorf("a client's own receipt keeps its data: %+v", again)
		}
		if goals := phone.goals(); !slices.Equal(goals, []string{"Book a table", "Call a taxi"}) {
			s.Errorf("tasks %q", goals)
		}
	})
}

func TestP12_APresentationThatFailedMayBeSetAgain(t *testing.T) {
	staged(t, func(s *stage) {
		s.put("task", "t1", held("t1", workbench.RemoteClient))
		phone := s.phone()
		writes := 0
		s.store.BeforeCommit(func() error {
			if writes++; writes == 2 { // the first one reserves the identity
				return errors.New("disk full")
			}
			return nil
		})
		phone.refuse("r", "presentation.set", `{"mode":"background"}`, workbench.PresentationFailed)
		phone.refuse("r", "presentation.set", `{"mode":"orb"}`, workbench.RequestConflict)
		phone.refuse("seen", "presentation.seen", `{}`, workbench.PresentationUnset)
		s.restart()
		phone = s.phone()
		phone.refuse("r", "presentation.set", `{"mode":"orb"}`, workbench.RequestConflict)
		set := phone.done("r", "presentation.set", `{"mode":"background"}`)
		if want := `{"mode":"background","returned_task_ids":["t1"],"task_control_revisions":{"t1":1}}`; string(set) != want {
			s.Errorf("set gave %s, want %s", set, want)
		}
		if again := phone.done("r", "presentation.set", `{"mode":"background"}`); string(again) != string(set) {
			s.Errorf("a repetition gave %s", again)
		}
		phone.refuse("seen2", "presentation.seen", `{}`, workbench.PresentationHidden)
		s.desktop().done("r", "presentation.set", `{"mode":"orb"}`) // a name of its own
	})
}

func TestAPresentationIsOfItsEndpoint(t *testing.T) {
	staged(t, func(s *stage) {
		s.put("task", "mine", held("mine", workbench.RemoteClient))
		s.put("task", "theirs", held("theirs", workbench.DesktopClient))
		phone, page := s.phone(), s.desktop()
		page.refuse("unset", "presentation.seen", `{}`, workbench.PresentationUnset)
		before := page.shownMode()
		page.done("orb", "presentation.set", `{"mode":"orb"}`)
		if after := page.shownMode(); before != "null" || after != `"orb"` {
			s.Errorf("the page shows %s, then %s", before, after)
		}
		if seen := page.done("seen", "presentation.seen", `{}`); string(seen) != `{"mode":"orb"}` {
			s.Errorf("seen %s", seen)
		}
		phone.refuse("unset2", "presentation.seen", `{}`, workbench.PresentationUnset)
		// Who goes on showing the workbench keeps its tasks.
		if set := phone.done("w", "presentation.set", `{"mode":"workbench"}`); string(set) != `{"mode":"workbench","returned_task_ids":[],"task_control_revisions":{}}` {
			s.Errorf("set gave %s", set)
		}
	})
}

// slowStore lets the next look wait for a moment before it begins.
type slowStore struct {
	*memory.Personal
	next chan (<-chan struct{})
}

func (s *slowStore) View(ctx context.Context, look func(ports.PersonalView) error) error {
	select {
	case gate := <-s.next:
		<-gate
	default:
	}
	return s.Personal.View(ctx, look)
}

// A snapshot of the newest revision shows the newest mode: an older one would
// stay on the page.
func TestAModeIsReadWithItsRevision(t *testing.T) {
	slow := &slowStore{next: make(chan (<-chan struct{}), 1)}
	staged(t, func(s *stage) {
		page, gate := s.desktop(), make(chan struct{})
		slow.next <- gate
		shown := make(chan nova.PersonalState)
		go func() {
			state, err := page.Snapshot(s.Context())
			if err != nil {
				s.Error(err)
			}
			shown <- state
		}()
		synctest.Wait()
		page.done("orb", "presentation.set", `{"mode":"orb"}`)
		close(gate)
		late := <-shown
		newest, err := page.Snapshot(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		if late.Revision == newest.Revision && !bytes.Equal(late.Frame, newest.Frame) {
			s.Errorf("revision %d is\n%s\nand\n%s", late.Revision, late.Frame, newest.Frame)
		}
	}, func(d *personal.Deps, _ *personal.Options) {
		slow.Personal = d.Store.(*memory.Personal)
		d.Store = slow
	})
}

// The same once the command is stored and the mode not set yet.
func TestAModeRaisesTheRevision(t *testing.T) {
	late := &lateStore{}
	staged(t, func(s *stage) {
		page := s.desktop()
		free := late.hold(1) // the first write reserves the identity
		page.sendOff("orb", "presentation.set", `{"mode":"orb"}`)
		look := func() nova.PersonalState {
			state, err := page.Snapshot(s.Context())
			if err != nil {
				s.Fatal(err)
			}
			return state
		}
		before := look()
		free()
		if after := look(); after.Revision <= before.Revision || bytes.Equal(after.Frame, before.Frame) {
			s.Errorf("revision %d, then %d:\n%s\n%s", before.Revision, after.Revision, before.Frame, after.Frame)
		}
	}, late.plug)
}

func TestP76_APhoneTakesNoTaskOver(t *testing.T) {
	staged(t, func(s *stage) {
		s.put("task", "t1", held("t1", ""))
		phone, page := s.phone(), s.desktop()
		for i, c := range []struct {
			from *client
			id   string
			can  bool
			want workbench.Refusal
		}{
			{phone, workbench.RemoteClient, false, workbench.TaskControlDenied},
			{page, workbench.DesktopClient, true, workbench.TaskRuntimeMissing}, // there is nobody to stop
		} {
			var seen struct{ Viewer tasks.Viewer }
			if err := json.Unmarshal(c.from.done("get", "tasks.get", `{"task_id":"t1"}`), &seen); err != nil || seen.Viewer != (tasks.Viewer{ClientID: c.id, CanTakeover: c.can}) {
				s.Errorf("viewer %+v, %v", seen.Viewer, err)
			}
			c.from.refuse(fmt.Sprint("c", i), "tasks.control", fence(0, `,"action":"takeover"`), c.want)
			c.from.refuse(fmt.Sprint("d", i), "tasks.control", fence(0, `,"action":"takeover","client_id":"desktop:local"`), workbench.InvalidRequest)
		}
	})
}

func TestTasksWithoutAnExecutor(t *testing.T) {
	staged(t, func(s *stage) {
		s.put("task", "t1", held("t1", ""))
		phone := s.phone()
		for method, c := range map[string]struct {
			more string
			want workbench.Refusal
		}{
			"tasks.input":         {`,"session_id":"s","text":"go on"`, workbench.TaskInputUnavailable},
			"tasks.continue":      {``, workbench.TaskRuntimeMissing},
			"tasks.reconcile":     {`,"resolution":"done"`, workbench.TaskRuntimeMissing},
			"tasks.complete_todo": {`,"todo_version":1`, workbench.TaskRuntimeMissing},
		} {
			phone.refuse("stale"+method, method, fence(7, c.more), workbench.StaleTask)
			phone.refuse("now"+method, method, fence(0, c.more), c.want)
		}
		phone.refuse("unknown", "tasks.get", `{"task_id":"t2"}`, workbench.TaskNotFound)
		phone.refuse("nowhere", "tasks.delegate", `{"conversation_id":"chat:gone","goal":"g","acceptance":[],"origin_ref":"o"}`, workbench.ConversationNotFound)
		phone.done("return", "tasks.control", fence(0, `,"action":"return"`))
		phone.done("cancel", "tasks.cancel", fence(0, ``))
		phone.refuse("again", "tasks.cancel", fence(1, ``), workbench.TaskTerminal)
		// A look is never answered from memory.
		phone.done("look", "tasks.list", `{}`)
		if r := phone.ask("look", "tasks.list", `{}`); r.ReloadRequired || len(r.Data) == 0 {
			s.Errorf("listed again: %+v", r)
		}
	})
}

// TestTaskInput_AFailureSaysWhatBecameOfTheText: whatever the reason, and again when
// the same request is repeated; other commands say nothing of it.
func TestTaskInput_AFailureSaysWhatBecameOfTheText(t *testing.T) {
	staged(t, func(s *stage) {
		s.put("task", "t1", held("t1", ""))
		phone := s.phone()
		text := `,"session_id":"s","text":"go on"`
		for _, c := range []struct {
			id, params string
			want       workbench.Refusal
			task       string
		}{
			{"a", fence(0, text), workbench.TaskInputUnavailable, "t1"},
			{"a", fence(0, text), workbench.TaskInputUnavailable, "t1"},
			{"a", fence(1, text), workbench.RequestConflict, "t1"},
			{"b", fence(7, text), workbench.StaleTask, "t1"},
			{"c", strings.Replace(fence(0, text), `"t1"`, `"t9"`, 1), workbench.TaskNotFound, "t9"},
			{"d", fence(0, `,"session_id":"s","text":""`), workbench.InvalidRequest, ""},
			{"e", fence(0, text+`,"more":1`), workbench.InvalidRequest, ""},
		} {
			r := phone.ask(c.id, "tasks.input", c.params)
			if r.Error != string(c.want) || r.InputStatus != "failed" || r.InputTaskID != c.task {
				s.Errorf("%s %s: %+v", c.id, c.params, r)
			}
		}
		if r := phone.ask("f", "tasks.continue", fence(0, ``)); r.Error == "" || r.InputStatus != "" || r.InputTaskID != "" {
			s.Errorf("tasks.continue: %+v", r)
		}
	})
}

func TestALookWaitsForNoWrite(t *testing.T) {
	staged(t, func(s *stage) {
		s.put("task", "t1", held("t1", ""))
		phone, free := s.phone(), s.stall()
		defer free()
		if err := phone.deliver(submit("a", "chat:main", "holds the store")); err != nil {
			s.Fatal(err)
		}
		synctest.Wait()
		for method, params := range map[string]string{"tasks.list": `{}`, "tasks.get": `{"task_id":"t1"}`} {
			phone.sendOff(method, method, params)
			if r := got[nova.PersonalResult](phone); len(r) != 1 || r[0].Error != "" || len(r[0].Data) == 0 {
				s.Errorf("%s: %+v", method, r)
			}
		}
	})
}

func TestTasksThatHaveEndedMakeRoom(t *testing.T) {
	staged(t, func(s *stage) {
		for i := range tasks.MaxTasks {
			task := held(fmt.Sprintf("t%03d", i), "")
			if i == 50 || i == 60 {
				task.Phase = "completed"
			}
			s.put("task", task.ID, task)
		}
		phone := s.phone()
		there := func(id string) bool {
			return phone.ask("get"+id, "tasks.get", `{"task_id":"`+id+`"}`).Error == ""
		}
		phone.done("a", "tasks.delegate", delegate("a"))
		if there("t050") || !there("t000") || !there("t060") {
			s.Error("the first one to go is not the oldest that has ended")
		}
		phone.done("b", "tasks.delegate", delegate("b"))
		if there("t060") || !there("t000") {
			s.Error("one that waits went, or one that has ended stayed")
		}
		phone.refuse("c", "tasks.delegate", delegate("c"), workbench.StoreCapacity)
		if n := len(phone.goals()); n != tasks.MaxTasks {
			s.Errorf("%d tasks are kept", n)
		}
		phone.done("cancel", "tasks.cancel", `{"task_id":"t000","control_revision":0,"goal_revision":0}`)
		phone.done("d", "tasks.delegate", delegate("c"))
	})
}

// The rights are the endpoint's, never the frame's.
func TestTermsSayWhoACallerIs(t *testing.T) {
	for _, terms := range []hub.Terms{{}, {Personal: true}} {
		if c := terms.Caller(); c.ClientID != "remote:master" || c.CanTakeover {
			t.Errorf("%+v is %+v", terms, c)
		}
	}
	if c := (hub.Terms{Desktop: true}).Caller(); c.ClientID != "desktop:local" || !c.CanTakeover {
		t.Errorf("the page is %+v", c)
	}
}

// held is a task that waits, held by a client or, for "", by the host.
func held(id, by string) tasks.Task {
	holder := tasks.Controller{Kind: "nova"}
	if by != "" {
		holder = tasks.Controller{Kind: "user", ClientID: by}
	}
	return tasks.Task{ID: id, Phase: "waiting", ConversationID: "chat:main", Goal: id, OriginRef: "o", Controller: holder, TodoSync: "none"}
}

func delegate(goal string) string {
	return `{"conversation_id":"chat:main","goal":"` + goal + `","acceptance":[],"origin_ref":"o"}`
}

// fence is the parameters of a change of task t1.
func fence(revision int, more string) string {
	return fmt.Sprintf(`{"task_id":"t1","control_revision":%d,"goal_revision":0%s}`, revision, more)
}

// goals lists those of the tasks.
func (c *client) goals() (goals []string) {
	c.Helper()
	var list []struct{ Goal string }
	if err := json.Unmarshal(c.done("goals", "tasks.list", `{}`), &list); err != nil {
		c.Fatal(err)
	}
	for _, t := range list {
		goals = append(goals, t.Goal)
	}
	return goals
}

// shownMode is how the page is shown the host.
func (c *client) shownMode() string {
	c.Helper()
	state, err := c.Snapshot(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	var shown struct {
		Mode json.RawMessage `json:"presentation_mode"`
	}
	if err := json.Unmarshal(state.Frame, &shown); err != nil {
		c.Fatal(err)
	}
	return string(shown.Mode)
}
