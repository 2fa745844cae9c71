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
