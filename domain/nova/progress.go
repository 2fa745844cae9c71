package nova

import "plexus/domain/nova/jsonform"

// Phase is the state of a task.
type Phase string

// The phases. An alert is never in executor.tasks.
const (
	PhaseStarted   Phase = "started"
	PhaseWorking   Phase = "working"
	PhaseCompleted Phase = "completed"
	PhaseFailed    Phase = "failed"
	PhaseRefused   Phase = "refused"
	PhaseUnknown   Phase = "unknown"
	PhaseCanceled  Phase = "cancelled"
	PhaseAlert     Phase = "alert"
)

// phases lists every phase, the alert last.
var phases = [...]Phase{
	PhaseStarted, PhaseWorking, PhaseCompleted, PhaseFailed, PhaseRefused, PhaseUnknown, PhaseCanceled, PhaseAlert,
}

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
	OutcomeOK       Outcome = "ok"
	OutcomeFailed   Outcome = "failed"
	OutcomeRefused  Outcome = "refused"
	OutcomeLost     Outcome = "unknown"
	OutcomeCanceled Outcome = "cancelled"
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

func (ExecutorProgress) Type() string { return "executor.progress" }
func (ResultsReset) Type() string     { return "executor.results.reset" }
func (ExecutorResult) Type() string   { return "executor.result" }
func (ExecutorTasks) Type() string    { return "executor.tasks" }

func (m ExecutorProgress) message() schema { return &m }
func (m ResultsReset) message() schema     { return &m }
func (m ExecutorResult) message() schema   { return &m }
func (m ExecutorTasks) message() schema    { return &m }

// summary is the rule of one line about a task.
func summary(s string) bool { return jsonform.Units(1, 180)(s) }

// origin is the rule of the labels of a task.
func origin(s string) bool { return jsonform.Units(1, 240)(s) && label(s) }

// displayLabel is the rule of labels that a list shows.
func displayLabel(s string) bool { return label(s) && jsonform.Printable(s) }

func (m *ExecutorProgress) form(f *jsonform.Form) {
	f.Text("delegate_id", jsonform.Required, &m.DelegateID, id128u)
	f.Text("executor", jsonform.Required, &m.Executor, id128u)
	jsonform.Choice(f, "phase", jsonform.Required, &m.Phase, phases[:]...)
	f.Text("summary", jsonform.Required, &m.Summary, summary)
	jsonform.Choice(f, "level", jsonform.Required, &m.Level, Milestone, Detail)
	f.Number("ts", &m.At, 0, MaxSafeInteger)
	f.Text("project", jsonform.Omitted, &m.Project, origin)
	f.Text("title", jsonform.Omitted, &m.Title, origin)
}

func (m *ResultsReset) form(*jsonform.Form) {}

func (m *ExecutorResult) form(f *jsonform.Form) {
	f.Text("work_id", jsonform.Required, &m.WorkID, id128u)
	jsonform.OptionalObject(f, "result", jsonform.Null, &m.Result, func(f *jsonform.Form, r *Result) {
		f.Text("delegate_id", jsonform.Required, &r.DelegateID, id128u)
		f.Text("executor", jsonform.Required, &r.Executor, id128u)
		jsonform.Choice(f, "outcome", jsonform.Required, &r.Outcome,
			OutcomeOK, OutcomeFailed, OutcomeRefused, OutcomeLost, OutcomeCanceled)
		f.Text("summary", jsonform.Required, &r.Summary, summary)
		f.Number("started_at", &r.StartedAt, 0, MaxSafeInteger)
		f.Number("ended_at", &r.EndedAt, r.StartedAt, MaxSafeInteger)
		f.OptionalUint("changed_files", jsonform.Null, &r.ChangedFiles, 0, MaxSafeInteger)
		f.Text("project", jsonform.Omitted, &r.Project, origin)
		f.Text("title", jsonform.Omitted, &r.Title, origin)
	})
	f.Want("result", !m.Result.Set || m.Result.Value.DelegateID == m.WorkID)
}

func (m *ExecutorTasks) form(f *jsonform.Form) {
	f.Uint("revision", &m.Revision, 0, MaxSafeInteger)
	f.Text("active_project", jsonform.Null, &m.ActiveProject, displayLabel)
	jsonform.List(f, "tasks", &m.Tasks, 0, MaxTasks, func(f *jsonform.Form, t *Task) {
		f.Text("work_id", jsonform.Required, &t.WorkID, taskID)
		f.Text("executor", jsonform.Required, &t.Executor, taskID)
		f.Text("project", jsonform.Required, &t.Project, displayLabel)
		f.Text("title", jsonform.Required, &t.Title, displayLabel)
		jsonform.Choice(f, "phase", jsonform.Required, &t.Phase, phases[:len(phases)-1]...)
		f.Text("summary", jsonform.Required, &t.Summary, summary)
		f.Number("ts", &t.At, 0, MaxSafeInteger)
	})
}
