package novaclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/pairing"
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
	c.mu.Lock()
	receipt, done := expect(c, c.receipts, id)
	err := c.enqueueCommand(id, control)
	c.mu.Unlock()
	defer done()
	if err != nil {
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
	c.mu.Lock()
	outcome, done := expect(c, c.texts, text.RequestID)
	c.mu.Unlock()
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
	c.mu.Lock()
	defer c.mu.Unlock()
	reports := c.player.stop(time.Now())
	return c.enqueueAll(append(reports, nova.SpeechOnset{SpeechID: newID(), RenderMS: nova.Some(c.renderMS())}))
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
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enqueue(websocket.MessageBinary, append([]byte(nil), pcm...))
}

// Dictate sends speech, which pcm gives at its pace, and waits for its text. It
// does not wait to be told that it may begin, and stops when it may not. In the
// end the draft is cancelled, as the apps do.
func (c *Conn) Dictate(ctx context.Context, conversationID string, pcm iter.Seq[[]byte]) (text string, err error) {
	draft := nova.InputDictation{ID: newID(), Action: nova.DictationStart, ConversationID: conversationID}
	startID := newID()
	c.mu.Lock()
	transcription, done := expect(c, c.transcriptions, draft.ID)
	started, startDone := expect(c, c.receipts, startID)
	err = c.enqueueCommand(startID, draft)
	c.mu.Unlock()
	defer done()
	defer startDone()
	if err != nil {
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

// expect makes answer wait for what comes to id; done ends that. The caller holds
// mu, and calls done without it.
func expect[T any](c *Conn, waiting map[string]chan T, id string) (answer chan T, done func()) {
	answer = make(chan T, 1)
	waiting[id] = answer
	return answer, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(waiting, id)
	}
}

// await waits for an answer, for ctx, whose cause it gives, and for the end of
// the connection. An answer that came before either counts.
func await[T any](ctx context.Context, c *Conn, ch chan T) (answer T, err error) {
	select {
	case answer = <-ch:
		return answer, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-c.over:
		err = c.cause()
	}
	select {
	case answer = <-ch:
		return answer, nil
	default:
		return answer, err
	}
}

// enqueueAll sends controls whose receipts nobody waits for. The caller holds mu.
func (c *Conn) enqueueAll(controls []nova.Control) error {
	for _, control := range controls {
		if err := c.enqueueCommand(newID(), control); err != nil {
			return err
		}
	}
	return nil
}

// enqueueCommand sends a control as a command of this ID. The caller holds mu.
func (c *Conn) enqueueCommand(id string, control nova.Control) error {
	text, err := nova.AppendCommand(nil, id, c.ready.ConnectionID, control)
	if err != nil {
		return fmt.Errorf("write %s: %w", control.Kind(), err)
	}
	return c.enqueue(websocket.MessageText, text)
}

// enqueue ends the connection when there is no room. The caller holds mu.
func (c *Conn) enqueue(kind websocket.MessageType, data []byte) error {
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	if !c.out.push(outgoing{kind, data}) {
		c.fail(ErrUplinkFull)
		return ErrUplinkFull
	}
	c.signal()
	return nil
}

// signal makes the sender look again.
func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// newID is a UUID as the apps spell it.
func newID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return strings.ToUpper(pairing.NewDeviceID(random).String())
}
