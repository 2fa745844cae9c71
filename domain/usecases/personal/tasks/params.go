package tasks

import (
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/params"
)

// Bounds of parameters, in UTF-16 units where it is a text.
const (
	maxGoal       = 16_000
	maxAcceptance = 64 // lines
	maxCriterion  = 2_000
	maxInput      = 16_000
)

// The parameters of tasks.get, delegate, control, input, reconcile and
// complete_todo; those of cancel and continue are a Precondition. An Optional that
// is not Set, and a string that is "", was not given.
type (
	Look struct {
		TaskID         string
		After          uint64
		InputRequestID string
	}
	Delegation struct {
		ConversationID, Goal, OriginRef, Route string
		Acceptance                             []string
		Todo                                   nova.Optional[nova.TodoRef]
	}
	Control struct {
		Precondition Precondition
		Takeover     bool // else return
	}
	Input struct {
		Precondition    Precondition
		SessionID, Text string
	}
	Reconciliation struct {
		Precondition Precondition
		Done         bool // else not_run
	}
	Completion struct {
		Precondition Precondition
		Version      uint64
	}
)

func (p *Look) Read(f *jsonform.Form) {
	params.Text(f, "task_id", &p.TaskID, params.MaxRef)
	if f.Has("after") {
		f.Uint("after", &p.After, 0, jsonform.MaxSafe)
	}
	params.OptionalText(f, "input_request_id", &p.InputRequestID, params.MaxID)
}

func (p *Delegation) Read(f *jsonform.Form) {
	params.Text(f, "conversation_id", &p.ConversationID, params.MaxID)
	params.Text(f, "goal", &p.Goal, maxGoal)
	jsonform.Texts(f, "acceptance", jsonform.Required, &p.Acceptance, 0, maxAcceptance, jsonform.Units(0, maxCriterion))
	params.Text(f, "origin_ref", &p.OriginRef, params.MaxRef)
	params.OptionalText(f, "execution_route", &p.Route, params.MaxRef)
	jsonform.OptionalObject(f, "todo_ref", jsonform.Omitted, &p.Todo, func(f *jsonform.Form, t *nova.TodoRef) {
		params.Text(f, "id", &t.ID, params.MaxRef)
		f.Uint("version", &t.Version, 0, jsonform.MaxSafe)
	})
}

func (p *Control) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	p.Takeover = readEither(f, "action", "takeover", "return")
}

func (p *Input) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	params.Text(f, "session_id", &p.SessionID, params.MaxRef)
	params.Text(f, "text", &p.Text, maxInput)
}

func (p *Reconciliation) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	p.Done = readEither(f, "resolution", "done", "not_run")
}

func (p *Completion) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	f.Uint("todo_version", &p.Version, 0, jsonform.MaxSafe)
}

func (p *Precondition) Read(f *jsonform.Form) {
	params.Text(f, "task_id", &p.TaskID, params.MaxRef)
	f.Uint("control_revision", &p.ControlRevision, 0, jsonform.MaxSafe)
	f.Uint("goal_revision", &p.GoalRevision, 0, jsonform.MaxSafe)
}

// readEither is one of two words, and reports whether it is the first.
func readEither(f *jsonform.Form, name, first, second string) bool {
	var word string
	jsonform.Choice(f, name, jsonform.Required, &word, first, second)
	return word == first
}
