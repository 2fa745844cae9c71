package hub

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"

	"plexus/domain/usecases/recovery"
)

// group owns the goroutines of the personal host: the one place of the core that
// starts any. It takes no more once it was stopped.
type group struct {
	log     *slog.Logger
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
				g.log.Error("the personal host panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
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

// Guard turns a panic of what the host calls into an error.
func Guard(call func() error) error { return recovery.Call("the personal host", call) }
