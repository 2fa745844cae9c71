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
	ErrNotRecognised = errors.New("no words were recognised")
)

// transcribeWithin is how long the apps wait for a dictated text.
const transcribeWithin = 35 * time.Second

// TextRefused is an input.text_result that is not ok.
type TextRefused struct{ Reason nova.TextError }

func (e *TextRefused) Error() string { return "the host did not take the text: " + string(e.Reason) }

// Command sends a control and waits for its receipt.
func (c *Conn) Command(ctx context.Context, control nova.Control) (nova.Status, error) {
	id := newID()
	receipt := make(chan nova.Status, 1)
	defer register(c, c.receipts, id, receipt)()
	if err := c.sendCommand(id, control); err != nil {
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
	if c.o.Profile == IOS {
		return c.plainText(ctx, text)
	}
	correlated, err := c.NewText(text, conversationID)
	if err != nil {
		return err
	}
	return c.SubmitText(ctx, correlated)
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

func (c *Conn) plainText(ctx context.Context, text string) error {
	text, err := trimmed(text)
	if err != nil {
		return err
	}
	waiting, stop := context.WithTimeoutCause(ctx, receiptWithin, ErrNoReceipt)
	defer stop()
	err = c.apply(waiting, nova.InputText{Text: text})
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(waiting), ErrNoReceipt) {
		return ErrNoReceipt
	}
	return err
}

// SubmitText sends a correlated text and waits for its outcome. With the
// RequestID, text and instance of an earlier call it asks for that outcome again.
func (c *Conn) SubmitText(ctx context.Context, text nova.InputText) error {
	outcome := make(chan nova.TextResult, 1)
	defer register(c, c.texts, text.RequestID, outcome)()
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
	return both && (c.o.Profile == IOS || c.input.InputInstanceID != "")
}

// Cards gives the open cards, by their IDs.
func (c *Conn) Cards() []Card {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deck.list()
}

// Decide answers a card, once per connection. The card stays until the host
// changes it, whatever the receipt says.
func (c *Conn) Decide(ctx context.Context, cardID string, d nova.Decision) (nova.Status, error) {
	c.mu.Lock()
	card, err := c.deck.answer(cardID, d, time.Now())
	c.mu.Unlock()
	if err != nil {
		return "", err
	}
	if c.o.Profile == IOS {
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
	return c.post(append(reports, nova.SpeechOnset{SpeechID: newID(), RenderMS: nova.Some(c.renderMS())}))
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

// Dictate sends a draft, which pcm gives at the pace of speech, and waits for
// its text. It does not wait to be told that it may begin, and stops when it may
// not. In the end the draft is cancelled, as the apps do.
func (c *Conn) Dictate(ctx context.Context, conversationID string, pcm iter.Seq[[]byte]) (text string, err error) {
	draft := nova.InputDictation{ID: newID(), Action: nova.DictationStart, ConversationID: conversationID}
	said := make(chan nova.Transcription, 1)
	defer register(c, c.drafts, draft.ID, said)()
	begun := make(chan nova.Status, 1)
	startID := newID()
	defer register(c, c.receipts, startID, begun)()
	if err := c.sendCommand(startID, draft); err != nil {
		return "", err
	}
	for piece := range pcm {
		if refused(begun) {
			break
		}
		if err := c.Audio(piece); err != nil {
			return "", err
		}
	}
	text, err = c.finish(ctx, draft, begun, said)
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

func (c *Conn) finish(ctx context.Context, draft nova.InputDictation, begun chan nova.Status, said chan nova.Transcription) (string, error) {
	if status, err := await(ctx, c, begun); err != nil || status != nova.Applied {
		return "", errors.Join(err, ErrNotApplied)
	}
	draft.Action = nova.DictationFinish
	if err := c.apply(ctx, draft); err != nil {
		return "", err
	}
	waiting, stop := context.WithTimeoutCause(ctx, transcribeWithin, ErrNotRecognised)
	defer stop()
	result, err := await(waiting, c, said)
	switch {
	case err != nil:
		return "", err
	case jsonform.Blank(result.Text) || jsonform.UnitCount(result.Text) > nova.MaxInputUnits:
		return "", ErrNotRecognised
	}
	return result.Text, nil
}

// register makes ch wait for the answer to id; the result ends that.
func register[T any](c *Conn, waiting map[string]chan T, id string, ch chan T) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return enter(c, waiting, id, ch)
}

// enter is register for a caller that holds mu.
func enter[T any](c *Conn, waiting map[string]chan T, id string, ch chan T) (end func()) {
	waiting[id] = ch
	return func() {
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

func (c *Conn) sendCommand(id string, control nova.Control) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enqueueCommand(id, control)
}

// post sends controls whose receipts nobody waits for. The caller holds mu.
func (c *Conn) post(controls []nova.Control) error {
	for _, control := range controls {
		if err := c.enqueueCommand(newID(), control); err != nil {
			return err
		}
	}
	return nil
}

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
	c.rouse()
	return nil
}

// rouse makes the sender look again.
func (c *Conn) rouse() {
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
