package workbench

import (
	"math"
	"time"

	"plexus/domain/conversations"
)

// The types below are the rows of a snapshot, to the owner's page as well as to
// phones. Each names all that is shown: what a stored value gains stays here
// until it is named too (nova-personal §9.3).

// Stamp is a time on the wire: RFC 3339 in UTC, with milliseconds.
type Stamp struct{ time.Time }

// MarshalJSON writes the quoted form.
func (s Stamp) MarshalJSON() ([]byte, error) {
	return s.UTC().AppendFormat(make([]byte, 0, 32), `"2006-01-02T15:04:05.000Z"`), nil
}

func stampOrNull(t *time.Time) *Stamp {
	if t == nil {
		return nil
	}
	return &Stamp{*t}
}

// ShownConversations is the member conversations of a snapshot (§3.8).
type ShownConversations struct {
	SelectedID string              `json:"selected_id"`
	VoiceID    *string             `json:"voice_id"`
	Unread     int                 `json:"unread_count"` // of all Items
	Items      []ShownConversation `json:"items"`
	Messages   []ShownMessage      `json:"messages"` // of the selected one, oldest first
}

// ShownConversation is one of its items.
type ShownConversation struct {
	ID           string             `json:"id"`
	Kind         conversations.Kind `json:"kind"`
	Title        string             `json:"title"`
	SubjectKey   *string            `json:"subject_key"`
	CreatedAt    Stamp              `json:"created_at"`
	UpdatedAt    Stamp              `json:"updated_at"`
	Generation   uint64             `json:"generation"`
	Unread       int                `json:"unread_count"`
	CodingTarget *struct{}          `json:"coding_target"` // there is no coding executor
}

// ShownMessage is one of its messages.
type ShownMessage struct {
	ID             string                 `json:"id"`
	ConversationID string                 `json:"conversation_id"`
	Role           conversations.Role     `json:"role"`
	Text           string                 `json:"text"`
	CreatedAt      Stamp                  `json:"created_at"`
	TurnID         string                 `json:"turn_id,omitempty"`
	ReplyTo        string                 `json:"reply_to,omitempty"`
	RequestID      string                 `json:"request_id,omitempty"`
	Status         conversations.Status   `json:"generation_status,omitempty"`
	Delivery       conversations.Delivery `json:"delivery,omitempty"`
	Read           bool                   `json:"read"` // false for what unread_count counts
	Todo           *ShownVersion          `json:"source_todo,omitempty"`
}

// ShownVersion names a version of a to-do.
type ShownVersion struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

func showConversations(p Parts) ShownConversations {
	shown := ShownConversations{
		SelectedID: p.SelectedID, VoiceID: textOrNull(p.VoiceID),
		Items: make([]ShownConversation, 0, len(p.Conversations)), Messages: []ShownMessage{},
	}
	for _, c := range p.Conversations {
		item := ShownConversation{
			ID: c.ID, Kind: c.Kind, Title: c.Title, SubjectKey: textOrNull(c.SubjectKey),
			CreatedAt: Stamp{c.CreatedAt}, UpdatedAt: Stamp{c.UpdatedAt}, Generation: c.Generation,
		}
		if c.Kind == conversations.Proactive {
			item.Unread = c.Unread
		}
		shown.Unread += item.Unread
		shown.Items = append(shown.Items, item)
	}
	return shown
}

// readThrough returns up to which Seq an assistant's messages in the selected
// conversation have been read: all of them, but in the proactive one (§7.4).
func readThrough(p Parts) int64 {
	for _, c := range p.Conversations {
		if c.ID == p.SelectedID && c.Kind == conversations.Proactive {
			return c.ReadThrough
		}
	}
	return math.MaxInt64
}

func showMessage(m conversations.Message, through int64) *ShownMessage {
	shown := &ShownMessage{
		ID: m.ID, ConversationID: m.ConversationID, Role: m.Role, Text: m.Text, CreatedAt: Stamp{m.CreatedAt},
		TurnID: m.TurnID, ReplyTo: m.ReplyTo, RequestID: m.RequestID, Status: m.Status, Delivery: m.Delivery,
		Read: m.Role != conversations.Assistant || m.Seq <= through,
	}
	if m.Todo.ID != "" {
		shown.Todo = &ShownVersion{m.Todo.ID, m.Todo.Version}
	}
	return shown
}

