package memory

import (
	"context"
	"sync"

	"plexus/domain/retention"
	"plexus/ports"
)

// RunDays is the calendar of an index and of the store that writes to it.
type RunDays struct {
	mu  sync.Mutex
	now retention.Calendar
}

var _ ports.RunDays = (*RunDays)(nil)

// RunDays implements ports.RunDays.
func (r *RunDays) RunDays(ctx context.Context) (retention.Calendar, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now, ctx.Err()
}

// SetRunDays implements ports.RunDays.
func (r *RunDays) SetRunDays(ctx context.Context, c retention.Calendar) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = c
	return nil
}

func (r *RunDays) day() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Day
}
