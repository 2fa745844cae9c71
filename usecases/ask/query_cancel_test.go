package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
)

// TestU4_CancelAtEachStep cancels a question while the host is in each of its
// steps: what waits is let go at once, and the sink is not touched again.
func TestU4_CancelAtEachStep(t *testing.T) {
	tests := []struct {
		name string
		set  func(*stage, context.CancelFunc)
		want []string
	}{
		{"before it begins", func(s *stage, cancel context.CancelFunc) { cancel() }, nil},
		{"service waits", func(s *stage, cancel context.CancelFunc) { s.search.Wait = canceled(cancel) }, nil},
		{"service fails as it is cancelled", func(s *stage, cancel context.CancelFunc) {
			s.search.Err = errService
			s.search.Wait = func(context.Context) error { cancel(); return nil }
		}, nil},
		{"index searches", func(s *stage, cancel context.CancelFunc) { s.index.onSearch = cancel }, nil},
		{"results go out", func(s *stage, cancel context.CancelFunc) { s.tape.onCall = func(string) { cancel() } }, []string{"results 1"}},
		{"before the model's first byte", func(s *stage, cancel context.CancelFunc) {
			s.model.Wait = func(ctx context.Context, _ int) error { return canceled(cancel)(ctx) }
		}, []string{"results 1"}},
		{"between two pieces", func(s *stage, cancel context.CancelFunc) {
			s.model.Wait = func(ctx context.Context, n int) error {
				if n == 1 {
					return canceled(cancel)(ctx)
				}
				return nil
			}
		}, []string{"results 1", `token "Hel"`}},
		{"a piece comes as it is cancelled", func(s *stage, cancel context.CancelFunc) {
			s.model.Wait = func(_ context.Context, n int) error {
				if n == 1 {
					cancel()
				}
				return nil
			}
		}, []string{"results 1", `token "Hel"`}},
		{"model fails as it is cancelled", func(s *stage, cancel context.CancelFunc) {
			s.model.Err = errInterrupted
			s.model.Wait = func(_ context.Context, n int) error {
				if n == 2 {
					cancel()
				}
				return nil
			}
		}, []string{"results 1", `token "Hel"`, `token "lo"`}},
		{"a piece goes out", func(s *stage, cancel context.CancelFunc) { s.tape.onCall = onToken(cancel) }, []string{"results 1", `token "Hel"`}},
		{"an extracted sentence goes out", func(s *stage, cancel context.CancelFunc) {
			s.model, s.tape.onCall = nil, onToken(cancel)
		}, []string{"results 1", pageSentence}},
		{"page is being kept", func(s *stage, cancel context.CancelFunc) { s.record.onKeep = cancel },
			[]string{"results 1", `token "Hel"`, `token "lo"`, "LATE kept"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tt.set(s, cancel)
				h := s.service(t)
				h.AnswerQuery(ctx, bridgeQuestion(), s.tape)
				s.expect(t, tt.want...)
				if got := h.Health(); got.Canceled != 1 || got.Answered != 0 || got.Search.Count+got.Model.Count != 0 {
					t.Errorf("a cancelled question counts as %+v", got)
				}
				if s.log.Len() != 0 {
					t.Errorf("a cancelled question was logged:\n%s", s.log)
				}
				if !slices.Contains(tt.want, "LATE kept") && len(s.record.kept) != 0 {
					t.Error("a cancelled question's page was kept")
				}
			})
		})
	}
}

// cancelled ends the context from outside, while the service waits on it.
func canceled(cancel context.CancelFunc) func(context.Context) error {
	return func(ctx context.Context) error {
		time.AfterFunc(time.Second, cancel)
		return memory.UntilCanceled(ctx)
	}
}

func onToken(cancel context.CancelFunc) func(string) {
	return func(event string) {
		if strings.HasPrefix(event, "token") {
			cancel()
		}
	}
}

func TestCancelWhileWaitingForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.opts.MaxSearches = 1
		s.search.Wait = memory.UntilCanceled
		h := s.service(t)
		first, stopFirst := context.WithCancel(t.Context())
		second, stopSecond := context.WithCancel(t.Context())
		go h.AnswerQuery(first, emptyQuestion(), s.tape)
		synctest.Wait()
		go h.AnswerQuery(second, emptyQuestion(), s.tape)
		synctest.Wait()
		stopSecond()
		synctest.Wait()
		if got := h.Health().Canceled; got != 1 {
			t.Errorf("%d questions let go, want the one that waits", got)
		}
		stopFirst()
		synctest.Wait()
		if got := len(s.search.Calls()); got != 1 {
			t.Errorf("the service was asked %d times, want 1", got)
		}
		s.expect(t)
	})
}

func TestWorkIsBoundedAndServedInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.index = nil
		s.opts.MaxSearches, s.opts.MaxGenerations = 3, 2
		running, most := 0, 0
		turn := make(chan struct{})
		var order []string
		s.model.Pieces = []string{"x"}
		s.model.Wait = func(_ context.Context, n int) error {
			if n == 0 {
				running++
				most = max(most, running)
				<-turn
				running--
			}
			return nil
		}
		h := s.service(t)
		const questions = 8
		for n := range questions {
			sink := &tape{onCall: func(event string) {
				if strings.HasPrefix(event, "final") {
					order = append(order, fmt.Sprint(n))
				}
			}}
			go h.AnswerQuery(t.Context(), emptyQuestion(), sink)
			synctest.Wait()
		}
		if running != 2 || len(s.model.Calls()) != 2 {
			t.Errorf("%d generations at once, %d asked, want 2", running, len(s.model.Calls()))
		}
		for range questions {
			turn <- struct{}{}
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "0 1 2 3 4 5 6 7" {
			t.Errorf("served in the order %s", got)
		}
		if most != 2 {
			t.Errorf("%d generations ran at once", most)
		}
	})
}

func TestSearchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.search.Wait = memory.UntilCanceled
		h := s.service(t)
		ctx, cancel := context.WithCancel(t.Context())
		for range DefaultSearches + 4 {
			go h.AnswerQuery(ctx, emptyQuestion(), s.tape)
		}
		synctest.Wait()
		if got := len(s.search.Calls()); got != DefaultSearches {
			t.Errorf("%d searches at once, want %d", got, DefaultSearches)
		}
		cancel()
	})
}

func TestTookMSIsWallClockAndNeverNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.search.Wait = func(context.Context) error { <-time.After(1500 * time.Millisecond); return nil }
		h := s.service(t)
		h.AnswerQuery(t.Context(), emptyQuestion(), s.tape)
		if got := s.tape.last.TookMS; got != 1500 {
			t.Errorf("took_ms is %d, want 1500", got)
		}
		if got := h.Health().FirstResult; got != (Latency{Count: 1, P50: 1500 * time.Millisecond, P99: 1500 * time.Millisecond}) {
			t.Errorf("first result: %+v", got)
		}
	})
	s := newStage()
	now := time.Unix(1000, 0)
	s.now = func() time.Time { now = now.Add(-time.Second); return now }
	s.service(t).AnswerQuery(t.Context(), emptyQuestion(), s.tape)
	if got := s.tape.last.TookMS; got != 0 {
		t.Errorf("took_ms is %d when the clock is set back, want 0", got)
	}
}

func TestHealthCountsAndLastCauses(t *testing.T) {
	s := newStage()
	at := time.Unix(1000, 0)
	s.now = func() time.Time { return at }
	s.search.Err = errors.Join(errService, errors.New("two\nlines\x1b[31m"))
	h := s.service(t)
	h.CountRefused()
	for range 3 {
		h.AnswerQuery(t.Context(), emptyQuestion(), &tape{})
	}
	got := h.Health()
	if got.Refused != 1 || got.Answered != 3 || got.Search.Count != 3 || !got.Search.At.Equal(at) {
		t.Errorf("health is %+v", got)
	}
	if !strings.Contains(got.Search.Cause, "status 502") || strings.ContainsAny(got.Search.Cause, "\n\x1b") {
		t.Errorf("cause is %q", got.Search.Cause)
	}
}

func TestLatencyOfTheLast256(t *testing.T) {
	var r ring
	if got := r.latency(); got != (Latency{}) {
		t.Errorf("empty ring gives %+v", got)
	}
	r.add(-time.Second)
	if got := r.latency(); got != (Latency{Count: 1}) {
		t.Errorf("negative duration gives %+v", got)
	}
	r = ring{}
	for n := range 100 {
		r.add(time.Duration(n+1) * time.Millisecond)
	}
	if got := r.latency(); got != (Latency{Count: 100, P50: 50 * time.Millisecond, P99: 99 * time.Millisecond}) {
		t.Errorf("1..100 ms gives %+v", got)
	}
	for range 256 {
		r.add(time.Second)
	}
	if got := r.latency(); got != (Latency{Count: 256, P50: time.Second, P99: time.Second}) {
		t.Errorf("old durations stay: %+v", got)
	}
}

func TestLastAnswersComeOldestFirst(t *testing.T) {
	var r ring
	if got := r.newest(3); len(got) != 0 {
		t.Errorf("empty ring gives %v", got)
	}
	for n := range 258 { // two more than it keeps
		r.add(time.Duration(n))
		want := []time.Duration{time.Duration(n - 2), time.Duration(n - 1), time.Duration(n)}[max(0, 2-n):]
		if got := r.newest(3); !slices.Equal(got, want) {
			t.Fatalf("after %d: %v, want %v", n, got, want)
		}
	}
}

func TestPiecesAreNeverEmpty(t *testing.T) {
	s := newStage()
	s.model.Pieces = []string{"", "a", ""}
	s.service(t).AnswerQuery(t.Context(), emptyQuestion(), s.tape)
	s.expect(t, "results 1", `token "a"`, `final ""`)

	s = newStage()
	s.model.Pieces = []string{""}
	q := emptyQuestion()
	q.Query.Search = false
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	s.expect(t, `final "[The model gave no answer.]"`)
}
