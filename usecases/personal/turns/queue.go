package turns

import (
	"context"
	"slices"
	"sync"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/hub"
)

// Bounds of the queue.
const (
	maxQueued = 64   // texts and turns that wait in one conversation
	maxOpen   = 1024 // texts and turns that wait and run in all
)

// Turn is an admitted message that waits for its answer.
type Turn struct {
	conversationID string
	generation     uint64
	message        conversations.Message
	language       nova.Language
	// Guarded by Queue.mu.
	dropped       bool // nothing of it may be shown any more
	partiallySent bool // clients have a part of its answer and no end
}

// Queue is the conversations in which something waits or runs. Texts are admitted
// in the order in which they came and answered in that order, one at a time;
// conversations do not wait for each other.
type Queue struct {
	hub *hub.Hub

	mu     sync.Mutex
	open   map[string]*conversationQueue
	closed bool
}

type conversationQueue struct {
	admissions []admission
	admitting  bool
	turns      []*Turn
	current    *Turn // being answered
	cancel     context.CancelFunc
	pauses     int        // clearings under way
	deferred   []deferred // what is to be shown if they come to nothing
}

// deferred is something of a turn that clients may be shown later.
type deferred struct {
	turn *Turn
	show func()
}

// admission is a text that waits for being admitted; settle is called once with what
// became of it.
type admission struct {
	text   Text
	settle func(error)
}

// NewQueue makes an empty one.
func NewQueue(h *hub.Hub) *Queue {
	return &Queue{hub: h, open: map[string]*conversationQueue{}}
}

// waiting counts the texts and turns before which a new text waits.
func (c *conversationQueue) waiting() int { return len(c.admissions) + len(c.turns) }

// get gives the queue of a conversation, a fresh one if need be. mu is held.
func (q *Queue) get(id string) *conversationQueue {
	if q.open[id] == nil {
		q.open[id] = &conversationQueue{}
	}
	return q.open[id]
}

// tidy removes the queue of a conversation in which nothing waits or runs. mu is
// held.
func (q *Queue) tidy(id string) {
	if c := q.open[id]; c != nil && !c.admitting && c.current == nil && c.waiting() == 0 && c.pauses == 0 {
		delete(q.open, id)
	}
}

// close refuses further texts and turns.
func (q *Queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// add queues a text for admission. begin: no goroutine admits texts of its
// conversation yet, the caller has to start one. The refusals are
// workbench.RuntimeClosed and, when too much waits, workbench.ConversationBusy.
func (q *Queue) add(a admission) (begin bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, workbench.RuntimeClosed
	}
	total := 0
	for _, c := range q.open {
		if total += c.waiting(); c.current != nil {
			total++
		}
	}
	id := a.text.ConversationID
	c := q.get(id)
	if c.waiting() >= maxQueued || total >= maxOpen {
		q.tidy(id)
		return false, workbench.ConversationBusy
	}
	c.admissions = append(c.admissions, a)
	begin = !c.admitting
	c.admitting = true
	return begin, nil
}

// nextAdmission takes the text that is to be admitted next; false: there is none,
// and the admitting goroutine ends.
func (q *Queue) nextAdmission(id string) (a admission, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.open[id]
	if len(c.admissions) == 0 {
		c.admitting = false
		q.tidy(id)
		return a, false
	}
	a, c.admissions = c.admissions[0], c.admissions[1:]
	return a, true
}

// addTurn queues a turn. begin: no goroutine answers turns of its conversation yet,
// the caller has to start one.
func (q *Queue) addTurn(t *Turn) (begin bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.get(t.conversationID)
	c.turns = append(c.turns, t)
	return c.current == nil && len(c.turns) == 1
}

// nextTurn ends the turn that ran and takes the one after it, with the time that it
// has; nil: there is none, or life has ended, and the answering goroutine ends.
func (q *Queue) nextTurn(life context.Context, id string) (t *Turn, ctx context.Context, cancel context.CancelFunc) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.open[id]
	c.current, c.cancel = nil, nil
	if len(c.turns) == 0 || life.Err() != nil {
		c.turns = nil
		q.tidy(id)
		return nil, nil, nil
	}
	t, c.turns = c.turns[0], c.turns[1:]
	ctx, cancel = q.hub.Within(life, TurnLimit)
	c.current, c.cancel = t, cancel
	return t, ctx, cancel
}

// Pause holds back what is being said in a conversation, and refuses texts, until
// Resume.
func (q *Queue) Pause(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.get(id).pauses++
}

// Resume ends a Pause. When no other Pause is left, what was deferred is shown,
// unless its turn was dropped.
func (q *Queue) Resume(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.open[id]
	if c.pauses--; c.pauses == 0 {
		for _, late := range c.deferred {
			if !late.turn.dropped {
				late.show()
			}
		}
		c.deferred = nil
	}
	q.tidy(id)
}

func (q *Queue) paused(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open[id] != nil && q.open[id].pauses > 0
}

// Busy reports whether a text is admitted or a turn runs or waits in a
// conversation.
func (q *Queue) Busy(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.open[id]
	return c != nil && (c.current != nil || len(c.turns) > 0 || c.admitting)
}

// Drop ends what runs and waits in a conversation, for good, and takes back what
// clients were shown of it: an empty final caption.
func (q *Queue) Drop(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.open[id]
	if c == nil {
		return
	}
	gone := slices.Clone(c.turns) // they are marked when their turn comes
	for _, late := range c.deferred {
		gone = append(gone, late.turn)
	}
	if c.current != nil {
		gone = append(gone, c.current)
		c.cancel()
	}
	for _, t := range gone {
		if t.partiallySent && !t.dropped {
			q.hub.Caption(t.caption("", true))
		}
		t.dropped = true
	}
}

// ifLive calls show unless the turn, which runs, was dropped. While its
// conversation is paused it waits for what becomes of that. No pause can end in
// between.
func (q *Queue) ifLive(t *Turn, show func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.open[t.conversationID]
	switch {
	case t.dropped:
	case c.pauses > 0:
		c.deferred = append(c.deferred, deferred{t, show})
	default:
		show()
	}
}

func (q *Queue) isDropped(t *Turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return t.dropped
}
