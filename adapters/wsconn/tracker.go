package wsconn

import (
	"context"
	"sync"

	"plexus/domain/sessions"
)

// Closer is a live connection that can be told to end. Close never blocks and
// may be called often.
type Closer interface {
	Close(reason sessions.CloseReason)
}

// Tracker knows every live connection of one listener, because
// http.Server.Shutdown forgets those that were hijacked. It bounds their number.
type Tracker struct {
	max int

	mu     sync.Mutex
	closed bool
	taken  int // slots, reserved or in use
	live   map[Closer]struct{}
	empty  chan struct{} // closed when the last slot is given back after CloseAll
}

// NewTracker allows max connections at once.
func NewTracker(max int) *Tracker {
	return &Tracker{max: max, live: make(map[Closer]struct{}), empty: make(chan struct{})}
}

// Reserve takes a slot, before the connection exists. false: none is left, or
// CloseAll was called.
func (t *Tracker) Reserve() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.taken >= t.max {
		return false
	}
	t.taken++
	return true
}

// Add puts a connection in its reserved slot. After CloseAll it is closed at
// once, so that none slips through a shutdown.
func (t *Tracker) Add(c Closer) {
	t.mu.Lock()
	t.live[c] = struct{}{}
	closed := t.closed
	t.mu.Unlock()
	if closed {
		c.Close(sessions.Shutdown)
	}
}

// Release gives the slot back. c is nil when it never came to a connection.
func (t *Tracker) Release(c Closer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c != nil {
		delete(t.live, c)
	}
	t.taken--
	if t.closed && t.taken == 0 {
		close(t.empty)
	}
}

// Len counts the slots taken.
func (t *Tracker) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken
}

// CloseAll refuses new connections and tells every live one to end.
func (t *Tracker) CloseAll(reason sessions.CloseReason) {
	t.mu.Lock()
	already := t.closed
	t.closed = true
	if !already && t.taken == 0 {
		close(t.empty)
	}
	live := make([]Closer, 0, len(t.live))
	for c := range t.live {
		live = append(live, c)
	}
	t.mu.Unlock()
	for _, c := range live {
		c.Close(reason)
	}
}

// Wait waits, after CloseAll, until every slot is given back.
func (t *Tracker) Wait(ctx context.Context) error {
	select {
	case <-t.empty:
		return nil
	case <-ctx.Done():
	}
	select { // both may have been true
	case <-t.empty:
		return nil
	default:
		return ctx.Err()
	}
}
