package personal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
)

// submission is a text on its way into a conversation.
type submission struct {
	conversationID string // "": the selected one
	text           string
	requestID      string // "" for none
	todo           conversations.TodoRef
	language       nova.Language
}

// text takes an input.text (nova-transport §16.2).
func (e *endpoint) text(ctx context.Context, m nova.InputText) error {
	s := submission{conversationID: m.ConversationID, text: m.Text, requestID: m.RequestID, language: e.terms.Language}
	if m.SourceTodo.Set {
		s.todo = conversations.TodoRef{ID: m.SourceTodo.Value.ID, Version: m.SourceTodo.Value.Version}
	}
	if m.RequestID == "" {
		if e.dictating() {
			return workbench.ConversationBusy
		}
		return e.host.submit(ctx, s)
	}
	answer := func(cause nova.TextError) {
		e.link.Send(nova.TextResult{RequestID: m.RequestID, ConversationID: m.ConversationID, Error: cause})
	}
	if m.InputInstanceID != "" && m.InputInstanceID != e.host.opts.InputInstanceID {
		answer(nova.OutcomeUnknown)
		return nil
	}
	switch e.host.beginText(e.terms.Desktop, m.RequestID, conversations.TextContent{ConversationID: m.ConversationID, Text: m.Text, Todo: s.todo}) {
	case conversations.TextNew:
		e.submitText(s)
	case conversations.TextAccepted:
		answer("")
	case conversations.TextFailed:
		answer(nova.SubmissionFailed)
	case conversations.TextConflict:
		answer(nova.RequestIDConflict)
	case conversations.TextFull:
		answer(nova.RequestCapacity)
	}
	return nil
}

func (h *Host) beginText(desktop bool, requestID string, content conversations.TextContent) conversations.TextVerdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.texts[desktop].Begin(requestID, content)
}

// submitText admits a correlated text beside the connection, which may be gone
// when the result is there: whoever is connected then gets it.
func (e *endpoint) submitText(s submission) {
	h, desktop := e.host, e.terms.Desktop
	settle := func(err error) {
		h.mu.Lock()
		asked := h.texts[desktop].Settle(s.requestID, err == nil)
		h.mu.Unlock()
		result := nova.TextResult{RequestID: s.requestID, ConversationID: s.conversationID}
		if err != nil {
			result.Error = nova.SubmissionFailed
		}
		for range asked {
			h.send(desktop, result)
		}
	}
	if e.dictating() {
		settle(workbench.ConversationBusy)
		return
	}
	if !h.lines.admit(h, s, settle) {
		settle(workbench.RuntimeClosed)
	}
}

// submit admits a text and waits until that is durable. Errors are
// workbench.Refusal, or failures of the store.
func (h *Host) submit(ctx context.Context, s submission) error {
	done := make(chan error, 1)
	if !h.lines.admit(h, s, func(err error) { done <- err }) {
		return workbench.RuntimeClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for a text's admission: %w", ctx.Err())
	}
}

// store makes a text a pending message, and gives its turn: nil when the same
// request was admitted before.
func (h *Host) store(ctx context.Context, s submission) (t *turn, err error) {
	if !h.hasModel() {
		return nil, workbench.RuntimeUnavailable
	}
	if h.full.Load() { // as it was: something may have been removed since
		if err := h.keepBounds(ctx); err != nil {
			return nil, err
		}
		if h.full.Load() {
			return nil, workbench.StoreCapacity
		}
	}
	err = h.update(ctx, func(tx ports.PersonalTx) error {
		c, err := conversation(tx, s.conversationID)
		if err != nil {
			return err
		}
		if err := h.mayWrite(c.ID); err != nil {
			return err
		}
		t, err = h.admit(tx, c, s)
		return err
	})
	if err == nil && t != nil {
		t.language = s.language
	}
	return t, err
}

// mayWrite refuses a text where somebody speaks, or what was said is being
// cleared.
func (h *Host) mayWrite(conversationID string) error {
	switch {
	case h.voiceAt(conversationID):
		return workbench.VoiceActive
	case h.lines.muted(conversationID):
		return workbench.ConversationClearing
	}
	return nil
}

// admit adds a pending message to a conversation. A request that is there
// already gives errUnchanged, or a conflict when it was another text.
func (h *Host) admit(tx ports.PersonalTx, c conversations.Conversation, s submission) (*turn, error) {
	if s.requestID != "" {
		before, err := tx.MessageByRequest(c.ID, s.requestID)
		switch {
		case err == nil && before.Text == s.text && before.Todo == s.todo:
			return nil, errUnchanged
		case err == nil:
			return nil, workbench.RequestIDConflict
		case !errors.Is(err, ports.ErrMessageUnknown):
			return nil, err
		}
	}
	if s.todo.ID != "" {
		item, ok, err := load[workbench.Item](tx, string(workbench.Todo), s.todo.ID)
		if err != nil {
			return nil, err
		}
		if !ok || item.Version != s.todo.Version {
			return nil, workbench.TodoConflict
		}
	}
	m := conversations.Message{
		ID: h.newID("user:"), ConversationID: c.ID, Role: conversations.User, Text: s.text, CreatedAt: h.now(),
		TurnID: h.newID("turn:"), RequestID: s.requestID, Status: conversations.Pending, Todo: s.todo,
	}
	if _, err := tx.AddMessage(m); err != nil {
		return nil, err
	}
	c.UpdatedAt = m.CreatedAt
	return &turn{conversationID: c.ID, generation: c.Generation, message: m}, tx.PutConversation(c)
}

