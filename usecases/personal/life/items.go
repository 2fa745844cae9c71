package life

import (
	"time"

	"plexus/domain/workbench"
	"plexus/usecases/personal/hub"
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

// Profile is what the owner writes about themselves.
type Profile struct {
	About   string `json:"about"`
	Version uint64 `json:"version"`
}

// lists says of each list how many items it may have and what one can be; the first
// status is that of a new one.
var lists = map[workbench.ItemKind]struct {
	max      int
	statuses []string
}{
	workbench.Todo: {MaxTodos, []string{"open", "doing", "waiting", "done", "cancelled"}},
	workbench.Idea: {MaxIdeas, []string{"active", archived}},
	workbench.Goal: {MaxGoals, []string{"active", "paused", "completed", archived}},
}

// archived is the status that takes an idea or a goal out of use.
const archived = "archived"

// Value is the member life of a snapshot. Lists of which not even the texts fit
// into a phone's snapshot are 30 MB at most.
func Value(items []Item, profile Profile) hub.Value {
	least := len(profile.About) // encoded, no text is shorter
	for _, it := range items {
		least += len(it.Title) + len(it.Note) + len(it.Criteria)
	}
	return hub.Value{Fixed: member(items, profile), AtLeast: least}
}

func member(items []Item, profile Profile) workbench.LifeMember {
	rows := workbench.LifeMember{
		Todos: []workbench.TodoRow{}, Ideas: []workbench.IdeaRow{}, Goals: []workbench.GoalRow{},
		Profile: workbench.ProfileRow{About: profile.About, Version: profile.Version},
	}
	progress := progressOf(items)
	for _, it := range items {
		row := workbench.ItemRow{
			ID: it.ID, Kind: it.Kind, Version: it.Version, Title: it.Title, Note: it.Note, Status: it.Status,
			CreatedAt: workbench.At(it.CreatedAt), UpdatedAt: workbench.At(it.UpdatedAt),
		}
		switch goal, idea := workbench.OptionalText(it.GoalID), workbench.OptionalText(it.IdeaID); it.Kind {
		case workbench.Todo:
			rows.Todos = append(rows.Todos, workbench.TodoRow{ItemRow: row, Due: workbench.OptionalText(it.Due), GoalID: goal, IdeaID: idea})
		case workbench.Idea:
			rows.Ideas = append(rows.Ideas, workbench.IdeaRow{ItemRow: row, GoalID: goal})
		case workbench.Goal:
			rows.Goals = append(rows.Goals, workbench.GoalRow{ItemRow: row, Criteria: it.Criteria, IdeaID: idea, Progress: progress[it.ID]})
		}
	}
	return rows
}

func progressOf(items []Item) map[string]workbench.Progress {
	byGoal := map[string]workbench.Progress{}
	for _, it := range items {
		if it.Kind != workbench.Todo || it.GoalID == "" || it.Status == "cancelled" {
			continue
		}
		p := byGoal[it.GoalID]
		p.Total++
		if it.Status == "done" {
			p.Done++
		}
		byGoal[it.GoalID] = p
	}
	return byGoal
}
