package workbench

import "time"

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

// LifeOp is what a life.mutate does.
type LifeOp interface{ lifeOp() }

// LifeOutcome names what a life.mutate made or changed.
type LifeOutcome struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}
