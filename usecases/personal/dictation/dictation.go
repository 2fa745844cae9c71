// Package dictation takes what a client says: a dictated draft becomes a text
// (input.dictation, nova-transport §16.3), and live audio goes to the conversation
// that listens (input.audio).
package dictation

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/presentation"
	"plexus/usecases/personal/stored"
	"plexus/usecases/personal/voice"
)

// Refusals of a control. The client gets the receipt "rejected" and nothing more.
var (
	ErrNoVoice     = errors.New("this host does not listen")
	ErrNoDictation = errors.New("this host takes no dictation")
)

// Dictation is the drafts of all clients, at most one of each.
type Dictation struct {
	hub          *hub.Hub
	voice        *voice.Voice
	presentation *presentation.Presentation
	transcriber  ports.Transcriber
	answered     func() bool

	mu     sync.Mutex
	drafts map[*hub.Client]*draft
	number uint64 // of the last draft
}

// draft is an open draft with what has to end with it.
type draft struct {
	Draft
	number uint64 // IDs may come again
	unwind []func()
}

// end releases what belongs to a draft that was taken away. The caller holds no lock.
func (d *draft) end() {
	if d == nil {
		return
	}
	for _, release := range d.unwind {
		release()
	}
}

// New makes it. The host takes no draft without a transcriber, or while there is no
// model to answer it.
func New(h *hub.Hub, v *voice.Voice, p *presentation.Presentation, transcriber ports.Transcriber, answered func() bool) *Dictation {
	return &Dictation{hub: h, voice: v, presentation: p, transcriber: transcriber, answered: answered, drafts: map[*hub.Client]*draft{}}
}

// Available reports whether the host takes a draft now.
func (d *Dictation) Available() bool { return d.transcriber != nil && d.answered() }

// Area is what the hub has to know of it.
func (d *Dictation) Area() hub.Area {
	return hub.Area{
		Controls: []hub.Control{hub.On(d.dictate), hub.On(d.listen)},
		Audio:    d.hear,
		Leave:    func(c *hub.Client) { d.take(c, func(*draft) bool { return true }).end() },
	}
}

// Open reports whether a client is dictating.
func (d *Dictation) Open(c *hub.Client) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drafts[c] != nil
}

// take removes the draft of a client if it is wanted; nil: there is no such one.
func (d *Dictation) take(c *hub.Client, wanted func(*draft) bool) *draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.drafts[c]
	if found == nil || !wanted(found) {
		return nil
	}
	delete(d.drafts, c)
	return found
}

// listen is input.audio: what is said goes to the voice owner.
func (d *Dictation) listen(_ context.Context, c *hub.Client, m nova.InputAudio) error {
	owner := d.voice.Owner()
	switch {
	case d.Open(c):
		return ErrDraftOpen
	case d.presentation.Mode(c) == workbench.ModeBackground:
		return workbench.PresentationHidden
	case owner == "":
		return ErrNoVoice
	case owner != m.ConversationID:
		return workbench.VoiceNotOwned
	}
	return nil
}

func (d *Dictation) dictate(ctx context.Context, c *hub.Client, m nova.InputDictation) error {
	switch m.Action {
	case nova.DictationStart:
		return d.start(ctx, c, m)
	case nova.DictationFinish:
		return d.finish(c, m.ID)
	}
	d.take(c, func(open *draft) bool { return open.ID == m.ID }).end()
	return nil // clients cancel after every draft, whether it is there or not
}

func (d *Dictation) start(ctx context.Context, c *hub.Client, m nova.InputDictation) error {
	if !d.Available() {
		return ErrNoDictation
	}
	if m.ConversationID != "" {
		if err := d.hub.Store.View(ctx, func(tx ports.PersonalView) error {
			_, err := stored.Conversation(tx, m.ConversationID)
			return err
		}); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case c.Left():
		return ErrNoDictation
	case !d.voice.Idle():
		return workbench.VoiceActive
	case d.presentation.Mode(c) == workbench.ModeBackground:
		return workbench.PresentationHidden
	case d.drafts[c] != nil:
		return ErrDraftOpen
	}
	d.number++
	number := d.number
	opened := &draft{number: number}
	if err := opened.Start(m.ID, m.ConversationID); err != nil {
		return err
	}
	stop := d.hub.After(DraftLife, func() { d.settle(c, number, "") })
	opened.unwind = append(opened.unwind, func() { stop() })
	d.drafts[c] = opened
	return nil
}

// hear adds speech to the draft of a client. Without a draft the speech is dropped.
func (d *Dictation) hear(c *hub.Client, pcm []byte) {
	d.mu.Lock()
	open := d.drafts[c]
	if open == nil {
		d.mu.Unlock()
		return
	}
	err := open.Add(pcm)
	d.mu.Unlock()
	if err != nil {
		d.settle(c, open.number, "")
	}
}

// finish freezes a draft and has it recognized.
func (d *Dictation) finish(c *hub.Client, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := d.drafts[c]
	if open == nil {
		return ErrDraftUnknown
	}
	pcm, err := open.Finish(id)
	if err != nil {
		return err
	}
	ctx, cancel := d.hub.Within(d.hub.Context(), RecognitionLimit)
	open.unwind = append(open.unwind, cancel)
	if !d.hub.Start(func(context.Context) { d.settle(c, open.number, d.recognize(ctx, pcm)) }) {
		return workbench.RuntimeClosed
	}
	return nil
}

// recognize turns speech into its text; "" where there is none.
func (d *Dictation) recognize(ctx context.Context, pcm []byte) (text string) {
	if len(pcm) == 0 {
		return ""
	}
	err := hub.SafeCall(func() (err error) {
		text, err = d.transcriber.Transcribe(ctx, pcm)
		return err
	})
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			d.hub.Log.Warn("speech was not recognised", "cause", err)
		}
		return ""
	}
	text = strings.TrimFunc(strings.ToValidUTF8(text, "\uFFFD"), jsonform.IsTrimmed)
	if jsonform.UnitCount(text) > nova.MaxInputUnits {
		return ""
	}
	return text
}

// settle sends the text of a draft and ends it, if it is still the current one. A
// draft without a text gets a result too, because the client waits for one.
func (d *Dictation) settle(c *hub.Client, number uint64, text string) {
	d.mu.Lock()
	open := d.drafts[c]
	if open == nil || open.number != number {
		d.mu.Unlock()
		return
	}
	delete(d.drafts, c)
	c.Send(nova.Transcription{ID: open.ID, ConversationID: open.ConversationID, Text: text})
	d.mu.Unlock()
	open.end()
}

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
	Finishing      bool // it is being recognized; audio that comes now is dropped
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

// Add appends speech, a copy of it. Without an open draft it is dropped. One piece
// too many is ErrDraftTooLong; the draft can then not be finished.
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
