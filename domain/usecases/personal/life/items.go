package life

import (
	"time"

	"plexus/domain/nova"
	"plexus/domain/workbench"
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
	ID        string             `json:"id"` // SHA-256 hex of the request that made it
	Kind      workbench.ItemKind `json:"kind"`
	Version   uint64             `json:"version"` // from 1
	Title     string             `json:"title"`   // 1…200 UTF-16 units, trimmed
	Note      string             `json:"note"`    // ≤ 4000
	Status    string             `json:"status"`
	Due       string             `json:"due,omitempty"`     // of a to-do, YYYY-MM-DD
	GoalID    string             `json:"goal_id,omitempty"` // of a to-do or an idea
	IdeaID    string             `json:"idea_id,omitempty"` // of a to-do or a goal
	Criteria  string             `json:"success_criteria,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
	UpdatedAt time.Time          `json:"updated_at"`
}

// Profile is what the owner tells of themselves.
type Profile struct {
	About   string `json:"about"`
	Version uint64 `json:"version"`
}

// statuses lists what an item of a kind can be; the first is that of a new one.
func statuses(kind workbench.ItemKind) []string {
	switch kind {
	case workbench.Todo:
		return []string{"open", "doing", "waiting", "done", "cancelled"}
	case workbench.Idea:
		return []string{"active", "archived"}
	}
	return []string{"active", "paused", "completed", "archived"}
}

func maxItems(kind workbench.ItemKind) int {
	switch kind {
	case workbench.Todo:
		return MaxTodos
	case workbench.Idea:
		return MaxIdeas
	}
	return MaxGoals
}

// Op is what a life.mutate does: one of the types below, by value.
type Op interface{ op() }

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
	// FromNews is an operation that the host keeps for itself.
	FromNews struct{}
)

func (CreateItem) op()  {}
func (UpdateItem) op()  {}
func (ConvertIdea) op() {}
func (UndoCreate) op()  {}
func (SetProfile) op()  {}
func (FromNews) op()    {}

// Outcome names what a life.mutate made or changed.
type Outcome struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}
