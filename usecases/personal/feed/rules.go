package feed

import (
	"time"

	"plexus/domain/conversations"
	"plexus/domain/text"
	"plexus/domain/workbench"
)

// Verb is what a feed.action does.
type Verb string

// The verbs.
const (
	VerbOpen      Verb = "open"
	VerbExpand    Verb = "expand_evidence"
	VerbPresented Verb = "presented"
	VerbNotified  Verb = "notified"
	VerbSnooze    Verb = "snooze"
	VerbDismiss   Verb = "dismiss"
	VerbAct       Verb = "act"
)

// What the owner has done with an item.
const (
	stateSeen      = "seen"
	stateSnoozed   = "snoozed"
	stateDismissed = "dismissed"
)

// What has become of the thing that an item is about.
const (
	lifeActive      = "active"
	lifeResolved    = "resolved"
	lifeInvalidated = "invalidated"
)

// kindQuestion is the one kind that may be notified of.
const kindQuestion = "question"

// Bounds of the feed.
const (
	maxItems = 10_000
	maxLabel = 120 // UTF-16 units of open_feed's label
)

// Item is one suggestion or result (nova-personal §3.3), as it is stored and
// as it is shown.
type Item struct {
	ID           string      `json:"id"`
	Kind         string      `json:"kind"` // notify, question, task_result, schedule, change
	Title        string      `json:"title"`
	WhyNow       string      `json:"why_now"`
	EvidenceRefs []string    `json:"evidence_refs"`
	MemoryRefs   []MemoryRef `json:"memory_refs"`
	Source       Source      `json:"source"`
	SuggestionID *string     `json:"suggestion_id"`
	TaskRef      *TaskRef    `json:"task_ref"`
	SubjectKey   string      `json:"subject_key"`
	Priority     float64     `json:"priority"`
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
	ExpiresAt    *time.Time  `json:"expires_at"`
	UserState    string      `json:"user_state"` // new, seen, snoozed, dismissed
	SnoozeUntil  *time.Time  `json:"snooze_until"`
	Lifecycle    string      `json:"lifecycle"` // active, resolved, invalidated
	Delivery     Delivery    `json:"delivery"`
	Prepared     *Prepared   `json:"prepared,omitempty"`
	ActionLabel  string      `json:"action_label,omitempty"`
}

// MemoryRef names a version of a memory entry.
type MemoryRef struct {
	EntryID string `json:"entry_id"`
	Version any    `json:"version"`
}

// Source says where an item comes from.
type Source struct {
	Type string `json:"type"`
	Ref  string `json:"ref"`
}

// TaskRef names the work of a result.
type TaskRef struct {
	WorkID string `json:"work_id"`
}

// Delivery says when an item reached its owner; nil is never.
type Delivery struct {
	PresentedAt *time.Time `json:"presented_at"`
	NotifiedAt  *time.Time `json:"notified_at"`
	SpokenAt    *time.Time `json:"spoken_at"`
}

// Prepared is material for an item that comes from outside.
type Prepared struct {
	Trust        string   `json:"trust"` // untrusted_external
	Text         string   `json:"text"`
	EvidenceRefs []string `json:"evidence_refs"`
}

// Act does to an item what a feed.action asks, at now (nova-personal §4.4). The
// item has been through Expire. A Refusal leaves it as it is: Stale comes before
// any other. VerbAct is Unsupported, because no executor exists.
func Act(item Item, verb Verb, snoozeUntil, now time.Time) (Item, error) {
	now = now.UTC().Round(0)
	if err := timely(item, verb, now); err != nil {
		return item, err
	}
	switch verb {
	case VerbOpen:
		item.UserState = stateSeen
	case VerbExpand:
	case VerbPresented:
		item.Delivery.PresentedAt = once(item.Delivery.PresentedAt, now)
	case VerbNotified:
		if item.Kind != kindQuestion {
			return item, workbench.NotificationDenied
		}
		item.Delivery.NotifiedAt = once(item.Delivery.NotifiedAt, now)
	case VerbSnooze:
		if !snoozeUntil.After(now) {
			return item, workbench.InvalidSnooze
		}
		item.UserState, item.SnoozeUntil = stateSnoozed, &snoozeUntil
	case VerbDismiss:
		item.UserState = stateDismissed
	case VerbAct:
		return item, workbench.Unsupported
	default:
		return item, workbench.InvalidRequest
	}
	item.UpdatedAt = now
	return item, nil
}

// timely refuses to present, notify of or act on an item that the owner has
// dismissed or snoozed, or that is not active any more. A result that has been
// resolved may still be shown.
func timely(item Item, verb Verb, now time.Time) error {
	switch verb {
	case VerbPresented, VerbNotified, VerbAct:
	default:
		return nil
	}
	snoozed := item.UserState == stateSnoozed && item.SnoozeUntil != nil && item.SnoozeUntil.After(now)
	alive := item.Lifecycle == lifeActive || verb == VerbPresented && item.Lifecycle == lifeResolved
	if !alive || snoozed || item.UserState == stateDismissed {
		return workbench.Stale
	}
	return nil
}

// once keeps the first time that something happened.
func once(before *time.Time, now time.Time) *time.Time {
	if before != nil {
		return before
	}
	return &now
}

// Expire invalidates an active item whose time has passed, and reports whether it
// did. What the item refers to is not looked up: there is neither a memory nor a
// source that could have changed.
func Expire(item Item, now time.Time) (Item, bool) {
	if item.Lifecycle != lifeActive || !expired(item, now) {
		return item, false
	}
	item.Lifecycle, item.UpdatedAt = lifeInvalidated, now.UTC().Round(0)
	return item, true
}

func expired(item Item, now time.Time) bool {
	return item.ExpiresAt != nil && !item.ExpiresAt.After(now)
}

// Openable reports whether a topic may be opened on an item (nova-personal §7.3).
func Openable(item Item, now time.Time) bool {
	return item.Lifecycle == lifeActive && item.UserState != stateDismissed && !expired(item, now)
}

// Background is what a topic that is opened on an item is about.
func Background(item Item) conversations.Background {
	about, refs := item.WhyNow, item.EvidenceRefs
	if item.Prepared != nil {
		about, refs = item.Prepared.Text, item.Prepared.EvidenceRefs
	}
	return conversations.Background{Title: item.Title, Text: text.Truncate(about, conversations.MaxBackground), Refs: refs}
}
