package dictation

import (
	"errors"
	"time"
)

// Bounds of a dictated draft (nova-transport §16.3).
const (
	MaxDraft         = 1_920_000        // bytes: 60 s of 16 kHz PCM16
	DraftLife        = 90 * time.Second // from its start to its result
	RecognitionLimit = 30 * time.Second
)

// Why a draft is refused or ends.
var (
	ErrDraftOpen    = errors.New("a draft is open already")
	ErrDraftUnknown = errors.New("no such draft is open")
	ErrDraftTooLong = errors.New("the draft is too long")
)

// Draft is what is being dictated: at most one at a time on a connection. The
// zero value is none.
type Draft struct {
	ID             string // "" for none
	ConversationID string
	Finishing      bool // it is being recognised; what is said now is dropped
	pcm            []byte
}

// Open reports whether there is one.
func (d *Draft) Open() bool { return d.ID != "" }

// Start opens one.
func (d *Draft) Start(id, conversationID string) error {
	if d.Open() {
		return ErrDraftOpen
	}
	*d = Draft{ID: id, ConversationID: conversationID}
	return nil
}

// Add appends speech, a copy of it. Without an open draft it is dropped. One
// piece too many is ErrDraftTooLong: the draft is worth nothing any more.
func (d *Draft) Add(pcm []byte) error {
	switch {
	case !d.Open() || d.Finishing:
		return nil
	case len(d.pcm)+len(pcm) > MaxDraft:
		return ErrDraftTooLong
	}
	d.pcm = append(d.pcm, pcm...)
	return nil
}

// Finish freezes it and gives its speech.
func (d *Draft) Finish(id string) (pcm []byte, err error) {
	if d.ID != id || d.Finishing {
		return nil, ErrDraftUnknown
	}
	d.Finishing = true
	pcm, d.pcm = d.pcm, nil
	return pcm, nil
}
