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
