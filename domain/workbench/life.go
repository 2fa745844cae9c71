package workbench

import (
	"slices"
	"time"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
)

// ItemKind says which of the owner's lists an item is in.
type ItemKind string

// The lists.
const (
	Todo ItemKind = "todo"
	Idea ItemKind = "idea"
	Goal ItemKind = "goal"
)

// Bounds of the lists (nova-personal §14).
const (
	MaxTodos   = 1_000
	MaxIdeas   = 1_000
	MaxGoals   = 200
	MaxProfile = 5_000 // UTF-16 units of Profile.About
)

// Item is one entry of a list. Members that its kind does not have are zero.
type Item struct {
	ID        string    `json:"id"` // SHA-256 hex of the request that made it
	Kind      ItemKind  `json:"kind"`
	Version   uint64    `json:"version"` // from 1
	Title     string    `json:"title"`   // 1…200 UTF-16 units, trimmed
	Note      string    `json:"note"`    // ≤ 4000
	Status    string    `json:"status"`
	Due       string    `json:"due,omitempty"`     // of a to-do, YYYY-MM-DD
	GoalID    string    `json:"goal_id,omitempty"` // of a to-do or an idea
	IdeaID    string    `json:"idea_id,omitempty"` // of a to-do or a goal
	Criteria  string    `json:"success_criteria,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Profile is what the owner tells of themselves.
type Profile struct {
	About   string `json:"about"`
	Version uint64 `json:"version"`
}

// Shelf keeps the lists. Item's ok is false for what is not there.
type Shelf interface {
	Item(kind ItemKind, id string) (item Item, ok bool, err error)
	Items(kind ItemKind) ([]Item, error)
	PutItem(Item) error
	DropItem(kind ItemKind, id string) error
	Profile() (Profile, error)
	PutProfile(Profile) error
}

// LifeOp is what a life.mutate does: one of the types below, by value.
type LifeOp interface{ lifeOp() }

// The operations (nova-personal §8.2). A string that is "" was not given; an
// Optional that is not Set leaves the member as it is.
type (
	CreateItem struct {
		Kind                ItemKind
		Title, Note, GoalID string
		Due, Criteria       string
	}
	UpdateItem struct {
		Kind                  ItemKind
		ID                    string
		Expected              uint64 // version that the client has seen
		Title, Note, Criteria nova.Optional[string]
		Status                string                // of its kind; "" leaves it
		GoalID, Due           nova.Optional[string] // "" takes it away
	}
	ConvertIdea struct {
		ID       string
		Target   ItemKind // Todo or Goal
		Expected uint64
	}
	// UndoCreate takes back a to-do that has not changed since.
	UndoCreate struct{ ID string }
	SetProfile struct {
		About    string
		Expected uint64
	}
	// FromNews is an operation that the host keeps for itself.
	FromNews struct{}
)

func (CreateItem) lifeOp()  {}
func (UpdateItem) lifeOp()  {}
func (ConvertIdea) lifeOp() {}
func (UndoCreate) lifeOp()  {}
func (SetProfile) lifeOp()  {}
func (FromNews) lifeOp()    {}

// LifeOutcome names what a life.mutate made or changed.
type LifeOutcome struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// Bounds of an item's members, in UTF-16 units.
const (
	maxItemTitle = 200
	maxNote      = 4_000
	maxCriteria  = 2_000
)

// statuses lists what an item of a kind can be; the first is that of a new one.
func statuses(kind ItemKind) []string {
	switch kind {
	case Todo:
		return []string{"open", "doing", "waiting", "done", "cancelled"}
	case Idea:
		return []string{"active", "archived"}
	}
	return []string{"active", "paused", "completed", "archived"}
}

func (c *LifeMutate) read(f *jsonform.Form) {
	var op string
	jsonform.Choice(f, "op", jsonform.Required, &op, "create", "update", "convert", "undo_create", "profile", "from_news")
	if op == "from_news" {
		c.Op = FromNews{}
		return
	}
	f.Strict()
	switch op {
	case "create":
		c.Op = readCreate(f)
	case "update":
		c.Op = readUpdate(f)
	case "convert":
		c.Op = readConvert(f)
	case "undo_create":
		c.Op = readUndo(f)
	case "profile":
		c.Op = readProfile(f)
	}
}

func readCreate(f *jsonform.Form) LifeOp {
	var op CreateItem
	var goal, due nova.Optional[string]
	formKind(f, &op.Kind)
	formTrimmed(f, "title", &op.Title, maxItemTitle)
	f.Text("note", jsonform.Omitted, &op.Note, jsonform.Units(0, maxNote))
	formNullable(f, "goal_id", &goal, jsonform.Units(1, maxRef))
	formNullable(f, "due", &due, isDate)
	f.Text("success_criteria", jsonform.Omitted, &op.Criteria, jsonform.Units(0, maxCriteria))
	op.GoalID, op.Due = goal.Value, due.Value
	return op
}

func readUpdate(f *jsonform.Form) LifeOp {
	var op UpdateItem
	formKind(f, &op.Kind)
	formText(f, "id", &op.ID, maxRef)
	f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
	if op.Title.Set = f.Has("title"); op.Title.Set {
		formTrimmed(f, "title", &op.Title.Value, maxItemTitle)
	}
	formGiven(f, "note", &op.Note, jsonform.Units(0, maxNote))
	f.Text("status", jsonform.Omitted, &op.Status, func(s string) bool { return slices.Contains(statuses(op.Kind), s) })
	formNullable(f, "goal_id", &op.GoalID, jsonform.Units(1, maxRef))
	formNullable(f, "due", &op.Due, isDate)
	formGiven(f, "success_criteria", &op.Criteria, jsonform.Units(0, maxCriteria))
	return op
}

func readConvert(f *jsonform.Form) LifeOp {
	var op ConvertIdea
	formText(f, "id", &op.ID, maxRef)
	jsonform.Choice(f, "target", jsonform.Required, &op.Target, Todo, Goal)
	f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
	return op
}

func readUndo(f *jsonform.Form) LifeOp {
	var op UndoCreate
	formText(f, "id", &op.ID, maxRef)
	f.Uint("expected_version", new(uint64), 1, 1)
	return op
}

func readProfile(f *jsonform.Form) LifeOp {
	var op SetProfile
	f.Text("about", jsonform.Required, &op.About, jsonform.Units(0, MaxProfile))
	f.Uint("expected_version", &op.Expected, 0, jsonform.MaxSafe)
	return op
}

func formKind(f *jsonform.Form, kind *ItemKind) {
	jsonform.Choice(f, "kind", jsonform.Required, kind, Todo, Idea, Goal)
}

// formGiven is a string that may be left out, and may be "".
func formGiven(f *jsonform.Form, name string, v *nova.Optional[string], good jsonform.Rule) {
	if v.Set = f.Has(name); v.Set {
		f.Text(name, jsonform.Required, &v.Value, good)
	}
}

// formNullable is a formGiven that may be null, which is "".
func formNullable(f *jsonform.Form, name string, v *nova.Optional[string], good jsonform.Rule) {
	if raw, ok := f.Token(name); ok && raw == "null" {
		v.Set = true
		f.Null(name)
		return
	}
	formGiven(f, name, v, good)
}
