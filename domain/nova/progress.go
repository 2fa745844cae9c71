package nova

// Phase is where a task stands.
type Phase string

// The phases. An alert never stands in executor.tasks.
const (
	PhaseStarted   Phase = "started"
	PhaseWorking   Phase = "working"
	PhaseCompleted Phase = "completed"
	PhaseFailed    Phase = "failed"
	PhaseRefused   Phase = "refused"
	PhaseUnknown   Phase = "unknown"
	PhaseCancelled Phase = "cancelled"
	PhaseAlert     Phase = "alert"
)

// Level is how much a progress message matters.
type Level string

// The levels.
const (
	Milestone Level = "milestone"
	Detail    Level = "detail"
)

// ExecutorProgress is executor.progress. "" in an optional member means absent.
type ExecutorProgress struct {
	DelegateID string // 1…128 UTF-16 units
	Executor   string // 1…128 UTF-16 units
	Phase      Phase
	Summary    string // 1…180 UTF-16 units
	Level      Level
	At         float64 // seconds of the host's clock
	Project    string  // optional, at most 240 UTF-16 units and 120 code points
	Title      string  // optional, likewise
}

// ResultsReset is executor.results.reset: all results that follow replace what
// was known.
type ResultsReset struct{}

// Outcome is how a task ended.
type Outcome string

// The outcomes.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeFailed    Outcome = "failed"
	OutcomeRefused   Outcome = "refused"
	OutcomeLost      Outcome = "unknown"
	OutcomeCancelled Outcome = "cancelled"
)

// ExecutorResult is executor.result. Without a result the task is running.
type ExecutorResult struct {
	WorkID string // 1…128 UTF-16 units
	Result Optional[Result]
}

// Result is what a finished task left. "" in an optional member means absent.
type Result struct {
	DelegateID   string // must equal the work id
	Executor     string // 1…128 UTF-16 units
	Outcome      Outcome
	Summary      string // 1…180 UTF-16 units
	StartedAt    float64
	EndedAt      float64          // not before StartedAt
	ChangedFiles Optional[uint64] // unset means null
	Project      string           // optional, at most 240 UTF-16 units and 120 code points
	Title        string           // optional, likewise
}

// ExecutorTasks is executor.tasks: at most MaxTasks, running ones first.
type ExecutorTasks struct {
	Revision      uint64
	ActiveProject string // "" means null; at most 120 code points
	Tasks         []Task
}

// Task is one entry of executor.tasks.
type Task struct {
	WorkID   string // 1…128 UTF-16 units, printable
	Executor string // 1…128 UTF-16 units, printable
	Project  string // 1…120 code points, printable
	Title    string // 1…120 code points, printable
	Phase    Phase  // not PhaseAlert
	Summary  string // 1…180 UTF-16 units
	At       float64
}
