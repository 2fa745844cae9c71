package ports

import (
	"context"

	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// AnswerSink carries one answer back to the extension that asked.
//
// Calls come from one goroutine, in the order of NERVE V1: Results at most once
// and first, then Token; the Token with final set is the last call. Each waits
// for room on the connection. When the request was cancelled or its connection
// is gone, ctx has ended and every call returns its error; nothing of a
// cancelled request follows the Cancel.
type AnswerSink interface {
	Results(ctx context.Context, r framing.SearchResult) error
	Token(ctx context.Context, text string, final bool) error
}

// AnswerRecorder decides what is kept of what was asked in the browser, and keeps
// it as topics.
//
// BeginAnswer never blocks and is called when the question comes, concurrently with
// those of other questions. A nil record means that nothing of this one is kept,
// its page neither (decision D15).
type AnswerRecorder interface {
	BeginAnswer(q AnsweredQuestion) AnswerRecord
}

// AnswerRecord is what is to be kept of one question.
//
// KeepsPage never blocks and says whether the question's page may be kept now: no
// longer once its owner has forgotten the page, excluded its site or switched
// remembering off. End is called exactly once, after the stream has ended however
// it did, from the question's own goroutine with a ctx that does not end with the
// question; it may wait for the disk.
type AnswerRecord interface {
	KeepsPage() bool
	End(ctx context.Context, a Answered)
}

// AnsweredQuestion is a question that is on its way.
type AnsweredQuestion struct {
	Question string              // trimmed; "" when there is a page alone, of which no topic is made
	Page     framing.PageContext // as it came, but for the URL, which is canonical (pages.CanonicalURL)
}

// MaxAnswered bounds the text of an Answered, in bytes.
const MaxAnswered = 64 << 10

// Answered is how a question has ended.
type Answered struct {
	Text     string           // the pieces of the answer joined, without the host's notices; at most MaxAnswered
	Results  []framing.Result // what the reader saw, numbered from 1; not to be changed
	Complete bool             // the FINAL went out and held no notice; false: cut off, failed, nothing found, cancelled
}

// NerveLink is one admitted connection, so that the core can end it.
// Close never blocks, may be called often, and returns before the socket is gone.
type NerveLink interface {
	Close(reason sessions.CloseReason)
}

// PersonalLink is one client of the personal host. No method blocks; messages
// arrive in the order of Send, unless the client is gone. Changed says that the
// snapshot has at least this revision now: the link asks for a fresh one soon,
// once for all changes of a moment.
type PersonalLink interface {
	Send(m nova.Message)
	Changed(revision uint64)
}