// ShownLife is the member life of a snapshot (§3.9).
type ShownLife struct {
	Todos   []ShownTodo  `json:"todos"`
	Ideas   []ShownIdea  `json:"ideas"`
	Goals   []ShownGoal  `json:"goals"`
	Profile ShownProfile `json:"profile"`
}

// ShownItem is what the rows of all three lists have.
type ShownItem struct {
	ID        string   `json:"id"`
	Kind      ItemKind `json:"kind"`
	Version   uint64   `json:"version"`
	Title     string   `json:"title"`
	Note      string   `json:"note"`
	Status    string   `json:"status"`
	CreatedAt Stamp    `json:"created_at"`
	UpdatedAt Stamp    `json:"updated_at"`
}

// ShownTodo is a to-do.
type ShownTodo struct {
	ShownItem
	Due    *string `json:"due"` // YYYY-MM-DD
	GoalID *string `json:"goal_id"`
	IdeaID *string `json:"idea_id"`
}

// ShownIdea is an idea.
type ShownIdea struct {
	ShownItem
	GoalID *string `json:"goal_id"`
}

// ShownGoal is a goal.
type ShownGoal struct {
	ShownItem
	Criteria string   `json:"success_criteria"`
	IdeaID   *string  `json:"idea_id"`
	Progress Progress `json:"progress"`
}

// Progress counts the to-dos of a goal; those that were cancelled do not count.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// ShownProfile is the profile.
type ShownProfile struct {
	About   string `json:"about"`
	Version uint64 `json:"version"`
}

func showLife(p Parts) ShownLife {
	shown := ShownLife{
		Todos: []ShownTodo{}, Ideas: []ShownIdea{}, Goals: []ShownGoal{},
		Profile: ShownProfile{p.Profile.About, p.Profile.Version},
	}
	progress := progressOf(p.Items)
	for _, it := range p.Items {
		row := ShownItem{
			ID: it.ID, Kind: it.Kind, Version: it.Version, Title: it.Title, Note: it.Note, Status: it.Status,
			CreatedAt: Stamp{it.CreatedAt}, UpdatedAt: Stamp{it.UpdatedAt},
		}
		switch goal, idea := textOrNull(it.GoalID), textOrNull(it.IdeaID); it.Kind {
		case Todo:
			shown.Todos = append(shown.Todos, ShownTodo{row, textOrNull(it.Due), goal, idea})
		case Idea:
			shown.Ideas = append(shown.Ideas, ShownIdea{row, goal})
		case Goal:
			shown.Goals = append(shown.Goals, ShownGoal{row, it.Criteria, idea, progress[it.ID]})
		}
	}
	return shown
}

