package turns

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"plexus/domain/conversations"
)

// MaxTextRequests is how many correlated texts one process life remembers; none
// is ever forgotten (nova-transport §16.2).
const MaxTextRequests = 256

// TextContent is what makes two requests the same.
type TextContent struct {
	ConversationID string // "" when the client named none
	Text           string // exact
	Todo           conversations.TodoRef
}

// TextLedger remembers what became of correlated texts, so that a repetition is
// answered and not submitted again. The zero value is empty.
type TextLedger struct{ entries map[string]*textEntry }

type textEntry struct {
	content textHash
	settled bool
	failed  bool
	asked   int // how often it was asked for while it runs
}

// textHash stands for a content: 256 texts would be a megabyte.
type textHash [sha256.Size]byte

func (c TextContent) hash() textHash {
	// Lengths go first, so that no two contents give the same bytes.
	b := fmt.Appendf(nil, "%d %d %d %d\n", len(c.ConversationID), len(c.Text), len(c.Todo.ID), c.Todo.Version)
	return sha256.Sum256(append(append(append(b, c.ConversationID...), c.Text...), c.Todo.ID...))
}

// TextVerdict says what to do with a request.
type TextVerdict uint8

// The verdicts.
const (
	TextNew      TextVerdict = iota + 1 // submit it, then Settle
	TextRunning                         // its result comes with the first one's
	TextAccepted                        // it was admitted
	TextFailed                          // it was not, and stays so
	TextConflict                        // the ID belongs to another text
	TextFull                            // no more are remembered
)

// Begin enters a request. One with a text that is not usable is not entered, since
// it fails as often as it comes: so blank texts use up none of the places, and the
// same ID serves for a text that a person has put right.
func (l *TextLedger) Begin(requestID string, content TextContent, usable bool) TextVerdict {
	e, known := l.entries[requestID]
	hash := content.hash()
	switch {
	case known && e.content != hash:
		return TextConflict
	case known && !e.settled:
		e.asked++
		return TextRunning
	case known && e.failed:
		return TextFailed
	case known:
		return TextAccepted
	case !usable:
		return TextFailed
	case len(l.entries) >= MaxTextRequests:
		return TextFull
	}
	if l.entries == nil {
		l.entries = make(map[string]*textEntry)
	}
	l.entries[strings.Clone(requestID)] = &textEntry{content: hash, asked: 1} // requestID is a part of a whole message
	return TextNew
}

// Settle records how a request has ended, and says how many wait for that.
func (l *TextLedger) Settle(requestID string, ok bool) (asked int) {
	e, known := l.entries[requestID]
	if !known || e.settled {
		return 0
	}
	e.settled, e.failed = true, !ok
	return e.asked
}
