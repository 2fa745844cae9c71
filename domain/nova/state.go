package nova

import (
	"math"
	"slices"

	"plexus/domain/nova/jsonform"
)

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
	ExpiresIn Optional[float64] // seconds, 0…MaxConfirmation; unset, that is null, while held
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

var decisions = [...]Decision{Accept, AcceptForSession, Decline}

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
	ExpiresIn Optional[float64] // seconds, 0…MaxApproval; unset, that is null, while held
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

func (ProjectState) Type() string     { return "project.state" }
func (ExecutorState) Type() string    { return "executor.state" }
func (ExecutorApproval) Type() string { return "executor.approval" }

func (m ProjectState) message() schema     { return &m }
func (m ExecutorState) message() schema    { return &m }
func (m ExecutorApproval) message() schema { return &m }

// label is the rule of names that people see.
func label(s string) bool { return jsonform.Points(1, 120)(s) }

func (m *ProjectState) form(f *jsonform.Form) {
	f.Text("workspace_display_name", jsonform.Null, &m.Workspace, label)
	f.Text("session_title", jsonform.Null, &m.Session, label)
	jsonform.List(f, "roster", &m.Roster, 0, MaxRoster, func(f *jsonform.Form, w *Workspace) {
		f.Text("name", jsonform.Required, &w.Name, label)
		f.Number("last_used_at", &w.LastUsedAt, 0, MaxSafeInteger)
		jsonform.List(f, "running", &w.Running, 0, MaxWorks, func(f *jsonform.Form, r *RunningWork) {
			f.Text("work_id", jsonform.Required, &r.WorkID, id128u)
			f.Text("title", jsonform.Required, &r.Title, label)
		})
	})
	p := &m.Pending.Value
	f.Bool("pending_confirmation", &m.Pending.Set)
	f.Bool("pending_confirmation_busy", &p.Busy)
	f.Text("pending_confirmation_id", jsonform.Omitted, &p.ID, id128)
	jsonform.Choice(f, "pending_action", jsonform.Null, &p.Action, CreateWorkspace, ReuseWorkspace, SelectWorkspace, ResumeSession)
	f.Text("pending_workspace_display_name", jsonform.Null, &p.Workspace, label)
	f.Text("pending_session_title", jsonform.Null, &p.Session, label)
	formCountdown(f, "pending_expires_in_seconds", &p.ExpiresIn, MaxConfirmation)
	formConversation(f, &m.ConversationID)
	if m.Pending.Set {
		f.Want("pending_confirmation_id", p.ID != "")
		f.Want("pending_workspace_display_name", p.Workspace != "" || p.Action == "" && p.Session == "")
	} else {
		f.Want("pending_confirmation", *p == Proposal{})
	}
}

// formCountdown is the seconds that are left, in whole milliseconds; null while
// held.
func formCountdown(f *jsonform.Form, name string, v *Optional[float64], high float64) {
	if !f.Reading() {
		v.Value = math.Round(v.Value*1000) / 1000
	}
	f.OptionalNumber(name, jsonform.Null, v, 0, high)
}

func (m *ExecutorState) form(f *jsonform.Form) {
	formExecutor(f, &m.Executor, &m.DisplayName)
	jsonform.Choice(f, "state", jsonform.Required, &m.State, Idle, Preparing, Running)
}

func formExecutor(f *jsonform.Form, executor, displayName *string) {
	f.Text("executor", jsonform.Required, executor, id256)
	f.Text("display_name", jsonform.Required, displayName, jsonform.NotBlank(40))
}

func (m *ExecutorApproval) form(f *jsonform.Form) {
	formExecutor(f, &m.Executor, &m.DisplayName)
	f.Bool("pending_approval", &m.Pending.Set)
	if m.Pending.Set {
		m.Pending.Value.form(f)
	} else {
		// The members keep their place.
		var busy bool
		f.Bool("pending_approval_busy", &busy)
		f.Want("pending_approval_busy", !busy)
		for _, name := range []string{"kind", "local_detail", "operation_summary", "expires_in_seconds"} {
			f.Null(name)
		}
	}
	formConversation(f, &m.ConversationID)
}

