package novaclient

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
)

// Why a command or a text did not get through.
var (
	ErrNotApplied    = errors.New("the host did not accept it")
	ErrNoReceipt     = errors.New("the host sent no receipt in time")
	ErrNoResult      = errors.New("the host sent no result in time")
	ErrNotPersonal   = errors.New("the host shows no workbench")
	ErrTooMany       = errors.New("too many commands wait for their results")
	ErrNoTextInput   = errors.New("the host takes no text")
	ErrText          = errors.New("the text is blank or longer than 4000 characters")
	ErrNotRecognized = errors.New("no words were recognised")
)

// transcribeWithin is how long the apps wait for a dictated text.
const transcribeWithin = 35 * time.Second

// TextRefused is an input.text_result that is not ok.
type TextRefused struct{ Reason nova.TextError }

func (e *TextRefused) Error() string { return "the host did not take the text: " + string(e.Reason) }

// Command sends a control and waits for its receipt.
func (c *Conn) Command(ctx context.Context, control nova.Control) (nova.Status, error) {
	id := newID()
	receipt, done := c.receipts.expect(id)
	defer done()
	if err := c.uplink.command(id, control); err != nil {
		return "", err
	}
	return await(ctx, c, receipt)
}

// apply is Command for what is no use unless it is applied.
func (c *Conn) apply(ctx context.Context, control nova.Control) error {
	status, err := c.Command(ctx, control)
	if err == nil && status != nova.Applied {
		err = ErrNotApplied
	}
	return err
}

// Text submits what a person wrote. IOS waits 15 s for the receipt. Flutter waits
// for the outcome, which may be a *TextRefused: then the person keeps the text.
func (c *Conn) Text(ctx context.Context, text, conversationID string) error {
	if c.options.Profile != IOS {
		correlated, err := c.NewText(text, conversationID)
		if err != nil {
			return err
		}
		return c.SubmitText(ctx, correlated)
	}
	text, err := trimmed(text)
	if err != nil {
		return err
	}
	waiting, stop := context.WithTimeoutCause(ctx, receiptWithin, ErrNoReceipt)
	defer stop()
	return c.apply(waiting, nova.InputText{Text: text})
}

