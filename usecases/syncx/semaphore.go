package syncx

import "context"

// Semaphore admits a fixed number of callers at once; the rest wait in
// order of arrival (blocked senders of a channel are served first in, first out).
type Semaphore struct{ slots chan struct{} }

// NewSemaphore gives one for n callers.
func NewSemaphore(n int) *Semaphore { return &Semaphore{slots: make(chan struct{}, n)} }

// Acquire waits for a slot; Release gives it back. When ctx has ended, Acquire
// gives ctx's error and takes no slot, even if one was free at the same moment.
func (t *Semaphore) Acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		t.Release()
		return err
	}
	return nil
}

// Release gives a slot back.
func (t *Semaphore) Release() { <-t.slots }