// turn is an admitted message that waits for its answer.
type turn struct {
	conversationID string
	generation     uint64
	message        conversations.Message
	language       nova.Language
	// Guarded by lines.mu.
	dropped   bool // nothing of it may be shown any more
	halfShown bool // clients have a part of its answer and no end
}

// lines are the conversations in which something waits or runs. Texts are
// admitted in the order in which they came and answered in that order, one at a
// time; conversations do not wait for each other.
type lines struct {
	mu     sync.Mutex
	open   map[string]*line
	closed bool
}

type line struct {
	admissions []admission
	admitting  bool
	turns      []*turn
	current    *turn // being answered
	cancel     context.CancelFunc
	mutes      int    // clearings under way
	held       []held // what is to be shown if they come to nothing
}

// held is something of a turn that clients may be shown later.
type held struct {
	turn *turn
	show func()
}

type admission struct {
	submission submission
	settle     func(error)
}

func (l *line) idle() bool {
	return !l.admitting && l.current == nil && len(l.turns) == 0 && len(l.admissions) == 0 && l.mutes == 0
}

// waiting counts the texts and turns before which a new text waits.
func (l *line) waiting() int { return len(l.admissions) + len(l.turns) }

// total counts what waits and what runs in all conversations. mu is held.
func (l *lines) total() (n int) {
	for _, o := range l.open {
		if n += o.waiting(); o.current != nil {
			n++
		}
	}
	return n
}

// get gives the line of a conversation, a fresh one if need be. mu is held.
func (l *lines) get(id string) *line {
	if l.open[id] == nil {
		l.open[id] = &line{}
	}
	return l.open[id]
}

// tidy forgets a line in which nothing is left. mu is held.
func (l *lines) tidy(id string) {
	if o := l.open[id]; o != nil && o.idle() {
		delete(l.open, id)
	}
}

// close takes nothing more.
func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// admit queues a text for admission; settle is called once with what became of
// it. false: the host stops.
func (l *lines) admit(h *Host, s submission, settle func(error)) bool {
	if s.conversationID == "" {
		h.mu.Lock()
		s.conversationID = h.selected
		h.mu.Unlock()
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	o := l.get(s.conversationID)
	if o.waiting() >= maxQueued || l.total() >= maxOpen {
		l.tidy(s.conversationID)
		l.mu.Unlock()
		settle(workbench.ConversationBusy)
		return true
	}
	o.admissions = append(o.admissions, admission{s, settle})
	begin := !o.admitting
	o.admitting = true
	l.mu.Unlock()
	if begin && !h.group.start(func(ctx context.Context) { l.admitAll(ctx, h, s.conversationID) }) {
		l.admitAll(h.group.ctx, h, s.conversationID) // it has ended: all of them fail
	}
	return true
}

// admitAll admits what waits in a conversation, in order.
func (l *lines) admitAll(ctx context.Context, h *Host, id string) {
	for {
		l.mu.Lock()
		o := l.open[id]
		if len(o.admissions) == 0 {
			o.admitting = false
			l.tidy(id)
			l.mu.Unlock()
			return
		}
		next := o.admissions[0]
		o.admissions = o.admissions[1:]
		l.mu.Unlock()
		var t *turn
		err := guard(func() (err error) {
			t, err = h.store(ctx, next.submission)
			return err
		})
		if err != nil {
			h.logAdmission(err)
		} else if t != nil {
			h.enqueue(*t)
		}
		next.settle(err)
	}
}

// logAdmission tells of what is no refusal.
func (h *Host) logAdmission(err error) {
	if refusal := (workbench.Refusal("")); !errors.As(err, &refusal) && !errors.Is(err, context.Canceled) {
		h.deps.Log.Error("a text could not be admitted", "error", err)
	}
}

// mute holds back what is being said in a conversation, and refuses texts, until
// unmute.
func (l *lines) mute(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.get(id).mutes++
}

func (l *lines) unmute(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[id]
	if o.mutes--; o.mutes == 0 {
		for _, late := range o.held {
			if !late.turn.dropped {
				late.show()
			}
		}
		o.held = nil
	}
	l.tidy(id)
}

func (l *lines) muted(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id] != nil && l.open[id].mutes > 0
}

// busy reports whether a text is admitted or a turn runs or waits in a
// conversation.
func (l *lines) busy(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[id]
	return o != nil && (o.current != nil || len(o.turns) > 0 || o.admitting)
}
