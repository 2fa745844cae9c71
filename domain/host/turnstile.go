package host

import "context"

// turnstile lets a fixed number of callers through at once; the rest wait in
// order of arrival (blocked senders of a channel are served first in, first out).
type turnstile struct{ places chan struct{} }

func newTurnstile(n int) *turnstile { return &turnstile{places: make(chan struct{}, n)} }

// enter waits for a place. leave gives it back.
func (t *turnstile) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *turnstile) leave() { <-t.places }
