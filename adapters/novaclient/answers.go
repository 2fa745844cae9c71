package novaclient

import (
	"context"
	"sync"
)

// answers passes the host's answers to the calls that wait for them, by the IDs of
// their requests; there is one for each kind of request. The zero value is empty.
type answers[T any] struct {
	mu      sync.Mutex
	waiting map[string]chan T // by the ID of the request
}

// expect makes answer wait for what comes to id; done ends that.
func (a *answers[T]) expect(id string) (answer chan T, done func()) {
	answer = make(chan T, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = make(map[string]chan T)
	}
	a.waiting[id] = answer
	return answer, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiting, id)
	}
}

// deliver gives the first answer to an ID to its waiter; later ones are dropped.
func (a *answers[T]) deliver(id string, answer T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ch, ok := a.waiting[id]; ok {
		ch <- answer // it has room for one
		delete(a.waiting, id)
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
