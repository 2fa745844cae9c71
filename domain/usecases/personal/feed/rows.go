package feed

import (
	"encoding/json"

	"plexus/domain/usecases/personal/hub"
	"plexus/domain/workbench"
)

// Value is the member feed of a snapshot: the items, newest first.
func Value(items []Item) hub.Value {
	return hub.Value{Fixed: json.RawMessage("[]"), List: &hub.List{
		Rows: func(add func(row any) bool) error {
			for _, item := range items {
				if !add(Row(item)) {
					break
				}
			}
			return nil
		},
		Closing: "]", Counted: true, Len: len(items),
	}}
}

// Row is an item as clients see it.
func Row(f Item) *workbench.FeedRow {
	row := &workbench.FeedRow{
		ID: f.ID, Kind: f.Kind, Title: f.Title, WhyNow: f.WhyNow, EvidenceRefs: workbench.List(f.EvidenceRefs),
		MemoryRefs: make([]workbench.MemoryRefRow, 0, len(f.MemoryRefs)), Source: workbench.SourceRow(f.Source),
		SuggestionID: f.SuggestionID, SubjectKey: f.SubjectKey, Priority: f.Priority,
		CreatedAt: workbench.At(f.CreatedAt), UpdatedAt: workbench.At(f.UpdatedAt), ExpiresAt: workbench.OptionalTimestamp(f.ExpiresAt),
		UserState: f.UserState, SnoozeUntil: workbench.OptionalTimestamp(f.SnoozeUntil), Lifecycle: f.Lifecycle,
		Delivery: workbench.DeliveryRow{
			PresentedAt: workbench.OptionalTimestamp(f.Delivery.PresentedAt),
			NotifiedAt:  workbench.OptionalTimestamp(f.Delivery.NotifiedAt),
			SpokenAt:    workbench.OptionalTimestamp(f.Delivery.SpokenAt),
		},
		ActionLabel: f.ActionLabel,
	}
	for _, m := range f.MemoryRefs {
		row.MemoryRefs = append(row.MemoryRefs, workbench.MemoryRefRow(m))
	}
	if f.TaskRef != nil {
		row.TaskRef = &workbench.WorkRefRow{WorkID: f.TaskRef.WorkID}
	}
	if f.Prepared != nil {
		row.Prepared = &workbench.PreparedRow{Trust: f.Prepared.Trust, Text: f.Prepared.Text, EvidenceRefs: workbench.List(f.Prepared.EvidenceRefs)}
	}
	return row
}
