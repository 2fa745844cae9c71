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

func readLook(f *jsonform.Form) (p Look) {
	params.Text(f, "task_id", &p.TaskID, params.MaxRef)
	if f.Has("after") {
		f.Uint("after", &p.After, 0, jsonform.MaxSafe)
	}
	params.OptionalText(f, "input_request_id", &p.InputRequestID, params.MaxID)
	return p
}

func readDelegation(f *jsonform.Form) (p Delegation) {
	params.Text(f, "conversation_id", &p.ConversationID, params.MaxID)
	params.Text(f, "goal", &p.Goal, maxGoal)
	jsonform.Texts(f, "acceptance", jsonform.Required, &p.Acceptance, 0, maxAcceptance, jsonform.Units(0, maxCriterion))
	params.Text(f, "origin_ref", &p.OriginRef, params.MaxRef)
	params.OptionalText(f, "execution_route", &p.Route, params.MaxRef)
	jsonform.OptionalObject(f, "todo_ref", jsonform.Omitted, &p.Todo, func(f *jsonform.Form, t *nova.TodoRef) {
		params.Text(f, "id", &t.ID, params.MaxRef)
		f.Uint("version", &t.Version, 0, jsonform.MaxSafe)
	})
	return p
}

func readControl(f *jsonform.Form) (p Control) {
	p.Precondition = readPrecondition(f)
	p.Takeover = readEither(f, "action", "takeover", "return")
	return p
}

func readInput(f *jsonform.Form) (p Input) {
	p.Precondition = readPrecondition(f)
	params.Text(f, "session_id", &p.SessionID, params.MaxRef)
	params.Text(f, "text", &p.Text, maxInput)
	return p
}

func readReconciliation(f *jsonform.Form) (p Reconciliation) {
	p.Precondition = readPrecondition(f)
	p.Done = readEither(f, "resolution", "done", "not_run")
	return p
}

func readCompletion(f *jsonform.Form) (p Completion) {
	p.Precondition = readPrecondition(f)
	f.Uint("todo_version", &p.Version, 0, jsonform.MaxSafe)
	return p
}

func readPrecondition(f *jsonform.Form) (p Precondition) {
	params.Text(f, "task_id", &p.TaskID, params.MaxRef)
	f.Uint("control_revision", &p.ControlRevision, 0, jsonform.MaxSafe)
	f.Uint("goal_revision", &p.GoalRevision, 0, jsonform.MaxSafe)
	return p
}

// readEither is one of two words, and reports whether it is the first.
func readEither(f *jsonform.Form, name, first, second string) bool {
	var word string
	jsonform.Choice(f, name, jsonform.Required, &word, first, second)
	return word == first
}
