// Package memory holds working stores without a disk, and scripted stand-ins
// for the services that the core calls. They serve tests and are not part of the
// program.
package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
)

// maxRecorded bounds what a scripted adapter remembers of its calls.
const maxRecorded = 1024

var (
	_ ports.SearchProvider = (*ScriptedSearch)(nil)
	_ ports.Generator      = (*ScriptedModel)(nil)
)

// UntilCanceled waits for the end of ctx and gives its error. It is the Wait
// of a service that never answers.
func UntilCanceled(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// ScriptedSearch finds the same results for every request. Set the fields
// before the first call; calls may be concurrent.
type ScriptedSearch struct {
	Results []framing.Result                // best first; a request gets at most its limit
	Err     error                           // in place of the results
	Wait    func(ctx context.Context) error // before it answers; its error ends the call; nil: no wait

	calls recorder[ports.SearchRequest]
}

// Search implements ports.SearchProvider. The slice is the caller's own.
func (s *ScriptedSearch) Search(ctx context.Context, req ports.SearchRequest) ([]framing.Result, error) {
	s.calls.add(req)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Wait != nil {
		if err := s.Wait(ctx); err != nil {
			return nil, err
		}
	}
	if s.Err != nil {
		return nil, s.Err
	}
	found := make([]framing.Result, 0, min(len(s.Results), req.Limit))
	for _, r := range s.Results {
		if len(found) == req.Limit {
			break
		}
		if r.URL != "" {
			found = append(found, r)
		}
	}
	return found, nil
}

// Calls gives the first 1024 requests in order of arrival.
func (s *ScriptedSearch) Calls() []ports.SearchRequest { return s.calls.all() }

// ScriptedModel streams the same pieces for every prompt. Set the fields before
// the first call; calls may be concurrent.
type ScriptedModel struct {
	Pieces []string // in order; begun again when Count asks for more
	Count  int      // pieces to emit; 0: each of Pieces once
	Rate   int      // pieces a second; 0: as fast as emit takes them
	Err    error    // after the last piece; nil: the answer is complete

	// Wait runs before piece n, counted from 0, and with n = the number of
	// pieces before the end. Its error ends the call. nil: no wait.
	Wait func(ctx context.Context, n int) error

	calls recorder[ports.Prompt]
}

// Generate implements ports.Generator. A model without pieces and without Err
// ends with ports.ErrModelEmpty.
func (m *ScriptedModel) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	m.calls.add(prompt)
	count := m.Count
	if count == 0 || len(m.Pieces) == 0 {
		count = len(m.Pieces)
	}
	pace := pacer{rate: m.Rate}
	for n := range count {
		if err := m.before(ctx, n); err != nil {
			return err
		}
		if err := pace.wait(ctx, n); err != nil {
			return err
		}
		if err := emit(m.Pieces[n%len(m.Pieces)]); err != nil {
			return err
		}
	}
	if err := m.before(ctx, count); err != nil {
		return err
	}
	if m.Err == nil && count == 0 {
		return ports.ErrModelEmpty
	}
	return m.Err
}

// Calls gives the first 1024 prompts in order of arrival.
func (m *ScriptedModel) Calls() []ports.Prompt { return m.calls.all() }

func (m *ScriptedModel) before(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.Wait == nil {
		return nil
	}
	return m.Wait(ctx, n)
}

// pacer spreads pieces over time. A timer for each of 10,000 pieces a second
// would cost more than the pieces, so it sleeps only when a tick ahead.
type pacer struct {
	rate  int
	begun time.Time
}

const paceTick = time.Millisecond

func (p *pacer) wait(ctx context.Context, n int) error {
	if p.rate <= 0 {
		return nil
	}
	if n == 0 {
		p.begun = time.Now()
		return nil
	}
	due := p.begun.Add(time.Duration(n) * time.Second / time.Duration(p.rate))
	ahead := time.Until(due)
	if ahead < paceTick {
		return nil
	}
	timer := time.NewTimer(ahead)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recorder keeps the first calls.
type recorder[T any] struct {
	mu   sync.Mutex
	kept []T
}

func (r *recorder[T]) add(call T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) < maxRecorded {
		r.kept = append(r.kept, call)
	}
}

func (r *recorder[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}
