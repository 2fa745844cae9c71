package retention

import (
	"testing"
	"time"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

func TestG18_ALookAddsOneDayAtMost(t *testing.T) {
	for _, tc := range []struct {
		name   string
		steps  []time.Duration // by which the clock goes on between two looks
		days   int64           // beyond the first
		paused bool
	}{
		{"every hour of two days", repeat(time.Hour, 48), 2, false},
		{"once a day", repeat(day, 400), 400, false},
		{"a night off", []time.Duration{36 * time.Hour}, 1, false},
		{"two days less a second", []time.Duration{Leap - time.Second}, 1, false},
		{"two days", []time.Duration{Leap}, 1, true},
		{"ten years on", []time.Duration{10 * year}, 1, true},
		{"ten years back", []time.Duration{-10 * year}, 0, true},
		{"ten years on and back", []time.Duration{10 * year, -10 * year}, 1, true},
		{"back and on", []time.Duration{-10 * year, 10 * year}, 0, true},
		{"back and forth for long", append(repeat2(10*year, -10*year, 500), time.Hour), 1, true},
		{"an hour back, as in autumn", []time.Duration{-time.Hour, time.Hour}, 0, false},
		{"a day back is waited for", []time.Duration{-day, day, day}, 1, false},
		{"on from a leap back, each day", append([]time.Duration{-10 * year}, repeat(day, 6)...), 5, true},
		{"a leap, then seven days", append([]time.Duration{10 * year}, repeat(day, 7)...), 8, false},
		{"a leap, then six days", append([]time.Duration{10 * year}, repeat(day, 6)...), 7, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := start
			c, leap := Calendar{}.Look(now)
			if c.Day != 1 || leap != 0 {
				t.Fatalf("first look: %+v, %v", c, leap)
			}
			for _, step := range tc.steps {
				now = now.Add(step)
				c, _ = c.Look(now)
			}
			if c.Day != 1+tc.days || c.Paused() != tc.paused {
				t.Errorf("day %d, paused %v; want %d, %v", c.Day, c.Paused(), 1+tc.days, tc.paused)
			}
		})
	}
}

// A host that runs once a week is not put off for ever.
func TestG18_AWeeklyHostComesToItsTurn(t *testing.T) {
	c, _ := Calendar{}.Look(start)
	free := 0
	for week := range 40 {
		if c, _ = c.Look(start.Add(time.Duration(week+1) * 7 * day)); !c.Paused() {
			free++
		}
	}
	if c.Day != 41 || free != 5 {
		t.Errorf("day %d, %d weeks without a pause; want 41 and 5", c.Day, free)
	}
}

func TestG18_TheOwnerEndsThePause(t *testing.T) {
	c, _ := Calendar{}.Look(start)
	c, leap := c.Look(start.Add(10 * year))
	if leap != 10*year || !c.Paused() || c.Resumed().Paused() {
		t.Errorf("%+v after a leap of %v", c, leap)
	}
}

func repeat(step time.Duration, n int) (steps []time.Duration) {
	for range n {
		steps = append(steps, step)
	}
	return steps
}

func repeat2(a, b time.Duration, n int) (steps []time.Duration) {
	for range n {
		steps = append(steps, a, b)
	}
	return steps
}
