package workbench

// Task is a piece of work that was asked for (nova-personal §3.10), as it is
// stored and as it is shown. This host executes none.
type Task struct {
	ID                     string         `json:"id"`
	Phase                  string         `json:"phase"` // queued, running, verifying, waiting, completed, cancelled
	ConversationID         string         `json:"conversation_id"`
	ConversationGeneration *uint64        `json:"conversation_generation,omitempty"`
	Goal                   string         `json:"goal"`
	Acceptance             []string       `json:"acceptance"`
	OriginRef              string         `json:"origin_ref"`
	TodoRef                *TaskTodo      `json:"todo_ref,omitempty"`
	ExecutionRoute         string         `json:"execution_route,omitempty"`
	Controller             TaskController `json:"controller"`
	ControlRevision        uint64         `json:"control_revision"`
	GoalRevision           uint64         `json:"goal_revision"`
	Corrections            []string       `json:"corrections"`
	WorkIDs                []string       `json:"work_ids"`
	SessionIDs             []string       `json:"session_ids"`
	EvidenceRefs           []string       `json:"evidence_refs"`
	ArtifactRefs           []string       `json:"artifact_refs"`
	WaitingReason          *string        `json:"waiting_reason"`
	TodoSync               string         `json:"todo_sync"` // none, pending, synced, conflict
}

// TaskTodo names the to-do that a task is for.
type TaskTodo struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// TaskController is who holds a task: the host ("nova") or a client ("user").
type TaskController struct {
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

// hostHolds is the kind of the controller when no client holds a task.
const hostHolds = "nova"

// Delegate makes the task that was asked for, of a conversation of this
// generation. It waits: there is no executor (nova-personal §8.4).
func Delegate(id string, op DelegateTask, generation uint64) Task {
	reason := waitsForExecutor
	if op.Route == "" {
		reason = waitsForRoute
	}
	t := Task{
		ID: id, Phase: phaseWaiting, ConversationID: op.ConversationID, ConversationGeneration: &generation,
		Goal: op.Goal, Acceptance: op.Acceptance, OriginRef: op.OriginRef, ExecutionRoute: op.Route,
		Controller: TaskController{Kind: hostHolds}, WaitingReason: &reason, TodoSync: "none",
	}
	if op.Todo.Set {
		t.TodoRef = &TaskTodo{op.Todo.Value.ID, op.Todo.Value.Version}
	}
	return t
}

// Ended reports whether nothing more will happen to a task.
func (t Task) Ended() bool { return t.Phase == phaseCompleted || t.Phase == phaseCancelled }

// CheckFence is StaleTask for a client that has not seen t as it is.
func CheckFence(t Task, e Fence) error {
	if e != (Fence{t.ID, t.ControlRevision, t.GoalRevision}) {
		return StaleTask
	}
	return nil
}

// Cancel ends a task. Fences of before are stale from then on.
func Cancel(t Task, e Fence) (Task, error) {
	if err := CheckFence(t, e); err != nil {
		return t, err
	}
	if t.Ended() {
		return t, TaskTerminal
	}
	t.Phase, t.WaitingReason = phaseCancelled, nil
	t.ControlRevision++
	return t, nil
}

// Control takes a task over or gives it back to the host. Taking over needs an
// executor that would stop, and there is none; giving back needs nobody, and any
// client may do it.
func Control(t Task, op ControlTask, caller Caller) (Task, error) {
	if op.Takeover && !caller.CanTakeover {
		return t, TaskControlDenied
	}
	if err := CheckFence(t, op.Fence); err != nil {
		return t, err
	}
	switch {
	case t.Ended():
		return t, TaskTerminal
	case op.Takeover:
		return t, TaskRuntimeMissing
	}
	return release(t), nil
}

// HandBack gives a task back to the host if the caller holds it, and reports
// whether it did.
func HandBack(t Task, caller Caller) (Task, bool) {
	if t.Ended() || t.Controller.Kind == hostHolds || t.Controller.ClientID != caller.ClientID {
		return t, false
	}
	return release(t), true
}

func release(t Task) Task {
	if t.Controller.Kind != hostHolds {
		t.Controller = TaskController{Kind: hostHolds}
		t.ControlRevision++
	}
	return t
}

// Shown is the task as clients see it in a list.
func (t Task) Shown() *ShownTask { return showTask(t) }

// TaskView is the task as tasks.get shows it. A host without an executor has no
// events, decisions or inputs of it.
type TaskView struct {
	*ShownTask
	Viewer        TaskViewer       `json:"viewer"`
	Events        TaskEvents       `json:"events"`
	Approvals     []struct{}       `json:"approvals"`
	InputReceipts []struct{}       `json:"input_receipts"`
	Capabilities  TaskCapabilities `json:"capabilities"`
}

// TaskViewer is who looks.
type TaskViewer struct {
	ClientID    string `json:"client_id"`
	CanTakeover bool   `json:"can_takeover"`
}

// TaskEvents is a page of what happened; Next is where the following one begins.
type TaskEvents struct {
	Items      []struct{} `json:"items"`
	Next       uint64     `json:"next"`
	Truncated  bool       `json:"truncated"`
	Incomplete bool       `json:"incomplete"`
}

// TaskCapabilities is what a client may do with a task.
type TaskCapabilities struct {
	Detail       string `json:"detail"` // public-events, summary-only
	Input        bool   `json:"input"`
	TodoRetry    bool   `json:"todo_retry"`
	TodoConflict bool   `json:"todo_conflict"`
	Reconcile    bool   `json:"reconcile"`
}

// ViewTask shows a task to a caller who has seen its events up to after.
func ViewTask(t Task, after uint64, caller Caller) TaskView {
	return TaskView{
		ShownTask: showTask(t), Viewer: TaskViewer(caller),
		Events: TaskEvents{Items: []struct{}{}, Next: after}, Approvals: []struct{}{}, InputReceipts: []struct{}{},
		Capabilities: TaskCapabilities{Detail: "summary-only"},
	}
}
