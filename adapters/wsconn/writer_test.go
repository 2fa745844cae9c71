package wsconn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// listQueue is a Queue without rules. It notes what was written.
type listQueue struct {
	mu      sync.Mutex
	waiting []string
	written []string
}

func (q *listQueue) push(texts ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, texts...)
}

func (q *listQueue) Next() (f Frame, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return f, false
	}
	f.Buffer = &Buffer{B: []byte(q.waiting[0])}
	q.waiting = q.waiting[1:]
	return f, true
}

func (q *listQueue) Written(f Frame, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		q.written = append(q.written, string(f.Buffer.B))
	}
}

func (q *listQueue) wants(t *testing.T, texts ...string) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Equal(q.written, texts) {
		t.Errorf("written: %q, want %q", q.written, texts)
	}
}

// silentPeer never sends anything. It counts its pings.
type silentPeer struct{ pings atomic.Int32 }

func (p *silentPeer) Ping(ctx context.Context) error { p.pings.Add(1); <-ctx.Done(); return ctx.Err() }
func (p *silentPeer) BytesRead() uint64              { return 0 }
func (p *silentPeer) BytesSent() uint64              { return 0 }

func TestWriter_WritesInOrderAndTheRestAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &listQueue{}
		w := NewWriter(q, func(Frame) error { return nil }, func() { t.Error("closed") }, nil)
		var running sync.WaitGroup
		running.Go(func() { w.Run(func(err error) { t.Error(err) }) })
		q.push("a", "b")
		w.Wake()
		w.Wake()
		synctest.Wait()
		q.wants(t, "a", "b")
		q.push("c", "d") // nobody wakes it
		w.Stop(time.Second)
		w.Stop(time.Second)
		running.Wait()
		q.wants(t, "a", "b", "c", "d")
		time.Sleep(time.Hour) // the limit is off
	})
}

// TestWriter_OneWritesAtATime: who has taken the turn is waited for.
func TestWriter_OneWritesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &listQueue{}
		release := make(chan struct{})
		w := NewWriter(q, func(Frame) error { <-release; return nil }, func() {}, nil)
		var running sync.WaitGroup
		running.Go(func() { w.Run(func(err error) { t.Error(err) }) })
		if !w.TryLock() || w.TryLock() || !w.Busy() {
			t.Fatal("two have the turn")
		}
		q.push("a")
		w.Wake()
		synctest.Wait()
		q.wants(t)
		w.Unlock()
		synctest.Wait()
		if w.TryLock() {
			t.Error("the turn was given away in the middle of a write")
		}
		close(release)
		synctest.Wait()
		q.wants(t, "a")
		if w.Busy() {
			t.Error("busy with nothing")
		}
		w.Stop(time.Second)
		running.Wait()
	})
}

// TestWriter_StopFreesAStuckWrite, and tells of its error.
func TestWriter_StopFreesAStuckWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, stuck, broken := &listQueue{}, make(chan struct{}), errors.New("broken")
		var failed []error
		w := NewWriter(q, func(Frame) error { <-stuck; return broken }, func() { close(stuck) }, nil)
		var running sync.WaitGroup
		running.Go(func() { w.Run(func(err error) { failed = append(failed, err) }) })
		q.push("a", "b")
		w.Wake()
		synctest.Wait()
		began := time.Now()
		w.Stop(time.Second)
		running.Wait()
		if took := time.Since(began); took != time.Second || len(failed) != 1 || !errors.Is(failed[0], broken) {
			t.Errorf("it ended after %v with %v", took, failed)
		}
		q.wants(t)
	})
}

func TestKeepAlive_ASilentPeerIsGivenUpAfterThreeIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		peer, began := &silentPeer{}, time.Now()
		w := NewWriter(&listQueue{}, func(Frame) error { return nil }, func() {}, NewKeepAlive(ctx, peer, KeepAliveInterval, 0))
		w.Run(func(err error) {
			if took := time.Since(began); !errors.Is(err, ErrPeerTimeout) || took != 3*KeepAliveInterval {
				t.Errorf("%v after %v", err, took)
			}
			cancel()
			w.Stop(time.Second)
		})
		if n := peer.pings.Load(); n != 2 {
			t.Errorf("%d pings, want 2", n)
		}
	})
}
