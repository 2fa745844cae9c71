// Package turns takes the texts that clients write (input.text, nova-transport
// §16.2) and has them answered: a text is admitted, which makes it a pending
// message, waits in its conversation's queue, and is answered by the model. A turn
// belongs to the host and not to the connection that asked for it.
package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/choice"
	"plexus/usecases/personal/dictation"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/stored"
	"plexus/usecases/personal/topics"
	"plexus/usecases/personal/voice"
)

// Options are what turns are answered with.
type Options struct {
	Model           ports.Generator
	Answered        func() bool      // whether there is a model now
	Find            Find             // looks up on this machine what a turn can quote; nil: nothing
	Search          Find             // also asks the search service; nil: there is none
	Language        answers.Language // of answers to a phone that asks for none
	PageLanguage    nova.Language    // of answers on the owner's page; "": Language
	MaxPrompt       int              // bytes
	InputInstanceID string           // UUID of this process's text input
}

// Find looks up what helps to answer a text: at most limit results, best first, and
// never excludeURL.
type Find func(ctx context.Context, text, excludeURL string, limit int) ([]framing.Result, error)

// Turns answers texts.
type Turns struct {
	Queue *Queue
	// Searches says whether every text goes to the search service (decision D16).
	Searches *choice.Switch

	hub       *hub.Hub
	voice     *voice.Voice
	dictation *dictation.Dictation
	topics    *topics.Topics
	opts      Options

	mu      sync.Mutex           // guards ledgers
	ledgers map[bool]*TextLedger // of the page (true) and of phones: neither uses up the other's
}

// New makes them.
func New(h *hub.Hub, q *Queue, v *voice.Voice, d *dictation.Dictation, t *topics.Topics, searches *choice.Switch, opts Options) *Turns {
	return &Turns{Queue: q, Searches: searches, hub: h, voice: v, dictation: d, topics: t, opts: opts,
		ledgers: map[bool]*TextLedger{true: {}, false: {}}}
}

// Area is what the hub has to know of them. What was pending when the last host
// stopped is interrupted.
func (t *Turns) Area() hub.Area {
	return hub.Area{
		Controls: []hub.Control{hub.On(t.take)},
		Open: func(tx ports.PersonalTx) error {
			_, err := tx.InterruptPending()
			return err
		},
		Close: t.Queue.close,
	}
}

// Answered reports whether there is a model that answers.
func (t *Turns) Answered() bool { return t.opts.Answered() }

// Input says what can be handed in now (decision K10).
func (t *Turns) Input() nova.Input {
	switch {
	case !t.Answered():
		return nova.NoInput
	case t.dictation.Available():
		return nova.TextAndDictation
	}
	return nova.TextInput
}

// InputInstance names this process's text input, which lives as long.
func (t *Turns) InputInstance() string { return t.opts.InputInstanceID }

// Text is a text on its way into a conversation.
type Text struct {
	ConversationID string // "": the selected one
	Text           string
	RequestID      string // "" for none
	Todo           conversations.TodoRef
	Language       nova.Language
}

// SubmitText admits what the owner writes at the page, of which the caller has
// checked what an input.text has to be. It is durable on return. Errors are
// workbench.Refusal, or failures of the store.
func (t *Turns) SubmitText(ctx context.Context, conversationID, text string) error {
	return t.submit(ctx, Text{ConversationID: conversationID, Text: text, Language: t.opts.PageLanguage})
}

// take is input.text.
func (t *Turns) take(ctx context.Context, c *hub.Client, m nova.InputText) error {
	s := Text{ConversationID: m.ConversationID, Text: m.Text, RequestID: m.RequestID, Language: c.Terms.Language}
	if c.Terms.Desktop {
		s.Language = t.opts.PageLanguage
	}
	if m.SourceTodo.Set {
		s.Todo = conversations.TodoRef{ID: m.SourceTodo.Value.ID, Version: m.SourceTodo.Value.Version}
	}
	if m.RequestID == "" {
		switch {
		case !m.Usable():
			return workbench.InvalidRequest
		case t.dictation.Open(c):
			return workbench.ConversationBusy
		}
		return t.submit(ctx, s)
	}
	answer := func(cause nova.TextError) {
		c.Send(nova.TextResult{RequestID: m.RequestID, ConversationID: m.ConversationID, Error: cause})
	}
	if m.InputInstanceID != "" && m.InputInstanceID != t.opts.InputInstanceID {
		answer(nova.OutcomeUnknown)
		return nil
	}
	t.mu.Lock()
	verdict := t.ledgers[c.Terms.Desktop].Begin(m.RequestID, TextContent{ConversationID: m.ConversationID, Text: m.Text, Todo: s.Todo}, m.Usable())
	t.mu.Unlock()
	switch verdict {
	case TextNew:
		t.submitCorrelated(c, s)
	case TextAccepted:
		answer("")
	case TextFailed:
		answer(nova.SubmissionFailed)
	case TextConflict:
		answer(nova.RequestIDConflict)
	case TextFull:
		answer(nova.RequestCapacity)
	}
	return nil
}

