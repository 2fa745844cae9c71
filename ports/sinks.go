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

// AnswerRecorder keeps what was asked in the browser: the page in the page index,
// and the question with its answer in the topic of that page.
//
// BeginAnswer never blocks and is called when the question comes. The records of
// several questions are used concurrently. nil: of this question nothing is kept,
// its page neither (decision D15). Nor is anything kept of one whose page its owner
// has forgotten, whose site was excluded or whose topic was cleared meanwhile.
type AnswerRecorder interface {
	BeginAnswer(q AnsweredQuestion) AnswerRecord
}

// AnswerRecord keeps one question. Its methods are called one after the other, from
// the question's own goroutine.
type AnswerRecord interface {
	// Keep is called at most once, before the FINAL: when it returns nil, page,
	// question and answer are durable, by one commit. It waits a few seconds at most,
	// and no longer than ctx; after an error of waiting the writing goes on.
	Keep(ctx context.Context, a Answered) error
	// End is called exactly once, after the stream has ended however it did. It waits
	// for the disk, and ctx does not end it. It keeps question and answer where Keep was
	// not called, without the page; and where Keep was, it corrects what is kept if a is
	// not complete any more. An error that Keep has given does not come again.
	End(ctx context.Context, a Answered) error
}

// AnsweredQuestion is a question that is on its way.
type AnsweredQuestion struct {
	Asker    string              // the extension's origin, or pages.Owner
	Question string              // trimmed; "": the page alone is kept
	Page     framing.PageContext // as it came, but for the URL, which is canonical (pages.CanonicalURL)
}

// MaxAnswered bounds the text of an Answered, in bytes.
const MaxAnswered = 64 << 10

// Answered is how a question has ended.
type Answered struct {
	Text     string           // the pieces of the answer joined, without notices and reasoning; at most MaxAnswered
	Ended    string           // the notice of how the model itself ended the answer: its limit, a filter, a refusal; "" for none
	Results  []framing.Result // what the reader saw, numbered from 1; not to be changed
	Complete bool             // all pieces went out, and the FINAL holds no notice; false: cut off, failed, nothing found, cancelled
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
