package syncx

import (
	"context"
	"sync"
)

// Budget shares an amount, such as bytes of memory, among claimants of several names.
// A name may hold no more than is left for all others, so that whoever comes next finds
// some, however long the rest is kept; claims of one name are granted in order of
// arrival. A single claim may be for half of the whole at most, or it waits for ever.
type Budget struct {
	mu     sync.Mutex
	free   int
	shares map[string]*share
}

// share is what one name holds and waits for.
type share struct {
	held    int
	waiting []claim
}

type claim struct {
	amount  int
	granted chan struct{}
}

// NewBudget gives one of that size.
func NewBudget(size int) *Budget { return &Budget{free: size, shares: make(map[string]*share)} }

// TryAcquire takes amount for name, if that is possible at once. Release gives it back.
func (b *Budget) TryAcquire(name string, amount int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.share(name)
	return len(s.waiting) == 0 && b.grant(s, amount)
}

// Acquire waits until it has taken amount for name. An error is ctx's; then nothing was
// taken.
func (b *Budget) Acquire(ctx context.Context, name string, amount int) error {
	b.mu.Lock()
	s := b.share(name)
	if len(s.waiting) == 0 && b.grant(s, amount) {
		b.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	s.waiting = append(s.waiting, claim{amount, granted})
	b.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range s.waiting {
		if c.granted == granted {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			b.serve() // whoever stood behind it may want less
			b.forget(name)
			return ctx.Err()
		}
	}
	b.release(name, amount) // granted at the same moment
	return ctx.Err()
}

// Release gives back what was taken for name.
func (b *Budget) Release(name string, amount int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(name, amount)
}

func (b *Budget) release(name string, amount int) {
	b.free += amount
	b.share(name).held -= amount
	b.serve()
	b.forget(name)
}

func (b *Budget) share(name string) *share {
	s := b.shares[name]
	if s == nil {
		s = &share{}
		b.shares[name] = s
	}
	return s
}

func (b *Budget) forget(name string) {
	if s := b.shares[name]; s != nil && s.held == 0 && len(s.waiting) == 0 {
		delete(b.shares, name)
	}
}

func (b *Budget) grant(s *share, amount int) bool {
	if s.held+amount > b.free-amount {
		return false
	}
	s.held += amount
	b.free -= amount
	return true
}

// serve grants what can be granted, to whoever holds least first.
func (b *Budget) serve() {
	for {
		var next *share
		for _, s := range b.shares {
			if len(s.waiting) > 0 && s.held+2*s.waiting[0].amount <= b.free && (next == nil || s.held < next.held) {
				next = s
			}
		}
		if next == nil || !b.grant(next, next.waiting[0].amount) {
			return
		}
		close(next.waiting[0].granted)
		next.waiting = next.waiting[1:]
	}
}
