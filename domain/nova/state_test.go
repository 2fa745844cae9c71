package nova_test

import (
	"math"
	"strings"
	"testing"

	"plexus/domain/nova"
)

// proposed is a project.state with a pending proposal that change may spoil.
func proposed(change func(*nova.ProjectState, *nova.Proposal)) nova.Message {
	m := nova.ProjectState{Workspace: "Plexus", Pending: nova.Some(nova.Proposal{
		ID: "p", Action: nova.CreateWorkspace, Workspace: "Site", ExpiresIn: nova.Some(360.0),
	})}
	change(&m, &m.Pending.Value)
	return m
}

func TestN43_ProjectStateBounds(t *testing.T) {
	good := map[string]func(*nova.ProjectState, *nova.Proposal){
		"as it is":             func(*nova.ProjectState, *nova.Proposal) {},
		"120 code points":      func(m *nova.ProjectState, p *nova.Proposal) { m.Workspace = strings.Repeat("🎧", 120) },
		"roster of 10":         func(m *nova.ProjectState, p *nova.Proposal) { m.Roster = rosterOf(10) },
		"id of 128":            func(m *nova.ProjectState, p *nova.Proposal) { p.ID = strings.Repeat("é", 128) },
		"held":                 func(m *nova.ProjectState, p *nova.Proposal) { p.ExpiresIn = nova.Optional[float64]{} },
		"nothing known of it":  func(m *nova.ProjectState, p *nova.Proposal) { *p = nova.Proposal{ID: "p", ExpiresIn: nova.Some(0.0)} },
		"nothing pending":      func(m *nova.ProjectState, p *nova.Proposal) { *m = nova.ProjectState{} },
		"busy in conversation": func(m *nova.ProjectState, p *nova.Proposal) { p.Busy, m.ConversationID = true, "chat:main" },
	}
	for name, change := range good {
		t.Run(name, func(t *testing.T) { written(t, proposed(change)) })
	}
	bad := map[string]nova.Message{}
	for name, change := range map[string]func(*nova.ProjectState, *nova.Proposal){
		"121 code points":        func(m *nova.ProjectState, p *nova.Proposal) { m.Workspace = strings.Repeat("a", 121) },
		"countdown 360.001":      func(m *nova.ProjectState, p *nova.Proposal) { p.ExpiresIn.Value = 360.001 },
		"countdown below zero":   func(m *nova.ProjectState, p *nova.Proposal) { p.ExpiresIn.Value = -0.001 },
		"countdown not a number": func(m *nova.ProjectState, p *nova.Proposal) { p.ExpiresIn.Value = math.NaN() },
		"roster of 11":           func(m *nova.ProjectState, p *nova.Proposal) { m.Roster = rosterOf(11) },
		"empty name in roster":   func(m *nova.ProjectState, p *nova.Proposal) { m.Roster = make([]nova.Workspace, 1) },
		"id empty":               func(m *nova.ProjectState, p *nova.Proposal) { p.ID = "" },
		"id of 129":              func(m *nova.ProjectState, p *nova.Proposal) { p.ID = strings.Repeat("a", 129) },
		"action without name":    func(m *nova.ProjectState, p *nova.Proposal) { p.Workspace = "" },
		"unknown action":         func(m *nova.ProjectState, p *nova.Proposal) { p.Action = "burn" },
		"remains of a proposal":  func(m *nova.ProjectState, p *nova.Proposal) { m.Pending.Set = false },
	} {
		bad[name] = proposed(change)
	}
	refused(t, bad)
}

func rosterOf(n int) []nova.Workspace {
	roster := make([]nova.Workspace, n)
	for i := range roster {
		roster[i].Name = "x"
	}
	return roster
}

// approvalOf is an executor.approval that asks about d.
func approvalOf(d nova.ApprovalDetail) nova.ExecutorApproval {
	return nova.ExecutorApproval{Executor: "coder", DisplayName: "Coder", Pending: nova.Some(nova.Approval{
		ID: "a", Detail: d, Summary: "Run the tests", ExpiresIn: nova.Some(60.0),
	})}
}

func command(command, cwd, scope string) nova.ApprovalDetail {
	return nova.CommandExecution{CommandDetail: nova.CommandDetail{Command: command, Cwd: cwd, Scope: scope}}
}

func TestN44_ApprovalBounds(t *testing.T) {
	with := func(change func(*nova.Approval)) nova.Message {
		m := approvalOf(command("make test", "/", ""))
		change(&m.Pending.Value)
		return m
	}
	written(t, approvalOf(command(strings.Repeat("é", 4096), "/", strings.Repeat("s", 1024))))
	written(t, with(func(a *nova.Approval) { a.Allowed = []nova.Decision{nova.AcceptForSession, nova.Decline} }))
	refused(t, map[string]nova.Message{
		"command of 4097":      approvalOf(command(strings.Repeat("a", 4097), "/", "")),
		"blank command":        approvalOf(command(" ", "/", "")),
		"no folder":            approvalOf(command("ls", "", "")),
		"blank scope":          approvalOf(command("ls", "/", " ")),
		"no changes":           approvalOf(nova.FileChange{}),
		"65 changes":           approvalOf(nova.FileChange{Changes: make([]nova.Change, 65)}),
		"change of a new kind": approvalOf(nova.FileChange{Changes: []nova.Change{{Change: "chmod", Path: "x"}}}),
		"no detail":            approvalOf(nil),
		"without decline":      with(func(a *nova.Approval) { a.Allowed = []nova.Decision{nova.Accept} }),
		"unknown decision":     with(func(a *nova.Approval) { a.Allowed = []nova.Decision{"maybe", nova.Decline} }),
		"countdown 60.001":     with(func(a *nova.Approval) { a.ExpiresIn.Value = 60.001 }),
		"summary of 257":       with(func(a *nova.Approval) { a.Summary = strings.Repeat("a", 257) }),
		"id of 129":            with(func(a *nova.Approval) { a.ID = strings.Repeat("a", 129) }),
		"blank project":        with(func(a *nova.Approval) { a.Work = nova.Some(nova.ApprovalWork{WorkID: "w", Title: "t"}) }),
	})
}

func TestN44_WorkIsCutAndHeldIsNull(t *testing.T) {
	m := approvalOf(command("make test", "/", ""))
	m.Pending.Value.ExpiresIn = nova.Optional[float64]{}
	m.Pending.Value.Work = nova.Some(nova.ApprovalWork{WorkID: "w", Project: "Site", Title: strings.Repeat("🎧", 121)})
	got := written(t, m)
	for _, want := range []string{`"expires_in_seconds":null`, `"title":"` + strings.Repeat("🎧", 120) + `"}}`, `"local_detail":{"kind":"command_execution","command":"make test","cwd":"/"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if again := written(t, m); again != got || m.Pending.Value.Work.Value.Title == strings.Repeat("🎧", 120) {
		t.Error("writing changed the message")
	}
}

func TestCountdownIsWrittenInMilliseconds(t *testing.T) {
	for in, want := range map[float64]string{1e-7: "0", 59.99949: "59.999", 12: "12", 0.0005: "0.001"} {
		m := approvalOf(command("ls", "/", ""))
		m.Pending.Value.ExpiresIn.Value = in
		if got := written(t, m); !strings.HasSuffix(got, `"expires_in_seconds":`+want+"}") {
			t.Errorf("%v gives %s", in, got)
		}
	}
}
