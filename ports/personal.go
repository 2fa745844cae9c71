package ports

import (
	"context"
	"errors"

	"plexus/domain/conversations"
)

// PersonalStore keeps what the personal host knows: conversations, their
// messages, and small records such as to-dos and receipts. Pages are written to the
// page index beside it, so that one commit keeps a page with what was said of it.
//
// Update runs change as one atomic write, all of it or nothing, which is durable
// when Update returns nil. An error of change undoes everything and is returned
// as it is. Changes never overlap, though several callers may share one commit.
// A failed commit is an error for all that shared it, also for a change that gave
// an error of its own, and none of them has happened. ctx ends the wait for one's turn; a change that has begun is seen
// through. change must neither wait nor keep tx, and may not call the store.
//
// View shows look one consistent state, not older than any Update that had
// returned before. Views run beside each other and beside updates.
type PersonalStore interface {
	Update(ctx context.Context, change func(tx PersonalTx) error) error
	View(ctx context.Context, look func(tx PersonalView) error) error
}

// PersonalView reads. A transaction is the one port that is made of others: its
// parts are used together in one transaction.
type PersonalView interface {
	ConversationReader
	MessageReader
	RecordReader
}

// PersonalTx reads and writes; reads see what it has written.
type PersonalTx interface {
	PersonalView
	ConversationWriter
	MessageWriter
	RecordWriter
	PageWriter
}

// Errors of look-ups.
var (
	ErrConversationUnknown = errors.New("no such conversation")
	ErrMessageUnknown      = errors.New("no such message")
	ErrRecordUnknown       = errors.New("no such record")
	// ErrSubjectTaken: another topic has this subject key.
	ErrSubjectTaken = errors.New("subject taken")
)

// ConversationQuery asks for a list of conversations.
type ConversationQuery struct {
	Kind   conversations.Kind // "": all
	Limit  int                // at least 1
	Offset int                // left out at the beginning
	Oldest bool               // longest untouched first, of a Kind by run-days; else the most recently updated first
	// UpdatedBefore leaves out what was updated on this run-day (see RunDays) or
	// later; 0: nothing. It goes with Kind and Oldest.
	UpdatedBefore int64
}

// ConversationReader looks conversations up. A missing one is
// ErrConversationUnknown. The cost of a list depends on Limit and Offset, and of
// a count on the number of conversations of that kind; neither on messages.
type ConversationReader interface {
	Conversation(id string) (conversations.Conversation, error)
	TopicBySubject(subjectKey string) (conversations.Conversation, error)
	Conversations(q ConversationQuery) ([]conversations.Conversation, error)
	CountConversations(kind conversations.Kind) (int, error)
}

// ConversationWriter stores a conversation, new or changed, as it is; a subject
// key that another one has is ErrSubjectTaken. Dropping one drops its messages;
// a missing one is ErrConversationUnknown.
type ConversationWriter interface {
	PutConversation(c conversations.Conversation) error
	DropConversation(id string) error
}

// MessageReader looks messages up; a missing one is ErrMessageUnknown.
//
// MessagesBefore visits the messages of a conversation with a Seq below before
// (0: all), newest first, at most limit, until visit returns false. Its cost
// depends on how many are visited, never on how many there are. UnreadAfter
// counts the assistant's messages with a Seq above after.
type MessageReader interface {
	Message(conversationID, id string) (conversations.Message, error)
	MessageByRequest(conversationID, requestID string) (conversations.Message, error)
	MessagesBefore(conversationID string, before int64, limit int, visit func(conversations.Message) bool) error
	UnreadAfter(conversationID string, after int64) (int, error)
}

// MessageWriter stores messages. AddMessage gives the new Seq, which is above
// every one given before, those of dropped messages included; without m's
// conversation it is ErrConversationUnknown. SetMessage replaces the message of
// m's conversation and ID (ErrMessageUnknown), Seq aside.
// DropMessages empties a conversation. InterruptPending makes every pending
// message an interrupted one and says how many there were; its cost depends on
// those alone.
type MessageWriter interface {
	AddMessage(m conversations.Message) (seq int64, err error)
	SetMessage(m conversations.Message) error
	DropMessages(conversationID string) (n int, err error)
	InterruptPending() (n int, err error)
}

// Record is a small value of the personal host, whose meaning is the core's.
type Record struct {
	ID   string
	Body []byte
}

// RecordReader reads the records of a kind; a missing one is ErrRecordUnknown.
// Records lists in the order in which they were first put, the oldest first, at
// most limit.
type RecordReader interface {
	Record(kind, id string) (body []byte, err error)
	Records(kind string, limit int) ([]Record, error)
}

// RecordWriter stores records. PutRecord replaces one in its place, or adds it;
// if there are then more than keep of its kind (0: no bound), the oldest go. DropRecord
// of a missing one is no error.
type RecordWriter interface {
	PutRecord(kind, id string, body []byte, keep int) error
	DropRecord(kind, id string) error
}

// PersonalArchive is what the owner's page asks beside the transactions.
//
// SearchMessages finds messages that have every word of text, the newest first,
// at most limit; without a word it finds nothing. PersonalSizes counts.
// EraseTraces overwrites what the store still holds beside its tables of texts
// that were deleted; it may take a while.
type PersonalArchive interface {
	SearchMessages(ctx context.Context, text string, limit int) ([]FoundMessage, error)
	PersonalSizes(ctx context.Context) (PersonalSizes, error)
	EraseTraces(ctx context.Context) error
}

// FoundMessage is a message with the title of its conversation.
type FoundMessage struct {
	conversations.Message
	Title string
}

// PersonalSizes says how much there is.
type PersonalSizes struct {
	Conversations int
	Topics        int // of them
	Messages      int
	MessageBytes  int64 // of their texts
}
