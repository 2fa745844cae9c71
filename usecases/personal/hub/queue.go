package hub

import (
	"context"
	"sync"

	"plexus/domain/workbench"
	"plexus/usecases/syncx"
)

// MaxWaiting is how many commands wait for their turn.
const MaxWaiting = 8

// commandQueue runs one command at a time, in order of arrival, and bounds how many
// wait (nova-personal §1.6).
type commandQueue struct {
	turns *syncx.Semaphore // of one

	mu        sync.Mutex // guards what follows
	closed    bool
	taken     int            // that run and wait
	all       sync.WaitGroup // of taken
	interrupt func()         // ends early what the one that runs waits for; nil: nothing
}

// enter waits for the turn. A full or closed queue is workbench.Unavailable; if
// ctx ends first the command is dropped.
func (q *commandQueue) enter(ctx context.Context) error {
	q.mu.Lock()
	if q.closed || q.taken > MaxWaiting { // one of them runs
		q.mu.Unlock()
		return workbench.Unavailable
	}
	q.taken++
	q.all.Add(1)
	q.mu.Unlock()
	if err := q.turns.Acquire(ctx); err != nil {
		q.drop()
		return err
	}
	return nil
}

func (q *commandQueue) leave() {
	q.turns.Release()
	q.drop()
}

func (q *commandQueue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.all.Done()
}

// Interruptible lets Stop end early, by interrupt, what a command's Prepare waits
// for, until done.
func (h *Hub) Interruptible(interrupt func()) (done func()) {
	q := &h.commands
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.interrupt = interrupt; q.closed {
		interrupt()
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.interrupt = nil
	}
}

// close takes no more commands and waits for those that were taken.
func (q *commandQueue) close() {
	q.mu.Lock()
	if q.closed = true; q.interrupt != nil {
		q.interrupt()
	}
	q.mu.Unlock()
	q.all.Wait()
}
