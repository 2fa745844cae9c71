package retention

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/pages"
	"plexus/ports"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// stage is a Keeper on a store in memory, with a clock of its own.
type stage struct {
	*testing.T
	*Keeper
	store  *memory.Personal
	now    time.Time
	log    bytes.Buffer
	topics []int64 // the days before which topics were to expire
	fails  error
}

func newStage(t *testing.T) *stage {
	s := &stage{T: t, store: memory.NewPersonal(), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	s.Keeper = New(Deps{
		Days: s.store.RunDays(), Pages: s.store.Pages(), Topics: s, Now: func() time.Time { return s.now },
		Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}, Options{PageDays: 180, TopicDays: 365})
	s.Look(t.Context())
	return s
}

func (s *stage) Expire(_ context.Context, before int64) (int, error) {
	s.topics = append(s.topics, before)
	return 0, s.fails
}

func (s *stage) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.Look(s.Context())
}

func (s *stage) index(name string) {
	s.Helper()
	page := pages.Page{URL: "https://a.test/" + name, Text: name, Origin: "chrome-extension://x"}
	if err := s.store.Update(s.Context(), func(tx ports.PersonalTx) error { return tx.IndexPage(page) }); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) holds(want int, when string) {
	s.Helper()
	if _, n, err := s.store.Pages().Pages(s.Context(), ports.PageList{}); n != want || err != nil {
		s.Errorf("%s: %d pages, %v; want %d", when, n, err, want)
	}
}

func TestG18_OnlyRunDaysMakeAPageOld(t *testing.T) {
	s := newStage(t)
	s.index("old")
	for range 180 {
		s.pass(day)
	}
	s.holds(1, "after 180 days")
	s.index("new")
	s.pass(day)
	s.holds(1, "after 181 days")
	if last := s.topics[len(s.topics)-1]; last != 182-365 {
		t.Errorf("topics from before day %d expire", last)
	}
}

func TestG18_AClockThatLeapsRemovesNothing(t *testing.T) {
	for name, leaps := range map[string][]time.Duration{
		"ten years on":          {10 * year},
		"ten years back":        {-10 * year},
		"on and back":           {10 * year, -10 * year},
		"back and on":           {-10 * year, 10 * year},
		"on and on":             {10 * year, 10 * year, 10 * year},
		"on, and then each day": {10 * year, day, day, day, day, day, day, day, day},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.index("old")
			for _, leap := range leaps {
				s.pass(leap)
				s.holds(1, "after a leap")
			}
			if err := s.OwnerIsHere(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.pass(time.Hour)
			s.holds(1, "after the owner came")
			want := 0
			for _, leap := range leaps {
				if leap != day {
					want++
				}
			}
			if n := strings.Count(s.log.String(), "the clock has moved"); n != want {
				t.Errorf("%d lines in the log, want %d:\n%s", n, want, &s.log)
			}
		})
	}
}

// What was old before a leap waits for the owner, or for seven run-days.
func TestG18_ALeapPutsOffWhatIsDue(t *testing.T) {
	for _, visits := range []bool{true, false} {
		s := newStage(t)
		s.index("old")
		for range 180 {
			s.pass(day)
		}
		s.pass(10 * year)
		s.holds(1, "right after the leap")
		if visits {
			if err := s.OwnerIsHere(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.pass(time.Minute)
			s.holds(0, "after the visit")
			continue
		}
		for range 6 {
			s.pass(day)
		}
		s.holds(1, "six days later")
		s.pass(day)
		s.holds(0, "seven days later")
	}
}

func TestLook_AFailureIsLoggedAndTriedAgain(t *testing.T) {
	s := newStage(t)
	s.fails = errors.New("no room")
	s.pass(day)
	if !strings.Contains(s.log.String(), "no room") {
		t.Errorf("log: %s", &s.log)
	}
	s.fails = nil
	n := len(s.topics)
	if s.pass(time.Hour); len(s.topics) != n+1 {
		t.Error("it was not tried again")
	}
}
