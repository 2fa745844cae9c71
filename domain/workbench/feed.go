package workbench

import (
	"time"

	"plexus/domain/conversations"
	"plexus/domain/text"
)

// FeedVerb is what a feed.action does.
type FeedVerb string

// The verbs.
const (
	FeedOpen      FeedVerb = "open"
	FeedExpand    FeedVerb = "expand_evidence"
	FeedPresented FeedVerb = "presented"
	FeedNotified  FeedVerb = "notified"
	FeedSnooze    FeedVerb = "snooze"
	FeedDismiss   FeedVerb = "dismiss"
	FeedAct       FeedVerb = "act"
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
	MaxFeed      = 10_000
	MaxFeedLabel = 120 // UTF-16 units of open_feed's label
)

// FeedItem is one suggestion or result (nova-personal §3.3), as it is stored and
// as it is shown.
type FeedItem struct {
	ID           string       `json:"id"`
	Kind         string       `json:"kind"` // notify, question, task_result, schedule, change
	Title        string       `json:"title"`
	WhyNow       string       `json:"why_now"`
	EvidenceRefs []string     `json:"evidence_refs"`
	MemoryRefs   []MemoryRef  `json:"memory_refs"`
	Source       FeedSource   `json:"source"`
	SuggestionID *string      `json:"suggestion_id"`
	TaskRef      *TaskRef     `json:"task_ref"`
	SubjectKey   string       `json:"subject_key"`
	Priority     float64      `json:"priority"`
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
	ExpiresAt    *time.Time   `json:"expires_at"`
	UserState    string       `json:"user_state"` // new, seen, snoozed, dismissed
	SnoozeUntil  *time.Time   `json:"snooze_until"`
	Lifecycle    string       `json:"lifecycle"` // active, resolved, invalidated
	Delivery     FeedDelivery `json:"delivery"`
	Prepared     *Prepared    `json:"prepared,omitempty"`
	ActionLabel  string       `json:"action_label,omitempty"`
}

// MemoryRef names a version of a memory entry.
type MemoryRef struct {
	EntryID string `json:"entry_id"`
	Version any    `json:"version"`
}

// FeedSource says where an item comes from.
type FeedSource struct {
	Type string `json:"type"`
	Ref  string `json:"ref"`
}

// TaskRef names the work of a result.
type TaskRef struct {
	WorkID string `json:"work_id"`
}

// FeedDelivery says when an item reached its owner; nil is never.
type FeedDelivery struct {
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
// any other. FeedAct is Unsupported, there is nobody to hand it to.
func Act(item FeedItem, verb FeedVerb, snoozeUntil, now time.Time) (FeedItem, error) {
	now = now.UTC().Round(0)
	if err := timely(item, verb, now); err != nil {
		return item, err
	}
	switch verb {
	case FeedOpen:
		item.UserState = stateSeen
	case FeedExpand:
	case FeedPresented:
		item.Delivery.PresentedAt = once(item.Delivery.PresentedAt, now)
	case FeedNotified:
		if item.Kind != kindQuestion {
			return item, NotificationDenied
		}
		item.Delivery.NotifiedAt = once(item.Delivery.NotifiedAt, now)
	case FeedSnooze:
		if !snoozeUntil.After(now) {
			return item, InvalidSnooze
		}
		item.UserState, item.SnoozeUntil = stateSnoozed, &snoozeUntil
	case FeedDismiss:
		item.UserState = stateDismissed
	case FeedAct:
		return item, Unsupported
	default:
		return item, InvalidRequest
	}
	item.UpdatedAt = now
	return item, nil
}

// timely refuses what presses an item on its owner that they do not want, or that
// is over. A result that has been resolved may still be shown.
func timely(item FeedItem, verb FeedVerb, now time.Time) error {
	switch verb {
	case FeedPresented, FeedNotified, FeedAct:
	default:
		return nil
	}
	snoozed := item.UserState == stateSnoozed && item.SnoozeUntil != nil && item.SnoozeUntil.After(now)
	alive := item.Lifecycle == lifeActive || verb == FeedPresented && item.Lifecycle == lifeResolved
	if !alive || snoozed || item.UserState == stateDismissed {
		return Stale
	}
	return nil
}

// once is the first time that something happened.
func once(before *time.Time, now time.Time) *time.Time {
	if before != nil {
		return before
	}
	return &now
}

// Expire invalidates an active item whose time has passed, and reports whether it
// did. What the item refers to is not looked up: there is neither a memory nor a
// source that could have changed.
func Expire(item FeedItem, now time.Time) (FeedItem, bool) {
	if item.Lifecycle != lifeActive || !expired(item, now) {
		return item, false
	}
	item.Lifecycle, item.UpdatedAt = lifeInvalidated, now.UTC().Round(0)
	return item, true
}

func expired(item FeedItem, now time.Time) bool {
	return item.ExpiresAt != nil && !item.ExpiresAt.After(now)
}

// Openable reports whether a topic may be opened on an item (nova-personal §7.3).
func Openable(item FeedItem, now time.Time) bool {
	return item.Lifecycle == lifeActive && item.UserState != stateDismissed && !expired(item, now)
}

// BackgroundOf is what a topic that is opened on an item is about.
func BackgroundOf(item FeedItem) conversations.Background {
	about, refs := item.WhyNow, item.EvidenceRefs
	if item.Prepared != nil {
		about, refs = item.Prepared.Text, item.Prepared.EvidenceRefs
	}
	return conversations.Background{Title: item.Title, Text: text.Cut(about, conversations.MaxBackground), Refs: refs}
}

// Shown is the item as clients see it.
func (f FeedItem) Shown() *ShownFeed { return showFeed(f) }
