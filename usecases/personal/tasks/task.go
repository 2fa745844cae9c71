package tasks

import (
	"slices"

	"plexus/domain/workbench"
	"plexus/usecases/personal/hub"
)

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

// The phases of a task, and why one waits.
const (
	phaseWaiting   = "waiting"
	phaseCompleted = "completed"
	phaseCanceled  = "cancelled"

	waitsForRoute    = "execution_route_required"
	waitsForExecutor = "task_executor_unavailable"
)

// Precondition names the state of a task that the client has seen.
type Precondition struct {
	TaskID                        string
	ControlRevision, GoalRevision uint64
}

// seen is that of the parameters in which it is embedded.
func (p Precondition) seen() Precondition { return p }

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
func (t Task) Ended() bool { return t.Phase == phaseCompleted || t.Phase == phaseCanceled }

// Check gives StaleTask unless the client has seen the current state of t.
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
	t.Phase, t.WaitingReason = phaseCanceled, nil
	t.ControlRevision++
	return t, nil
}

// TakeControl takes a task over or gives it back to the host. Taking over needs an
// executor that would stop, and there is none; giving back needs no executor, and
// any client may do it.
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

// Value is the member tasks of a snapshot: the tasks, in the order in which they
// were made.
func Value(list []Task) hub.Value {
	return hub.Value{List: &hub.List{
		Rows: func(add func(row any) bool) error {
			for _, t := range slices.Backward(list) {
				if !add(Row(t)) {
					break
				}
			}
			return nil
		},
		OldestFirst: true, Counted: true, Len: len(list),
	}}
}

// Row is the task as clients see it in a list.
func Row(t Task) *workbench.TaskRow {
	return &workbench.TaskRow{
		ID: t.ID, Phase: t.Phase, ConversationID: t.ConversationID, ConversationGeneration: t.ConversationGeneration,
		Goal: t.Goal, Acceptance: workbench.List(t.Acceptance), OriginRef: t.OriginRef, TodoRef: (*workbench.VersionRow)(t.TodoRef), ExecutionRoute: t.ExecutionRoute,
		Controller:      workbench.ControllerRow(t.Controller),
		ControlRevision: t.ControlRevision, GoalRevision: t.GoalRevision, Corrections: workbench.List(t.Corrections),
		WorkIDs: workbench.List(t.WorkIDs), SessionIDs: workbench.List(t.SessionIDs), EvidenceRefs: workbench.List(t.EvidenceRefs),
		ArtifactRefs: workbench.List(t.ArtifactRefs), WaitingReason: t.WaitingReason, TodoSync: t.TodoSync,
	}
}

// View is the task as tasks.get shows it. A host without an executor has no
// events, decisions or inputs of it.
type View struct {
	*workbench.TaskRow
	Viewer        Viewer       `json:"viewer"`
	Events        Events       `json:"events"`
	Approvals     []struct{}   `json:"approvals"`
	InputReceipts []struct{}   `json:"input_receipts"`
	Capabilities  Capabilities `json:"capabilities"`
}

// Viewer is the client that looks at the task.
type Viewer struct {
	ClientID    string `json:"client_id"`
	CanTakeover bool   `json:"can_takeover"`
}

// Events is a page of what happened; Next is where the following one begins.
type Events struct {
	Items      []struct{} `json:"items"`
	Next       uint64     `json:"next"`
	Truncated  bool       `json:"truncated"`
	Incomplete bool       `json:"incomplete"`
}

// Capabilities is what a client may do with a task.
type Capabilities struct {
	Detail       string `json:"detail"` // public-events, summary-only
	Input        bool   `json:"input"`
	TodoRetry    bool   `json:"todo_retry"`
	TodoConflict bool   `json:"todo_conflict"`
	Reconcile    bool   `json:"reconcile"`
}

// ViewOf shows a task to a caller who has seen its events up to after.
func ViewOf(t Task, after uint64, caller workbench.Caller) View {
	return View{
		TaskRow: Row(t), Viewer: Viewer(caller),
		Events: Events{Items: []struct{}{}, Next: after}, Approvals: []struct{}{}, InputReceipts: []struct{}{},
		Capabilities: Capabilities{Detail: "summary-only"},
	}
}
