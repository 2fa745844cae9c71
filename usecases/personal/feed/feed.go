// Package feed keeps the suggestions and results that the host shows its owner:
// feed.action, conversations.open_feed, and the member feed of the snapshot
// (nova-personal §3.3, §4.4, §7.3). Nothing here makes an item yet.
package feed

import (
	"slices"
	"strings"
	"time"

	"plexus/domain/answers"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/chats"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/params"
	"plexus/usecases/personal/stored"
	"plexus/usecases/personal/turns"
	"plexus/usecases/personal/voice"
)

// Kinds of records.
const (
	itemKind  = "feed"
	topicKind = "feed_topic" // item → the conversation that it opened
)

// Feed is the items and the topics that are opened on them.
type Feed struct {
	hub   *hub.Hub
	chats *chats.Chats
	turns *turns.Turns
	voice *voice.Voice
	label string // of what the owner says first about an item
}

// New makes the feed of a host that speaks a language.
func New(h *hub.Hub, c *chats.Chats, t *turns.Turns, v *voice.Voice, language answers.Language) *Feed {
	label := "Let's talk about this suggestion"
	if language == answers.Chinese {
		label = "聊聊这条建议"
	}
	return &Feed{h, c, t, v, label}
}

// Area is what the hub has to know of it.
func (f *Feed) Area() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "feed.action", Phone: true, Do: hub.Apply(f.act)},
			{Method: "conversations.open_feed", Phone: true, Do: hub.Mutate(f.openTopic)},
		},
		Members: []hub.Member{{Name: "feed", Desktop: f.section, Phone: f.section}},
		Refresh: f.expire,
	}
}

func (f *Feed) section(tx ports.PersonalView, _ *hub.Client) (hub.Value, error) {
	items, err := stored.All[Item](tx, itemKind, maxItems)
	slices.Reverse(items)
	return Value(items), err
}

// Action is the parameters of feed.action.
type Action struct {
	ID          string
	Verb        Verb
	SnoozeUntil time.Time // zero when not given
}

func (p *Action) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	jsonform.Choice(f, "action", jsonform.Required, &p.Verb,
		VerbOpen, VerbExpand, VerbPresented, VerbNotified, VerbSnooze, VerbDismiss, VerbAct)
	var until string
	f.Text("snooze_until", jsonform.Omitted, &until, func(s string) bool {
		_, ok := parseTime(s)
		return ok
	})
	p.SnoozeUntil, _ = parseTime(until)
}

// parseTime reads RFC 3339 with a literal Z, and refuses what time.Parse is lenient about: a comma before the
// fraction, hours of one digit.
func parseTime(s string) (time.Time, bool) {
	if !strings.HasSuffix(s, "Z") || strings.Contains(s, ",") || len(s) < len("0000-00-00T00:00:00Z") || s[len("0000-00-00T00")] != ':' {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

func (f *Feed) act(tx ports.PersonalTx, _ hub.Request, p Action) (any, error) {
	if err := f.expire(tx); err != nil {
		return nil, err
	}
	item, ok, err := stored.Load[Item](tx, itemKind, p.ID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, workbench.NotFound
	}
	item, err = Act(item, p.Verb, p.SnoozeUntil, f.hub.Timestamp())
	if err != nil {
		return nil, err
	}
	return Row(item), stored.Save(tx, itemKind, item.ID, item, 0)
}

// expire marks what is out of date.
func (f *Feed) expire(tx ports.PersonalTx) error {
	items, err := stored.All[Item](tx, itemKind, maxItems)
	if err != nil {
		return err
	}
	for _, item := range items {
		if late, changed := Expire(item, f.hub.Timestamp()); changed {
			if err := stored.Save(tx, itemKind, late.ID, late, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Value is the member feed of a snapshot: the items, newest first.
func Value(items []Item) hub.Value {
	return hub.Value{List: &hub.List{
		Rows: func(add func(row any) bool) error {
			for _, item := range items {
				if !add(Row(item)) {
					break
				}
			}
			return nil
		},
		Counted: true, Len: len(items),
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
