package workbench

import "time"

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