func progressOf(items []Item) map[string]Progress {
	byGoal := map[string]Progress{}
	for _, it := range items {
		if it.Kind != Todo || it.GoalID == "" || it.Status == "cancelled" {
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

// lifeFloor is less than the bytes that the lists need: encoded, no text is
// shorter. It saves encoding 30 MB for nothing.
func lifeFloor(p Parts) int {
	n := len(p.Profile.About)
	for _, it := range p.Items {
		n += len(it.Title) + len(it.Note) + len(it.Criteria)
	}
	return n
}

// ShownFeed is a feed item (§3.3).
type ShownFeed struct {
	ID           string         `json:"id"`
	Kind         string         `json:"kind"`
	Title        string         `json:"title"`
	WhyNow       string         `json:"why_now"`
	EvidenceRefs []string       `json:"evidence_refs"`
	MemoryRefs   []ShownMemory  `json:"memory_refs"`
	Source       ShownSource    `json:"source"`
	SuggestionID *string        `json:"suggestion_id"`
	TaskRef      *ShownWork     `json:"task_ref"`
	SubjectKey   string         `json:"subject_key"`
	Priority     float64        `json:"priority"`
	CreatedAt    Stamp          `json:"created_at"`
	UpdatedAt    Stamp          `json:"updated_at"`
	ExpiresAt    *Stamp         `json:"expires_at"`
	UserState    string         `json:"user_state"`
	SnoozeUntil  *Stamp         `json:"snooze_until"`
	Lifecycle    string         `json:"lifecycle"`
	Delivery     ShownDelivery  `json:"delivery"`
	Prepared     *ShownPrepared `json:"prepared,omitempty"`
	ActionLabel  string         `json:"action_label,omitempty"`
}

// The parts of a feed item.
type (
	ShownMemory struct {
		EntryID string `json:"entry_id"`
		Version any    `json:"version"`
	}
	ShownSource struct {
		Type string `json:"type"`
		Ref  string `json:"ref"`
	}
	ShownWork struct {
		WorkID string `json:"work_id"`
	}
	ShownDelivery struct {
		PresentedAt *Stamp `json:"presented_at"`
		NotifiedAt  *Stamp `json:"notified_at"`
		SpokenAt    *Stamp `json:"spoken_at"`
	}
	ShownPrepared struct {
		Trust        string   `json:"trust"`
		Text         string   `json:"text"`
		EvidenceRefs []string `json:"evidence_refs"`
	}
)

func showFeed(f FeedItem) *ShownFeed {
	shown := &ShownFeed{
		ID: f.ID, Kind: f.Kind, Title: f.Title, WhyNow: f.WhyNow, EvidenceRefs: listed(f.EvidenceRefs),
		MemoryRefs: make([]ShownMemory, 0, len(f.MemoryRefs)), Source: ShownSource{f.Source.Type, f.Source.Ref},
		SuggestionID: f.SuggestionID, SubjectKey: f.SubjectKey, Priority: f.Priority,
		CreatedAt: Stamp{f.CreatedAt}, UpdatedAt: Stamp{f.UpdatedAt}, ExpiresAt: stampOrNull(f.ExpiresAt),
		UserState: f.UserState, SnoozeUntil: stampOrNull(f.SnoozeUntil), Lifecycle: f.Lifecycle,
		Delivery: ShownDelivery{
			stampOrNull(f.Delivery.PresentedAt), stampOrNull(f.Delivery.NotifiedAt), stampOrNull(f.Delivery.SpokenAt),
		},
		ActionLabel: f.ActionLabel,
	}
	for _, m := range f.MemoryRefs {
		shown.MemoryRefs = append(shown.MemoryRefs, ShownMemory(m))
	}
	if f.TaskRef != nil {
		shown.TaskRef = &ShownWork{f.TaskRef.WorkID}
	}
	if f.Prepared != nil {
		shown.Prepared = &ShownPrepared{f.Prepared.Trust, f.Prepared.Text, listed(f.Prepared.EvidenceRefs)}
	}
	return shown
}

// ShownTask is a task (§3.10).
type ShownTask struct {
	ID                     string          `json:"id"`
	Phase                  string          `json:"phase"`
	ConversationID         string          `json:"conversation_id"`
	ConversationGeneration *uint64         `json:"conversation_generation,omitempty"`
	Goal                   string          `json:"goal"`
	Acceptance             []string        `json:"acceptance"`
	OriginRef              string          `json:"origin_ref"`
	TodoRef                *ShownVersion   `json:"todo_ref,omitempty"`
	ExecutionRoute         string          `json:"execution_route,omitempty"`
	Controller             ShownController `json:"controller"`
	ControlRevision        uint64          `json:"control_revision"`
	GoalRevision           uint64          `json:"goal_revision"`
	Corrections            []string        `json:"corrections"`
	WorkIDs                []string        `json:"work_ids"`
	SessionIDs             []string        `json:"session_ids"`
	EvidenceRefs           []string        `json:"evidence_refs"`
	ArtifactRefs           []string        `json:"artifact_refs"`
	WaitingReason          *string         `json:"waiting_reason"`
	TodoSync               string          `json:"todo_sync"`
}

// ShownController is who holds a task.
type ShownController struct {
	Kind     string `json:"kind"`
	ClientID string `json:"client_id,omitempty"`
}

func showTask(t Task) *ShownTask {
	shown := &ShownTask{
		ID: t.ID, Phase: t.Phase, ConversationID: t.ConversationID, ConversationGeneration: t.ConversationGeneration,
		Goal: t.Goal, Acceptance: listed(t.Acceptance), OriginRef: t.OriginRef, ExecutionRoute: t.ExecutionRoute,
		Controller:      ShownController{t.Controller.Kind, t.Controller.ClientID},
		ControlRevision: t.ControlRevision, GoalRevision: t.GoalRevision, Corrections: listed(t.Corrections),
		WorkIDs: listed(t.WorkIDs), SessionIDs: listed(t.SessionIDs), EvidenceRefs: listed(t.EvidenceRefs),
		ArtifactRefs: listed(t.ArtifactRefs), WaitingReason: t.WaitingReason, TodoSync: t.TodoSync,
	}
	if t.TodoRef != nil {
		shown.TodoRef = &ShownVersion{t.TodoRef.ID, t.TodoRef.Version}
	}
	return shown
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// listed is s, and [] rather than null on the wire.
func listed(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
