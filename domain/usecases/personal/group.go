package personal

import (
	"context"
	"runtime/debug"
	"sync"

	"plexus/domain/usecases/recovery"
	"plexus/domain/usecases/syncx"
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
				g.host.deps.Log.Error("the personal host panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
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

// commandQueue lets one command at a time through, in order of arrival, and few
// wait (nova-personal §1.6).
type commandQueue struct {
	turns *syncx.Semaphore // of one

	mu     sync.Mutex // guards what follows
	closed bool
	taken  int            // that run and wait
	all    sync.WaitGroup // of taken
	short  func()         // ends early what the one that runs waits for; nil: nothing
}

// enter waits for the turn. A full or closed queue is workbench.Unavailable; if
// ctx ends first the command is dropped.
func (q *commandQueue) enter(ctx context.Context) error {
	if !q.take() {
		return workbench.Unavailable
	}
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

func (q *commandQueue) take() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.taken > workbench.MaxWaiting { // one of them runs
		return false
	}
	q.taken++
	q.all.Add(1)
	return true
}

func (q *commandQueue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.all.Done()
}

// cut lets close end what the command that runs waits for, until done.
func (q *commandQueue) cut(short func()) (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.short = short; q.closed {
		short()
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.short = nil
	}
}

// close takes no more commands and waits for those that were taken.
func (q *commandQueue) close() {
	q.mu.Lock()
	if q.closed = true; q.short != nil {
		q.short()
	}
	q.mu.Unlock()
	q.all.Wait()
}

// guard turns a panic of what a turn or a command calls into an error.
func guard(call func() error) error { return recovery.Call("the personal host", call) }
