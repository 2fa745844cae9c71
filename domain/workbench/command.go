// Package workbench holds the rules of the personal host's workbench as plain
// values: which commands there are and what they must look like, how their
// receipts are kept, the owner's lists, feed and tasks, and the snapshot that
// clients show. Pure.
package workbench

import (
	"time"

	"plexus/domain/nova"
)

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
	OutcomeUnknown       Refusal = "outcome_unknown"
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

// Command is what a personal.command asks, once its parameters have been read:
// one of the types below, by value.
type Command interface{ command() }

// The commands (nova-personal §4 to §8). Bounds of strings stand with the
// reading; an Optional that is not Set was not given.
type (
	// State asks for the snapshot.
	State struct{}

	FeedAction struct {
		ID          string
		Action      FeedVerb
		SnoozeUntil time.Time // zero when not given
	}

	CreateConversation struct{ Title string } // "" when not given
	SelectConversation struct{ ID string }
	ReadConversation   struct{ ID, Through string }
	ClearConversation  struct {
		ID       string
		Expected nova.Optional[uint64] // generation
	}
	OpenFeed struct{ FeedID, Label string } // Label "" when not given
	SetVoice struct {
		ID      string
		Enabled bool
	}
	OpenWork struct{ WorkID string }
	Confirm  struct {
		ID, ProposalID string
		Confirmed      bool
	}
	Approve struct {
		ID, ApprovalID string
		Approved       bool
	}
	CodingTargets struct{}
	CodingTarget  struct{}

	LifeMutate struct{ Op LifeOp }

	MemoryEvidence struct{ EvidenceID string }
	// MemoryOther is any other memory method: there is no memory yet.
	MemoryOther struct{}

	AdoptCard   struct{ ID string }
	DismissCard struct{ ID string }

	SetPresentation  struct{ Mode Mode }
	SeenPresentation struct{ ApprovalID, ConversationID, ProposalID string }

	ListTasks struct{}
	GetTask   struct {
		TaskID         string
		After          uint64
		InputRequestID string
	}
	DelegateTask struct {
		ConversationID, Goal, OriginRef, Route string
		Acceptance                             []string
		Todo                                   nova.Optional[nova.TodoRef]
	}
	ControlTask struct {
		Fence    Fence
		Takeover bool // else return
	}
	InputTask struct {
		Fence           Fence
		SessionID, Text string
	}
	CancelTask    struct{ Fence Fence }
	ContinueTask  struct{ Fence Fence }
	ReconcileTask struct {
		Fence Fence
		Done  bool // else not_run
	}
	CompleteTodo struct {
		Fence   Fence
		Version uint64
	}

	// NotHere is a method that is known and that this host cannot do.
	NotHere struct{}
)

func (State) command()              {}
func (FeedAction) command()         {}
func (CreateConversation) command() {}
func (SelectConversation) command() {}
func (ReadConversation) command()   {}
func (ClearConversation) command()  {}
func (OpenFeed) command()           {}
func (SetVoice) command()           {}
func (OpenWork) command()           {}
func (Confirm) command()            {}
func (Approve) command()            {}
func (CodingTargets) command()      {}
func (CodingTarget) command()       {}
func (LifeMutate) command()         {}
func (MemoryEvidence) command()     {}
func (MemoryOther) command()        {}
func (AdoptCard) command()          {}
func (DismissCard) command()        {}
func (SetPresentation) command()    {}
func (SeenPresentation) command()   {}
func (ListTasks) command()          {}
func (GetTask) command()            {}
func (DelegateTask) command()       {}
func (ControlTask) command()        {}
func (InputTask) command()          {}
func (CancelTask) command()         {}
func (ContinueTask) command()       {}
func (ReconcileTask) command()      {}
func (CompleteTodo) command()       {}
func (NotHere) command()            {}

// Mode is how an endpoint shows the host.
type Mode string

// The modes. "" was never set.
const (
	ModeBackground Mode = "background"
	ModeWorkbench  Mode = "workbench"
	ModeOrb        Mode = "orb"
)

// Fence names the state of a task that the client has seen.
type Fence struct {
	TaskID                        string
	ControlRevision, GoalRevision uint64
}

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
