package nova

// ProjectState is project.state: where the person is, and what they are asked
// to confirm. "" in a name means null.
type ProjectState struct {
	Workspace      string // at most 120 code points
	Session        string // at most 120 code points
	Roster         []Workspace
	Pending        Optional[Proposal]
	ConversationID string // optional
}

// Workspace is one entry of the roster.
type Workspace struct {
	Name       string  // 1…120 code points
	LastUsedAt float64 // seconds
	Running    []RunningWork
}

// RunningWork is a task at work in a workspace.
type RunningWork struct {
	WorkID string // not empty
	Title  string // 1…120 code points
}

// ProposalAction is what a proposal would do; "" means null.
type ProposalAction string

// The actions.
const (
	CreateWorkspace ProposalAction = "create_workspace"
	ReuseWorkspace  ProposalAction = "reuse_workspace"
	SelectWorkspace ProposalAction = "select_workspace"
	ResumeSession   ProposalAction = "resume_session"
)

// Proposal is a pending confirmation.
type Proposal struct {
	ID        string // not blank, at most 128 code points
	Busy      bool   // a decision is being carried out
	Action    ProposalAction
	Workspace string            // "" means null; at most 120 code points
	Session   string            // "" means null; at most 120 code points
	ExpiresIn Optional[float64] // seconds, 0…360; unset while held
}

// Activity is what an executor does.
type Activity string

// The activities.
const (
	Idle      Activity = "idle"
	Preparing Activity = "preparing"
	Running   Activity = "running"
)

// ExecutorState is executor.state.
type ExecutorState struct {
	Executor    string // not blank, at most 256 code points
	DisplayName string // not blank, at most 40 code points
	State       Activity
}

// Decision is an answer to an approval.
type Decision string

// The decisions.
const (
	Accept           Decision = "accept"
	AcceptForSession Decision = "acceptForSession"
	Decline          Decision = "decline"
)

// ExecutorApproval is executor.approval: what an executor asks leave for.
type ExecutorApproval struct {
	Executor       string // not blank, at most 256 code points
	DisplayName    string // not blank, at most 40 code points
	Pending        Optional[Approval]
	ConversationID string // optional
}

// Approval is a pending request for leave.
type Approval struct {
	ID        string // 1…128 code points, new per request
	Busy      bool
	Detail    ApprovalDetail
	Summary   string            // not blank, at most 256 code points
	ExpiresIn Optional[float64] // seconds, 0…60; unset while held
	Allowed   []Decision        // empty: accept and decline
	Work      Optional[ApprovalWork]
}

// ApprovalWork is the task that asks. Append cuts the labels to 120 code points.
type ApprovalWork struct {
	WorkID  string // 1…128 code points
	Project string // not blank
	Title   string // not blank
}

// ApprovalDetail is one of FileChange, CommandExecution, NetworkAccess and
// Permissions.
type ApprovalDetail interface {
	// Kind is the kind on the wire.
	Kind() string
	detail()
}

// FileChange: files would be changed, 1…MaxChanges of them.
type FileChange struct{ Changes []Change }

// Change is one file.
type Change struct {
	Change   string // add, delete or update
	Path     string // 1…4096 code points
	MovePath string // "" means null; at most 4096 code points
}

// CommandExecution: a command would run.
type CommandExecution struct{ CommandDetail }

// NetworkAccess: a command would reach the network.
type NetworkAccess struct{ CommandDetail }

// CommandDetail is what is known of a command.
type CommandDetail struct {
	Command string // not blank, at most 4096 code points
	Cwd     string // not blank, at most 4096 code points
	Scope   string // optional, not blank, at most 1024 code points
}

// Permissions: wider rights are asked for.
type Permissions struct {
	Scope string // at most 1024 code points
}

func (FileChange) Kind() string       { return "file_change" }
func (CommandExecution) Kind() string { return "command_execution" }
func (NetworkAccess) Kind() string    { return "network" }
func (Permissions) Kind() string      { return "permissions" }

func (FileChange) detail()       {}
func (CommandExecution) detail() {}
func (NetworkAccess) detail()    {}
func (Permissions) detail()      {}