func (a *Approval) form(f *jsonform.Form) {
	f.Bool("pending_approval_busy", &a.Busy)
	f.Text("pending_approval_id", jsonform.Required, &a.ID, jsonform.Points(1, 128))
	kind, _ := f.Peek("kind")
	if !f.Reading() && a.Detail != nil {
		kind = a.Detail.Kind()
	}
	switch kind {
	case FileChange{}.Kind():
		formDetail[FileChange](f, a)
	case CommandExecution{}.Kind():
		formDetail[CommandExecution](f, a)
	case NetworkAccess{}.Kind():
		formDetail[NetworkAccess](f, a)
	case Permissions{}.Kind():
		formDetail[Permissions](f, a)
	default:
		f.Fail("kind", jsonform.ErrValue)
	}
	f.Text("operation_summary", jsonform.Required, &a.Summary, jsonform.NotBlank(256))
	formCountdown(f, "expires_in_seconds", &a.ExpiresIn, MaxApproval)
	known := func(d Decision) bool { return slices.Contains(decisions[:], d) }
	if f.Reading() { // which drops the decisions of a newer host
		jsonform.Texts(f, "allowed_decisions", jsonform.Omitted, &a.Allowed, 1, MaxText, func(Decision) bool { return true })
		a.Allowed = slices.DeleteFunc(a.Allowed, func(d Decision) bool { return !known(d) })
	} else {
		jsonform.Texts(f, "allowed_decisions", jsonform.Omitted, &a.Allowed, 1, len(decisions), known)
	}
	f.Want("allowed_decisions", len(a.Allowed) == 0 || slices.Contains(a.Allowed, Decline))
	jsonform.OptionalObject(f, "work", jsonform.Omitted, &a.Work, func(f *jsonform.Form, w *ApprovalWork) {
		if !f.Reading() {
			w.Project, w.Title = firstPoints(w.Project, 120), firstPoints(w.Title, 120)
		}
		f.Text("work_id", jsonform.Required, &w.WorkID, jsonform.Points(1, 128))
		f.Text("project", jsonform.Required, &w.Project, jsonform.NotBlank(120))
		f.Text("title", jsonform.Required, &w.Title, jsonform.NotBlank(120))
	})
}

// formDetail is the kind and, under the same kind, what it is about.
func formDetail[D ApprovalDetail, P interface {
	*D
	schema
}](f *jsonform.Form, a *Approval) {
	d, _ := a.Detail.(D)
	kind := d.Kind()
	jsonform.Choice(f, "kind", jsonform.Required, &kind, kind)
	f.Object("local_detail", func(f *jsonform.Form) {
		jsonform.Choice(f, "kind", jsonform.Required, &kind, kind)
		P(&d).form(f)
	})
	a.Detail = d
}

func (d *FileChange) form(f *jsonform.Form) {
	jsonform.List(f, "changes", &d.Changes, 1, MaxChanges, func(f *jsonform.Form, c *Change) {
		jsonform.Choice(f, "change", jsonform.Required, &c.Change, "add", "delete", "update")
		f.Text("path", jsonform.Required, &c.Path, jsonform.Points(1, 4096))
		f.Text("move_path", jsonform.Null, &c.MovePath, jsonform.Points(1, 4096))
	})
}

func (d *CommandDetail) form(f *jsonform.Form) {
	f.Text("command", jsonform.Required, &d.Command, jsonform.NotBlank(4096))
	f.Text("cwd", jsonform.Required, &d.Cwd, jsonform.NotBlank(4096))
	f.Text("scope", jsonform.Omitted, &d.Scope, jsonform.NotBlank(1024))
}

func (d *Permissions) form(f *jsonform.Form) {
	f.Text("scope", jsonform.Required, &d.Scope, jsonform.Points(0, 1024))
}
