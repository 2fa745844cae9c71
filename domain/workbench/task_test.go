package workbench_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"plexus/domain/nova"
	"plexus/domain/workbench"
)

var (
	aPhone  = workbench.Caller{ClientID: workbench.RemoteClient}
	thePage = workbench.Caller{ClientID: workbench.DesktopClient, CanTakeover: true}
)

func waiting() workbench.Task {
	return workbench.Delegate("t", workbench.DelegateTask{
		ConversationID: "a", Goal: "g", OriginRef: "o", Acceptance: []string{"x"}, Todo: nova.Some(nova.TodoRef{ID: "i", Version: 2}),
	}, 3)
}

// held is a task that the page has taken over.
func held() workbench.Task {
	t := waiting()
	t.Controller, t.ControlRevision, t.GoalRevision = workbench.TaskController{Kind: "user", ClientID: thePage.ClientID}, 5, 2
	return t
}

func fence(t workbench.Task) workbench.Fence {
	return workbench.Fence{TaskID: t.ID, ControlRevision: t.ControlRevision, GoalRevision: t.GoalRevision}
}

func TestDelegatedTasksWait(t *testing.T) {
	task := waiting()
	if task.Phase != "waiting" || *task.WaitingReason != "execution_route_required" || *task.ConversationGeneration != 3 ||
		task.Controller != (workbench.TaskController{Kind: "nova"}) || *task.TodoRef != (workbench.TaskTodo{ID: "i", Version: 2}) || task.TodoSync != "none" {
		t.Errorf("%+v", task)
	}
	routed := workbench.Delegate("t", workbench.DelegateTask{Route: "codex"}, 0)
	if *routed.WaitingReason != "task_executor_unavailable" || routed.ExecutionRoute != "codex" || routed.TodoRef != nil {
		t.Errorf("%+v", routed)
	}
	body, err := json.Marshal(task)
	var again workbench.Task
	if err != nil || json.Unmarshal(body, &again) != nil || !reflect.DeepEqual(again, task) {
		t.Errorf("comes back as %+v, %v", again, err)
	}
}

func TestFences(t *testing.T) {
	task := held()
	good := fence(task)
	if err := workbench.CheckFence(task, good); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*workbench.Fence){
		func(e *workbench.Fence) { e.TaskID = "u" },
		func(e *workbench.Fence) { e.ControlRevision-- },
		func(e *workbench.Fence) { e.ControlRevision++ },
		func(e *workbench.Fence) { e.GoalRevision-- },
	} {
		stale := good
		change(&stale)
		_, cancelled := workbench.Cancel(task, stale)
		_, returned := workbench.Control(task, workbench.ControlTask{Fence: stale}, aPhone)
		_, taken := workbench.Control(task, workbench.ControlTask{Fence: stale, Takeover: true}, thePage)
		for _, err := range []error{workbench.CheckFence(task, stale), cancelled, returned, taken} {
			if !errors.Is(err, workbench.StaleTask) {
				t.Errorf("%+v: %v", stale, err)
			}
		}
	}
}

func TestCancelEndsATask(t *testing.T) {
	task := waiting()
	done, err := workbench.Cancel(task, fence(task))
	if err != nil || done.Phase != "cancelled" || done.WaitingReason != nil || !done.Ended() || task.Ended() {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := workbench.Cancel(done, fence(task)); !errors.Is(err, workbench.StaleTask) {
		t.Errorf("with the fence of before: %v", err)
	}
	completed := waiting()
	completed.Phase = "completed"
	for _, ended := range []workbench.Task{done, completed} {
		_, cancelled := workbench.Cancel(ended, fence(ended))
		_, returned := workbench.Control(ended, workbench.ControlTask{Fence: fence(ended)}, aPhone)
		for _, err := range []error{cancelled, returned} {
			if !errors.Is(err, workbench.TaskTerminal) {
				t.Errorf("%s: %v", ended.Phase, err)
			}
		}
	}
}

func TestP76_APhoneTakesNothingOver(t *testing.T) {
	for _, task := range []workbench.Task{waiting(), held()} {
		got, err := workbench.Control(task, workbench.ControlTask{Fence: fence(task), Takeover: true}, aPhone)
		if !errors.Is(err, workbench.TaskControlDenied) || !reflect.DeepEqual(got, task) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := workbench.Control(task, workbench.ControlTask{Fence: fence(task), Takeover: true}, thePage); !errors.Is(err, workbench.TaskRuntimeMissing) {
			t.Errorf("the owner's page: %v", err)
		}
	}
}

func TestTasksAreGivenBack(t *testing.T) {
	task := held()
	got, err := workbench.Control(task, workbench.ControlTask{Fence: fence(task)}, aPhone) // any client may
	if err != nil || got.Controller != (workbench.TaskController{Kind: "nova"}) || got.ControlRevision != task.ControlRevision+1 {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := workbench.Control(got, workbench.ControlTask{Fence: fence(got)}, aPhone); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("what the host has already: %+v, %v", again, err)
	}
	if back, ok := workbench.HandBack(task, thePage); !ok || !reflect.DeepEqual(back, got) {
		t.Errorf("%+v, %v", back, ok)
	}
	ended := held()
	ended.Phase = "cancelled"
	for name, c := range map[string]struct {
		task   workbench.Task
		caller workbench.Caller
	}{"another's": {task, aPhone}, "the host's": {waiting(), thePage}, "nobody's": {waiting(), workbench.Caller{}}, "ended": {ended, thePage}} {
		if back, ok := workbench.HandBack(c.task, c.caller); ok || !reflect.DeepEqual(back, c.task) {
			t.Errorf("%s: %+v", name, back)
		}
	}
}

func TestATaskAsItIsLookedAt(t *testing.T) {
	body, err := json.Marshal(workbench.ViewTask(waiting(), 7, aPhone))
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
