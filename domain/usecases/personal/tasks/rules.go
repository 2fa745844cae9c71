package tasks

import "plexus/domain/workbench"

// Task is a piece of work that was asked for (nova-personal §3.10), as it is
// stored and as it is shown. This host executes none.
type Task struct {
	ID                     string     `json:"id"`
	Phase                  string     `json:"phase"` // queued, running, verifying, waiting, completed, cancelled
	ConversationID         string     `json:"conversation_id"`
	ConversationGeneration *uint64    `json:"conversation_generation,omitempty"`
	Goal                   string     `json:"goal"`
	Acceptance             []string   `json:"acceptance"`
	OriginRef              string     `json:"origin_ref"`
	TodoRef                *Todo      `json:"todo_ref,omitempty"`
	ExecutionRoute         string     `json:"execution_route,omitempty"`
	Controller             Controller `json:"controller"`
	ControlRevision        uint64     `json:"control_revision"`
	GoalRevision           uint64     `json:"goal_revision"`
	Corrections            []string   `json:"corrections"`
	WorkIDs                []string   `json:"work_ids"`
	SessionIDs             []string   `json:"session_ids"`
	EvidenceRefs           []string   `json:"evidence_refs"`
	ArtifactRefs           []string   `json:"artifact_refs"`
	WaitingReason          *string    `json:"waiting_reason"`
	TodoSync               string     `json:"todo_sync"` // none, pending, synced, conflict
}

// Todo names the to-do that a task is for.
type Todo struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// Controller is who holds a task: the host ("nova") or a client ("user").
type Controller struct {
	Kind     string `json:"kind"`
	ClientID string `json:"client_id,omitempty"`
}

// MaxTasks bounds the tasks that are kept; the oldest that have ended go first.
const MaxTasks = 200

// Where a task can be, and why one waits.
const (
	phaseWaiting   = "waiting"
	phaseCompleted = "completed"
	phaseCancelled = "cancelled"

	waitsForRoute    = "execution_route_required"
	waitsForExecutor = "task_executor_unavailable"
)

// Precondition names the state of a task that the client has seen.
type Precondition struct {
	TaskID                        string
	ControlRevision, GoalRevision uint64
}

// hostHolds is the kind of the controller when no client holds a task.
const hostHolds = "nova"

// Delegate makes the task that was asked for, of a conversation of this
// generation. It waits: there is no executor (nova-personal §8.4).
func Delegate(id string, op Delegation, generation uint64) Task {
	reason := waitsForExecutor
	if op.Route == "" {
		reason = waitsForRoute
	}
	t := Task{
		ID: id, Phase: phaseWaiting, ConversationID: op.ConversationID, ConversationGeneration: &generation,
		Goal: op.Goal, Acceptance: op.Acceptance, OriginRef: op.OriginRef, ExecutionRoute: op.Route,
		Controller: Controller{Kind: hostHolds}, WaitingReason: &reason, TodoSync: "none",
	}
	if op.Todo.Set {
		t.TodoRef = &Todo{op.Todo.Value.ID, op.Todo.Value.Version}
	}
	return t
}

// Ended reports whether nothing more will happen to a task.
func (t Task) Ended() bool { return t.Phase == phaseCompleted || t.Phase == phaseCancelled }

// Check is StaleTask for a client that has not seen t as it is.
func Check(t Task, p Precondition) error {
	if p != (Precondition{t.ID, t.ControlRevision, t.GoalRevision}) {
		return workbench.StaleTask
	}
	return nil
}

// Cancel ends a task. Preconditions of before are stale from then on.
func Cancel(t Task, p Precondition) (Task, error) {
	if err := Check(t, p); err != nil {
		return t, err
	}
	if t.Ended() {
		return t, workbench.TaskTerminal
	}
	t.Phase, t.WaitingReason = phaseCancelled, nil
	t.ControlRevision++
	return t, nil
}

// TakeControl takes a task over or gives it back to the host. Taking over needs an
// executor that would stop, and there is none; giving back needs nobody, and any
// client may do it.
func TakeControl(t Task, op Control, caller workbench.Caller) (Task, error) {
	if op.Takeover && !caller.CanTakeover {
		return t, workbench.TaskControlDenied
	}
	if err := Check(t, op.Precondition); err != nil {
		return t, err
	}
	switch {
	case t.Ended():
		return t, workbench.TaskTerminal
	case op.Takeover:
		return t, workbench.TaskRuntimeMissing
	}
	return release(t), nil
}

// ReleaseControl gives a task back to the host if the caller holds it, and reports
// whether it did.
func ReleaseControl(t Task, caller workbench.Caller) (Task, bool) {
	if t.Ended() || t.Controller.Kind == hostHolds || t.Controller.ClientID != caller.ClientID {
		return t, false
	}
	return release(t), true
}

func release(t Task) Task {
	if t.Controller.Kind != hostHolds {
		t.Controller = Controller{Kind: hostHolds}
		t.ControlRevision++
	}
	return t
}