// submitCorrelated admits a text beside the connection, which may be gone when the
// result is there: the clients that are connected then get it.
func (t *Turns) submitCorrelated(c *hub.Client, s Text) {
	desktop := c.Terms.Desktop
	settle := func(err error) {
		t.mu.Lock()
		asked := t.ledgers[desktop].Settle(s.RequestID, err == nil)
		t.mu.Unlock()
		result := nova.TextResult{RequestID: s.RequestID, ConversationID: s.ConversationID}
		if err != nil {
			result.Error = nova.SubmissionFailed
		}
		for range asked {
			t.hub.Send(desktop, result)
		}
	}
	if t.dictation.Open(c) {
		settle(workbench.ConversationBusy)
		return
	}
	t.enqueueText(s, settle)
}

// submit admits a text and waits until that is durable. Errors are
// workbench.Refusal, or failures of the store.
func (t *Turns) submit(ctx context.Context, s Text) error {
	done := make(chan error, 1)
	t.enqueueText(s, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for a text's admission: %w", ctx.Err())
	}
}

// enqueueText lets a text be admitted after those before it; settle is called once
// with what became of it.
func (t *Turns) enqueueText(s Text, settle func(error)) {
	if s.ConversationID == "" {
		s.ConversationID = t.hub.Selected()
	}
	begin, err := t.Queue.add(admission{s, settle})
	if err != nil {
		settle(err)
		return
	}
	admitAll := func(ctx context.Context) { t.admitAll(ctx, s.ConversationID) }
	if begin && !t.hub.Start(admitAll) {
		admitAll(t.hub.Context()) // it has ended: all of them fail
	}
}

// admitAll admits what waits in a conversation, in order.
func (t *Turns) admitAll(ctx context.Context, conversationID string) {
	for {
		next, ok := t.Queue.nextAdmission(conversationID)
		if !ok {
			return
		}
		var turn *Turn
		err := hub.SafeCall(func() (err error) {
			turn, err = t.store(ctx, next.text)
			return err
		})
		if turn != nil {
			t.Enqueue(turn, next.text.Language)
		}
		if refusal := (workbench.Refusal("")); err != nil && !errors.As(err, &refusal) && !errors.Is(err, context.Canceled) {
			t.hub.Log.Error("a text could not be admitted", "error", err)
		}
		next.settle(err)
	}
}

// store makes a text a pending message, and gives its turn: nil when the same
// request was admitted before.
func (t *Turns) store(ctx context.Context, s Text) (turn *Turn, err error) {
	if !t.Answered() {
		return nil, workbench.RuntimeUnavailable
	}
	if full, err := t.topics.Full(ctx); err != nil {
		return nil, err
	} else if full {
		return nil, workbench.StoreCapacity
	}
	err = t.hub.Update(ctx, func(tx ports.PersonalTx) error {
		c, err := stored.Conversation(tx, s.ConversationID)
		switch {
		case err != nil:
			return err
		case t.voice.IsOn(c.ID):
			return workbench.VoiceActive
		case t.Queue.paused(c.ID):
			return workbench.ConversationClearing
		}
		turn, err = t.Admit(tx, c, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return turn, nil
}

// Admit adds a pending message to a conversation, for Enqueue once that is stored.
// A request that is there already gives hub.ErrUnchanged, or a conflict when it was
// another text.
func (t *Turns) Admit(tx ports.PersonalTx, c conversations.Conversation, s Text) (*Turn, error) {
	if s.RequestID != "" {
		before, err := tx.MessageByRequest(c.ID, s.RequestID)
		switch {
		case err == nil && before.Text == s.Text && before.Todo == s.Todo:
			return nil, hub.ErrUnchanged
		case err == nil:
			return nil, workbench.RequestIDConflict
		case !errors.Is(err, ports.ErrMessageUnknown):
			return nil, err
		}
	}
	if s.Todo.ID != "" {
		version, ok, err := life.TodoVersion(tx, s.Todo.ID)
		if err != nil {
			return nil, err
		}
		if !ok || version != s.Todo.Version {
			return nil, workbench.TodoConflict
		}
	}
	m := conversations.Message{
		ID: t.hub.NewID("user:"), ConversationID: c.ID, Role: conversations.User, Text: s.Text, CreatedAt: t.hub.Timestamp(),
		TurnID: t.hub.NewID("turn:"), RequestID: s.RequestID, Status: conversations.Pending, Todo: s.Todo,
	}
	if _, err := tx.AddMessage(m); err != nil {
		return nil, err
	}
	c.UpdatedAt = m.CreatedAt
	return &Turn{conversationID: c.ID, generation: c.Generation, message: m}, tx.PutConversation(c)
}

// Enqueue lets an admitted turn be answered, in a language, after those before it.
// When the host stops before, the message stays pending, and the next start says so.
func (t *Turns) Enqueue(turn *Turn, language nova.Language) {
	turn.language = language
	if t.Queue.addTurn(turn) {
		t.hub.Start(func(ctx context.Context) { t.answerAll(ctx, turn.conversationID) })
	}
}
