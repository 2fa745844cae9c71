package life

import (
	"plexus/domain/usecases/personal/hub"
	"plexus/domain/workbench"
)

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
