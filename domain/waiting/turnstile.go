package waiting

import "context"

// Turnstile lets a fixed number of callers through at once; the rest wait in
// order of arrival (blocked senders of a channel are served first in, first out).
type Turnstile struct{ places chan struct{} }

// NewTurnstile gives one for n callers.
func NewTurnstile(n int) *Turnstile { return &Turnstile{places: make(chan struct{}, n)} }

// Enter waits for a place. Leave gives it back. Whose ctx has ended gets none,
// also when a place was free at the same moment; the error is that of ctx.
func (t *Turnstile) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		t.Leave()
		return err
	}
	return nil
}

// Leave gives a place back.
func (t *Turnstile) Leave() { <-t.places }