// NewText makes a text for SubmitText, with a RequestID of its own.
func (c *Conn) NewText(text, conversationID string) (nova.InputText, error) {
	text, err := trimmed(text)
	if err != nil {
		return nova.InputText{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.input.TextInput {
		return nova.InputText{}, ErrNoTextInput
	}
	return nova.InputText{
		Text: text, RequestID: newID(), InputInstanceID: c.input.InputInstanceID, ConversationID: conversationID,
	}, nil
}

// trimmed is a text as it is sent, or ErrText.
func trimmed(text string) (string, error) {
	text = strings.TrimFunc(text, jsonform.IsTrimmed)
	if text == "" || jsonform.UnitCount(text) > nova.MaxInputUnits {
		return "", ErrText
	}
	return text, nil
}

// SubmitText sends a correlated text and waits for its outcome. With the
// RequestID, text and instance of an earlier call it asks for that outcome again.
func (c *Conn) SubmitText(ctx context.Context, text nova.InputText) error {
	outcome, done := c.texts.expect(text.RequestID)
	defer done()
	if err := c.apply(ctx, text); err != nil {
		return err
	}
	result, err := await(ctx, c, outcome)
	if err == nil && result.Error != "" {
		err = &TextRefused{result.Error}
	}
	return err
}

// ShowsText reports whether an app would offer to write: only to a host that
// takes dictation as well.
func (c *Conn) ShowsText() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	both := c.ready.Pipeline == nova.Cascaded && c.ready.TextInput && c.ready.Dictation
	return both && (c.options.Profile == IOS || c.input.InputInstanceID != "")
}

// Cards gives the open cards, by their IDs.
func (c *Conn) Cards() []Card {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cards.list()
}

// Decide answers a card, once per connection. The card stays until the host
// changes it, whatever the receipt says.
func (c *Conn) Decide(ctx context.Context, cardID string, d nova.Decision) (nova.Status, error) {
	c.mu.Lock()
	card, err := c.cards.answer(cardID, d, time.Now())
	c.mu.Unlock()
	if err != nil {
		return "", err
	}
	if c.options.Profile == IOS {
		card.ConversationID = ""
	}
	if card.IsProject() {
		return c.Command(ctx, nova.ConfirmationDecision{
			ProposalID: card.ID, Confirmed: d == nova.Accept, ConversationID: card.ConversationID,
		})
	}
	return c.Command(ctx, nova.ApprovalDecision{
		Executor: card.Executor, ApprovalID: card.ID, Decision: d, ConversationID: card.ConversationID,
	})
}

// Onset says that the person began to speak. What plays is stopped first.
func (c *Conn) Onset() error {
	return c.uplink.play(func(p *player) []nova.Control {
		return append(p.stop(time.Now()), nova.SpeechOnset{SpeechID: newID(), RenderMS: nova.Some(c.uplink.renderMS())})
	})
}

// StartVoice makes what Audio sends be heard by the host. Until it returns the
// microphone has to wait.
func (c *Conn) StartVoice(ctx context.Context, conversationID string) error {
	if c.ready.Pipeline == nova.Integrated {
		return nil // it listens from the beginning
	}
	return c.apply(ctx, nova.InputAudio{ConversationID: conversationID})
}

// Audio queues PCM16, mono, 16 kHz, of 2 to 65536 bytes. The host wants it at the
// pace of speech.
func (c *Conn) Audio(pcm []byte) error {
	if err := nova.CheckUplinkPCM(pcm); err != nil {
		return err
	}
	c.uplink.mu.Lock()
	defer c.uplink.mu.Unlock()
	return c.uplink.push(outgoing{websocket.MessageBinary, slices.Clone(pcm)})
}

// Dictate sends speech, which pcm gives at its pace, and waits for its text. It
// does not wait to be told that it may begin, and stops when it may not. In the
// end the draft is cancelled, as the apps do.
func (c *Conn) Dictate(ctx context.Context, conversationID string, pcm iter.Seq[[]byte]) (text string, err error) {
	draft := nova.InputDictation{ID: newID(), Action: nova.DictationStart, ConversationID: conversationID}
	startID := newID()
	transcription, done := c.transcriptions.expect(draft.ID)
	defer done()
	started, startDone := c.receipts.expect(startID)
	defer startDone()
	if err := c.uplink.command(startID, draft); err != nil {
		return "", err
	}
	for piece := range pcm {
		if refused(started) {
			break
		}
		if err := c.Audio(piece); err != nil {
			return "", err
		}
	}
	text, err = c.finishDictation(ctx, draft, started, transcription)
	draft.Action = nova.DictationCancel
	return text, errors.Join(err, c.apply(ctx, draft))
}

// refused looks for a receipt that is not applied, and leaves it for its waiter.
func refused(receipt chan nova.Status) bool {
	select {
	case status := <-receipt:
		receipt <- status // it has room for one, and one was taken
		return status != nova.Applied
	default:
		return false
	}
}

func (c *Conn) finishDictation(ctx context.Context, draft nova.InputDictation, started chan nova.Status, transcription chan nova.Transcription) (string, error) {
	if status, err := await(ctx, c, started); err != nil || status != nova.Applied {
		return "", errors.Join(err, ErrNotApplied)
	}
	draft.Action = nova.DictationFinish
	if err := c.apply(ctx, draft); err != nil {
		return "", err
	}
	waiting, stop := context.WithTimeoutCause(ctx, transcribeWithin, ErrNotRecognized)
	defer stop()
	result, err := await(waiting, c, transcription)
	switch {
	case err != nil:
		return "", err
	case jsonform.Blank(result.Text) || jsonform.UnitCount(result.Text) > nova.MaxInputUnits:
		return "", ErrNotRecognized
	}
	return result.Text, nil
}
