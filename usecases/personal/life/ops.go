package life

import (
	"slices"
	"time"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/usecases/personal/params"
)

// Bounds of an item's members, in UTF-16 units.
const (
	maxItemTitle = 200
	maxNote      = 4_000
	maxCriteria  = 2_000
)

// Op is what a life.mutate does: one of the types below, by value.
type Op interface {
	apply(operation) (Outcome, error)
}

// The operations (nova-personal §8.2). A string that is "" was not given; an
// Optional that is not Set leaves the member as it is.
type (
	CreateItem struct {
		Kind                workbench.ItemKind
		Title, Note, GoalID string
		Due, Criteria       string
	}
	UpdateItem struct {
		Kind                  workbench.ItemKind
		ID                    string
		Expected              uint64 // version that the client has seen
		Title, Note, Criteria nova.Optional[string]
		Status                string                // of its kind; "" leaves it
		GoalID, Due           nova.Optional[string] // "" takes it away
	}
	ConvertIdea struct {
		ID       string
		Target   workbench.ItemKind // Todo or Goal
		Expected uint64
	}
	// UndoCreate takes back a to-do that has not changed since.
	UndoCreate struct{ ID string }
	SetProfile struct {
		About    string
		Expected uint64
	}
	// FromNews is refused in a life.mutate: workbench.NewsCommandRequired.
	FromNews struct{}
)

// Outcome names what a life.mutate made or changed.
type Outcome struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// Params are the parameters of life.mutate.
type Params struct{ Op Op }

// Read refuses unknown members of every operation but from_news, whose members are
// not read.
func (p *Params) Read(f *jsonform.Form) {
	var name string
	jsonform.Choice(f, "op", jsonform.Required, &name, "create", "update", "convert", "undo_create", "profile", "from_news")
	if name == "from_news" {
		p.Op = FromNews{}
		return
	}
	f.Strict()
	switch name {
	case "create":
		var op CreateItem
		var goal, due nova.Optional[string]
		jsonform.Choice(f, "kind", jsonform.Required, &op.Kind, workbench.Todo, workbench.Idea, workbench.Goal)
		params.TrimmedText(f, "title", &op.Title, maxItemTitle)
		f.Text("note", jsonform.Omitted, &op.Note, jsonform.Units(0, maxNote))
		nullableText(f, "goal_id", &goal, jsonform.Units(1, params.MaxRef))
		nullableText(f, "due", &due, isDate)
		f.Text("success_criteria", jsonform.Omitted, &op.Criteria, jsonform.Units(0, maxCriteria))
		op.GoalID, op.Due = goal.Value, due.Value
		p.Op = op
	case "update":
		var op UpdateItem
		jsonform.Choice(f, "kind", jsonform.Required, &op.Kind, workbench.Todo, workbench.Idea, workbench.Goal)
		params.Text(f, "id", &op.ID, params.MaxRef)
		f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
		if op.Title.Set = f.Has("title"); op.Title.Set {
			params.TrimmedText(f, "title", &op.Title.Value, maxItemTitle)
		}
		givenText(f, "note", &op.Note, jsonform.Units(0, maxNote))
		f.Text("status", jsonform.Omitted, &op.Status, func(s string) bool { return slices.Contains(lists[op.Kind].statuses, s) })
		nullableText(f, "goal_id", &op.GoalID, jsonform.Units(1, params.MaxRef))
		nullableText(f, "due", &op.Due, isDate)
		givenText(f, "success_criteria", &op.Criteria, jsonform.Units(0, maxCriteria))
		p.Op = op
	case "convert":
		var op ConvertIdea
		params.Text(f, "id", &op.ID, params.MaxRef)
		jsonform.Choice(f, "target", jsonform.Required, &op.Target, workbench.Todo, workbench.Goal)
		f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
		p.Op = op
	case "undo_create":
		var op UndoCreate
		params.Text(f, "id", &op.ID, params.MaxRef)
		f.Uint("expected_version", new(uint64), 1, 1)
		p.Op = op
	case "profile":
		var op SetProfile
		f.Text("about", jsonform.Required, &op.About, jsonform.Units(0, MaxProfile))
		f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
		p.Op = op
	}
}

// isDate is the rule of a date: YYYY-MM-DD, and in the calendar.
func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// givenText is a string that may be left out, and may be "".
func givenText(f *jsonform.Form, name string, v *nova.Optional[string], good jsonform.Rule) {
	if v.Set = f.Has(name); v.Set {
		f.Text(name, jsonform.Required, &v.Value, good)
	}
}

// nullableText is a givenText that may be null, which is "".
func nullableText(f *jsonform.Form, name string, v *nova.Optional[string], good jsonform.Rule) {
	if raw, ok := f.Token(name); ok && raw == "null" {
		v.Set = true
		f.Null(name)
		return
	}
	givenText(f, name, v, good)
}
