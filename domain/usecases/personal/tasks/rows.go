package tasks

import (
	"slices"

	"plexus/domain/usecases/personal/hub"
	"plexus/domain/workbench"
)

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

// Viewer is who looks.
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
