package life

import (
	"slices"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/params"
	"plexus/domain/workbench"
)

// Bounds of an item's members, in UTF-16 units.
const (
	maxItemTitle = 200
	maxNote      = 4_000
	maxCriteria  = 2_000
)

// Params are the parameters of life.mutate.
type Params struct{ Op Op }

// Read is strict from the operation on: a from_news has members that nobody
// here looks at.
func (p *Params) Read(f *jsonform.Form) {
	var op string
	jsonform.Choice(f, "op", jsonform.Required, &op, "create", "update", "convert", "undo_create", "profile", "from_news")
	if op == "from_news" {
		p.Op = FromNews{}
		return
	}
	f.Strict()
	switch op {
	case "create":
		p.Op = readCreate(f)
	case "update":
		p.Op = readUpdate(f)
	case "convert":
		p.Op = readConvert(f)
	case "undo_create":
		p.Op = readUndo(f)
	case "profile":
		p.Op = readProfile(f)
	}
}

func readCreate(f *jsonform.Form) Op {
	var op CreateItem
	var goal, due nova.Optional[string]
	jsonform.Choice(f, "kind", jsonform.Required, &op.Kind, workbench.Todo, workbench.Idea, workbench.Goal)
	params.TrimmedText(f, "title", &op.Title, maxItemTitle)
	f.Text("note", jsonform.Omitted, &op.Note, jsonform.Units(0, maxNote))
	nullableText(f, "goal_id", &goal, jsonform.Units(1, params.MaxRef))
	nullableText(f, "due", &due, params.IsDate)
	f.Text("success_criteria", jsonform.Omitted, &op.Criteria, jsonform.Units(0, maxCriteria))
	op.GoalID, op.Due = goal.Value, due.Value
	return op
}

func readUpdate(f *jsonform.Form) Op {
	var op UpdateItem
	jsonform.Choice(f, "kind", jsonform.Required, &op.Kind, workbench.Todo, workbench.Idea, workbench.Goal)
	params.Text(f, "id", &op.ID, params.MaxRef)
	f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
	if op.Title.Set = f.Has("title"); op.Title.Set {
		params.TrimmedText(f, "title", &op.Title.Value, maxItemTitle)
	}
	givenText(f, "note", &op.Note, jsonform.Units(0, maxNote))
	f.Text("status", jsonform.Omitted, &op.Status, func(s string) bool { return slices.Contains(statuses(op.Kind), s) })
	nullableText(f, "goal_id", &op.GoalID, jsonform.Units(1, params.MaxRef))
	nullableText(f, "due", &op.Due, params.IsDate)
	givenText(f, "success_criteria", &op.Criteria, jsonform.Units(0, maxCriteria))
	return op
}

func readConvert(f *jsonform.Form) Op {
	var op ConvertIdea
	params.Text(f, "id", &op.ID, params.MaxRef)
	jsonform.Choice(f, "target", jsonform.Required, &op.Target, workbench.Todo, workbench.Goal)
	f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
	return op
}

func readUndo(f *jsonform.Form) Op {
	var op UndoCreate
	params.Text(f, "id", &op.ID, params.MaxRef)
	f.Uint("expected_version", new(uint64), 1, 1)
	return op
}

func readProfile(f *jsonform.Form) Op {
	var op SetProfile
	f.Text("about", jsonform.Required, &op.About, jsonform.Units(0, MaxProfile))
	f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
	return op
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
