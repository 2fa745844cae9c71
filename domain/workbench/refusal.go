// Package workbench holds the words of the personal extension that the host and
// its clients share: why a command is refused, who sends it, the rows of a snapshot
// and how a client reads one (nova-personal §3, §15). What an area of the host
// does with them is in usecases/personal. Pure.
package workbench

// Refusal is why a command was not done: the token that its result carries
// (nova-personal §15).
type Refusal string

func (r Refusal) Error() string { return string(r) }

// The refusals of this host.
const (
	Unavailable          Refusal = "unavailable" // too much waits, or the host stops
	Unauthenticated      Refusal = "unauthenticated"
	Unsupported          Refusal = "unsupported"
	InvalidRequest       Refusal = "invalid_request"
	RequestIDConflict    Refusal = "request_id_conflict" // of an ordinary method
	RequestConflict      Refusal = "request_conflict"    // of a client's own
	StoreFailed          Refusal = "personal_store_not_ready"
	NotFound             Refusal = "not_found"
	Stale                Refusal = "stale"
	InvalidSnooze        Refusal = "invalid_snooze"
	NotificationDenied   Refusal = "notification_not_allowed"
	FeedNotFound         Refusal = "feed_not_found"
	ConversationNotFound Refusal = "conversation_not_found"
	ConversationLimit    Refusal = "conversation_limit"
	ConversationBusy     Refusal = "conversation_busy"
	ConversationClearing Refusal = "conversation_clearing"
	RuntimeUnavailable   Refusal = "conversation_runtime_unavailable"
	RuntimeClosed        Refusal = "conversation_runtime_closed"
	GenerationConflict   Refusal = "generation_conflict"
	MessageNotFound      Refusal = "message_not_found"
	VoiceActive          Refusal = "voice_active"
	VoiceUnavailable     Refusal = "voice_unavailable"
	VoiceNotOwned        Refusal = "voice_not_owned"
	CodingUnavailable    Refusal = "coding_unavailable"
	TodoConflict         Refusal = "source_todo_conflict"
	ConfirmationNotOwned Refusal = "confirmation_not_owned"
	ApprovalNotOwned     Refusal = "approval_not_owned"
	VersionConflict      Refusal = "version_conflict"
	ItemNotFound         Refusal = "item_not_found"
	IdeaNotFound         Refusal = "idea_not_found"
	IdeaArchived         Refusal = "idea_archived"
	GoalNotFound         Refusal = "goal_not_found"
	DueOnlyForTodo       Refusal = "due_only_for_todo"
	CriteriaOnlyForGoal  Refusal = "criteria_only_for_goal"
	GoalCannotParent     Refusal = "goal_cannot_parent"
	NewsCommandRequired  Refusal = "news_conversion_command_required"
	StoreCapacity        Refusal = "personal_store_capacity"
	CardNotFound         Refusal = "card_not_found"
	TaskNotFound         Refusal = "task_not_found"
	TaskTerminal         Refusal = "task_terminal"
	StaleTask            Refusal = "stale_task"
	TaskControlDenied    Refusal = "task_control_unavailable"
	TaskInputUnavailable Refusal = "task_input_unavailable"
	TaskRuntimeMissing   Refusal = "task_runtime_unavailable"
	PresentationFailed   Refusal = "presentation_sync_failed"
	PresentationUnset    Refusal = "presentation_unavailable"
	PresentationHidden   Refusal = "presentation_hidden"
)

// Mode is how a client shows the host.
type Mode string

// The modes. "" was never set.
const (
	ModeBackground Mode = "background"
	ModeWorkbench  Mode = "workbench"
	ModeOrb        Mode = "orb"
)

// ItemKind says which of the owner's lists an item is in.
type ItemKind string

// The lists.
const (
	Todo ItemKind = "todo"
	Idea ItemKind = "idea"
	Goal ItemKind = "goal"
)

// Caller is who sends a command, as the transport knows it. It never comes from
// a frame.
type Caller struct {
	ClientID    string // "" for none
	CanTakeover bool
}

// The callers there are.
const (
	RemoteClient  = "remote:master"
	DesktopClient = "desktop:local"
)
