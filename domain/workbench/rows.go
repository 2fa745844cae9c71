package workbench

import (
	"time"

	"plexus/domain/conversations"
)

// The types below are the rows of a snapshot, to the owner's page as well as to
// phones. Each names all that is shown: what a stored value gains stays here
// until it is named too (nova-personal §9.3).

// Timestamp is a time on the wire: RFC 3339 in UTC, with milliseconds.
type Timestamp struct{ time.Time }

// MarshalJSON writes the quoted form.
func (s Timestamp) MarshalJSON() ([]byte, error) {
	return s.UTC().AppendFormat(make([]byte, 0, 32), `"2006-01-02T15:04:05.000Z"`), nil
}

// At is t on the wire.
func At(t time.Time) Timestamp { return Timestamp{t} }

// OptionalTimestamp is t on the wire, null when there is none.
func OptionalTimestamp(t *time.Time) *Timestamp {
	if t == nil {
		return nil
	}
	return &Timestamp{*t}
}

// ConversationsMember is the member conversations of a snapshot (§3.8).
type ConversationsMember struct {
	SelectedID string            `json:"selected_id"`
	VoiceID    *string           `json:"voice_id"`
	Unread     int               `json:"unread_count"` // of all Items
	Items      []ConversationRow `json:"items"`
	Messages   []MessageRow      `json:"messages"` // of the selected one, oldest first
}

// ConversationRow is one of its items.
type ConversationRow struct {
	ID           string             `json:"id"`
	Kind         conversations.Kind `json:"kind"`
	Title        string             `json:"title"`
	SubjectKey   *string            `json:"subject_key"`
	CreatedAt    Timestamp          `json:"created_at"`
	UpdatedAt    Timestamp          `json:"updated_at"`
	Generation   uint64             `json:"generation"`
	Unread       int                `json:"unread_count"`
	CodingTarget *struct{}          `json:"coding_target"` // there is no coding executor
}

// MessageRow is one of its messages.
type MessageRow struct {
	ID             string                 `json:"id"`
	ConversationID string                 `json:"conversation_id"`
	Role           conversations.Role     `json:"role"`
	Text           string                 `json:"text"`
	CreatedAt      Timestamp              `json:"created_at"`
	TurnID         string                 `json:"turn_id,omitempty"`
	ReplyTo        string                 `json:"reply_to,omitempty"`
	RequestID      string                 `json:"request_id,omitempty"`
	Status         conversations.Status   `json:"generation_status,omitempty"`
	Delivery       conversations.Delivery `json:"delivery,omitempty"`
	Read           bool                   `json:"read"` // false for what unread_count counts
	Todo           *VersionRow            `json:"source_todo,omitempty"`
}

// VersionRow names a version of a to-do.
type VersionRow struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// LifeMember is the member life of a snapshot (§3.9).
type LifeMember struct {
	Todos   []TodoRow  `json:"todos"`
	Ideas   []IdeaRow  `json:"ideas"`
	Goals   []GoalRow  `json:"goals"`
	Profile ProfileRow `json:"profile"`
}

// ItemRow is what the rows of all three lists have.
type ItemRow struct {
	ID        string    `json:"id"`
	Kind      ItemKind  `json:"kind"`
	Version   uint64    `json:"version"`
	Title     string    `json:"title"`
	Note      string    `json:"note"`
	Status    string    `json:"status"`
	CreatedAt Timestamp `json:"created_at"`
	UpdatedAt Timestamp `json:"updated_at"`
}

// TodoRow is a to-do.
type TodoRow struct {
	ItemRow
	Due    *string `json:"due"` // YYYY-MM-DD
	GoalID *string `json:"goal_id"`
	IdeaID *string `json:"idea_id"`
}

// IdeaRow is an idea.
type IdeaRow struct {
	ItemRow
	GoalID *string `json:"goal_id"`
}

// GoalRow is a goal.
type GoalRow struct {
	ItemRow
	Criteria string   `json:"success_criteria"`
	IdeaID   *string  `json:"idea_id"`
	Progress Progress `json:"progress"`
}

// Progress counts the to-dos of a goal; those that were cancelled do not count.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// ProfileRow is the profile.
type ProfileRow struct {
	About   string `json:"about"`
	Version uint64 `json:"version"`
}

// FeedRow is a feed item (§3.3).
type FeedRow struct {
	ID           string         `json:"id"`
	Kind         string         `json:"kind"`
	Title        string         `json:"title"`
	WhyNow       string         `json:"why_now"`
	EvidenceRefs []string       `json:"evidence_refs"`
	MemoryRefs   []MemoryRefRow `json:"memory_refs"`
	Source       SourceRow      `json:"source"`
	SuggestionID *string        `json:"suggestion_id"`
	TaskRef      *WorkRefRow    `json:"task_ref"`
	SubjectKey   string         `json:"subject_key"`
	Priority     float64        `json:"priority"`
	CreatedAt    Timestamp      `json:"created_at"`
	UpdatedAt    Timestamp      `json:"updated_at"`
	ExpiresAt    *Timestamp     `json:"expires_at"`
	UserState    string         `json:"user_state"`
	SnoozeUntil  *Timestamp     `json:"snooze_until"`
	Lifecycle    string         `json:"lifecycle"`
	Delivery     DeliveryRow    `json:"delivery"`
	Prepared     *PreparedRow   `json:"prepared,omitempty"`
	ActionLabel  string         `json:"action_label,omitempty"`
}

// The parts of a feed item.
type (
	MemoryRefRow struct {
		EntryID string `json:"entry_id"`
		Version any    `json:"version"`
	}
	SourceRow struct {
		Type string `json:"type"`
		Ref  string `json:"ref"`
	}
	WorkRefRow struct {
		WorkID string `json:"work_id"`
	}
	DeliveryRow struct {
		PresentedAt *Timestamp `json:"presented_at"`
		NotifiedAt  *Timestamp `json:"notified_at"`
		SpokenAt    *Timestamp `json:"spoken_at"`
	}
	PreparedRow struct {
		Trust        string   `json:"trust"`
		Text         string   `json:"text"`
		EvidenceRefs []string `json:"evidence_refs"`
	}
)

// TaskRow is a task (§3.10).
type TaskRow struct {
	ID                     string        `json:"id"`
	Phase                  string        `json:"phase"`
	ConversationID         string        `json:"conversation_id"`
	ConversationGeneration *uint64       `json:"conversation_generation,omitempty"`
	Goal                   string        `json:"goal"`
	Acceptance             []string      `json:"acceptance"`
	OriginRef              string        `json:"origin_ref"`
	TodoRef                *VersionRow   `json:"todo_ref,omitempty"`
	ExecutionRoute         string        `json:"execution_route,omitempty"`
	Controller             ControllerRow `json:"controller"`
	ControlRevision        uint64        `json:"control_revision"`
	GoalRevision           uint64        `json:"goal_revision"`
	Corrections            []string      `json:"corrections"`
	WorkIDs                []string      `json:"work_ids"`
	SessionIDs             []string      `json:"session_ids"`
	EvidenceRefs           []string      `json:"evidence_refs"`
	ArtifactRefs           []string      `json:"artifact_refs"`
	WaitingReason          *string       `json:"waiting_reason"`
	TodoSync               string        `json:"todo_sync"`
}

// ControllerRow is who holds a task.
type ControllerRow struct {
	Kind     string `json:"kind"`
	ClientID string `json:"client_id,omitempty"`
}

// OptionalText is s on the wire, null for "".
func OptionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// List is s on the wire, [] rather than null.
func List(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
