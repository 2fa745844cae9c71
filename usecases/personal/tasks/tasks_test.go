package tasks_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/tasks"
)

var (
	aPhone  = workbench.Caller{ClientID: workbench.RemoteClient}
	thePage = workbench.Caller{ClientID: workbench.DesktopClient, CanTakeover: true}
)

func waiting() tasks.Task {
	return tasks.Delegate("t", tasks.Delegation{
		ConversationID: "a", Goal: "g", OriginRef: "o", Acceptance: []string{"x"}, Todo: nova.Some(nova.TodoRef{ID: "i", Version: 2}),
	}, 3)
}

// held is a task that the page has taken over.
func held() tasks.Task {
	t := waiting()
	t.Controller, t.ControlRevision, t.GoalRevision = tasks.Controller{Kind: "user", ClientID: thePage.ClientID}, 5, 2
	return t
}

func fence(t tasks.Task) tasks.Precondition {
	return tasks.Precondition{TaskID: t.ID, ControlRevision: t.ControlRevision, GoalRevision: t.GoalRevision}
}

func TestDelegatedTasksWait(t *testing.T) {
	task := waiting()
	if task.Phase != "waiting" || *task.WaitingReason != "execution_route_required" || *task.ConversationGeneration != 3 ||
		task.Controller != (tasks.Controller{Kind: "nova"}) || *task.TodoRef != (tasks.Todo{ID: "i", Version: 2}) || task.TodoSync != "none" {
		t.Errorf("%+v", task)
	}
	routed := tasks.Delegate("t", tasks.Delegation{Route: "codex"}, 0)
	if *routed.WaitingReason != "task_executor_unavailable" || routed.ExecutionRoute != "codex" || routed.TodoRef != nil {
		t.Errorf("%+v", routed)
	}
	body, err := json.Marshal(task)
	var again tasks.Task
	if err != nil || json.Unmarshal(body, &again) != nil || !reflect.DeepEqual(again, task) {
		t.Errorf("comes back as %+v, %v", again, err)
	}
}

func TestFences(t *testing.T) {
	task := held()
	good := fence(task)
	if err := tasks.Check(task, good); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*tasks.Precondition){
		func(e *tasks.Precondition) { e.TaskID = "u" },
		func(e *tasks.Precondition) { e.ControlRevision-- },
		func(e *tasks.Precondition) { e.ControlRevision++ },
		func(e *tasks.Precondition) { e.GoalRevision-- },
	} {
		stale := good
		change(&stale)
		_, canceled := tasks.Cancel(task, stale)
		_, returned := tasks.TakeControl(task, tasks.Control{Precondition: stale}, aPhone)
		_, taken := tasks.TakeControl(task, tasks.Control{Precondition: stale, Takeover: true}, thePage)
		for _, err := range []error{tasks.Check(task, stale), canceled, returned, taken} {
			if !errors.Is(err, workbench.StaleTask) {
				t.Errorf("%+v: %v", stale, err)
			}
		}
	}
}

func TestCancelEndsATask(t *testing.T) {
	task := waiting()
	done, err := tasks.Cancel(task, fence(task))
	if err != nil || done.Phase != "cancelled" || done.WaitingReason != nil || !done.Ended() || task.Ended() {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := tasks.Cancel(done, fence(task)); !errors.Is(err, workbench.StaleTask) {
		t.Errorf("with the fence of before: %v", err)
	}
	completed := waiting()
	completed.Phase = "completed"
	for _, ended := range []tasks.Task{done, completed} {
		_, canceled := tasks.Cancel(ended, fence(ended))
		_, returned := tasks.TakeControl(ended, tasks.Control{Precondition: fence(ended)}, aPhone)
		for _, err := range []error{canceled, returned} {
			if !errors.Is(err, workbench.TaskTerminal) {
				t.Errorf("%s: %v", ended.Phase, err)
			}
		}
	}
}

func TestP76_APhoneTakesNothingOver(t *testing.T) {
	for _, task := range []tasks.Task{waiting(), held()} {
		got, err := tasks.TakeControl(task, tasks.Control{Precondition: fence(task), Takeover: true}, aPhone)
		if !errors.Is(err, workbench.TaskControlDenied) || !reflect.DeepEqual(got, task) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := tasks.TakeControl(task, tasks.Control{Precondition: fence(task), Takeover: true}, thePage); !errors.Is(err, workbench.TaskRuntimeMissing) {
			t.Errorf("the owner's page: %v", err)
		}
	}
}

func TestTasksAreGivenBack(t *testing.T) {
	task := held()
	got, err := tasks.TakeControl(task, tasks.Control{Precondition: fence(task)}, aPhone) // any client may
	if err != nil || got.Controller != (tasks.Controller{Kind: "nova"}) || got.ControlRevision != task.ControlRevision+1 {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := tasks.TakeControl(got, tasks.Control{Precondition: fence(got)}, aPhone); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("what the host has already: %+v, %v", again, err)
	}
	if back, ok := tasks.ReleaseControl(task, thePage); !ok || !reflect.DeepEqual(back, got) {
		t.Errorf("%+v, %v", back, ok)
	}
	ended := held()
	ended.Phase = "cancelled"
	for name, c := range map[string]struct {
		task   tasks.Task
		caller workbench.Caller
	}{"another's": {task, aPhone}, "the host's": {waiting(), thePage}, "nobody's": {waiting(), workbench.Caller{}}, "ended": {ended, thePage}} {
		if back, ok := tasks.ReleaseControl(c.task, c.caller); ok || !reflect.DeepEqual(back, c.task) {
			t.Errorf("%s: %+v", name, back)
		}
	}
}

func TestATaskAsItIsLookedAt(t *testing.T) {
	body, err := json.Marshal(tasks.ViewOf(waiting(), 7, aPhone))
	const want = `{"id":"t","phase":"waiting","conversation_id":"a","conversation_generation":3,"goal":"g","acceptance":["x"],` +
		`"origin_ref":"o","todo_ref":{"id":"i","version":2},"controller":{"kind":"nova"},"control_revision":0,"goal_revision":0,` +
		`"corrections":[],"work_ids":[],"session_ids":[],"evidence_refs":[],"artifact_refs":[],"waiting_reason":"execution_route_required",` +
		`"todo_sync":"none","viewer":{"client_id":"remote:master","can_takeover":false},` +
		`"events":{"items":[],"next":7,"truncated":false,"incomplete":false},"approvals":[],"input_receipts":[],` +
		`"capabilities":{"detail":"summary-only","input":false,"todo_retry":false,"todo_conflict":false,"reconcile":false}}`
	if err != nil || string(body) != want {
		t.Errorf("%s, %v", body, err)
	}
}
