package personal

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"plexus/domain/workbench"
)

// group owns the goroutines of the personal host: the one place of the core that
// starts any. It takes no more once it was stopped.
type group struct {
	host    *Host
	ctx     context.Context // ends with stop
	cancel  context.CancelFunc
	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

// start runs work beside the caller; false after stop. A panic of work is logged
// and costs nobody else anything.
func (g *group) start(work func(ctx context.Context)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return false
	}
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		defer func() {
			if p := recover(); p != nil {
				g.host.deps.Log.Error("the personal host panicked", "panic", describe(p), "stack", string(debug.Stack()))
			}
		}()
		work(g.ctx)
	}()
	return true
}

// stop tells all to end and waits for them.
func (g *group) stop() {
	g.mu.Lock()
	g.stopped = true
	g.mu.Unlock()
	g.cancel()
	g.running.Wait()
}

// changes lets any number of watchers wait for the next change without a
// subscription to give back. The zero value is ready.
type changes struct {
	mu   sync.Mutex
	next chan struct{}
}

func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

func (c *changes) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// commandQueue lets one command at a time through, in order of arrival, and few
// wait (nova-personal §1.6). The zero value is ready.
type commandQueue struct {
	mu      sync.Mutex
	closed  bool
	running bool
	waiting []chan struct{} // closed when it is their turn
	idle    chan struct{}   // closed when the last one has left a closed queue
}

// enter waits for the turn. A full or closed queue is workbench.Unavailable; if
// ctx ends first the command is dropped.
func (q *commandQueue) enter(ctx context.Context) error {
	q.mu.Lock()
	switch {
	case q.closed || q.running && len(q.waiting) >= workbench.MaxWaiting:
		q.mu.Unlock()
		return workbench.Unavailable
	case !q.running:
		q.running = true
		q.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == turn {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return ctx.Err()
		}
	}
	return nil // its turn came at the same moment
}

func (q *commandQueue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
		return
	}
	q.running = false
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// close takes no more commands and waits for those that were taken.
func (q *commandQueue) close() {
	q.mu.Lock()
	q.closed = true
	if !q.running {
		q.mu.Unlock()
		return
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()
	<-idle
}

// describe names a panic without its content: the runtime's own errors hold no
// more than indexes and types, any other value gives its type.
func describe(value any) string {
	if own, ok := value.(interface {
		error
		RuntimeError()
	}); ok {
		return own.Error()
	}
	return fmt.Sprintf("a %T", value)
}
