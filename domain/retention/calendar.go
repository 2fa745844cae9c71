// Package retention counts age in days on which the host ran, so that a clock that
// leaps makes nothing old (decision G18). It is pure.
package retention

import "time"

// A step of the clock beyond Leap, in either direction, is a leap: a wrong clock,
// or a host that was off for long, which cannot be told apart. Age removes nothing
// then before the owner was here, or for PauseDays run-days.
const (
	Leap      = 48 * time.Hour
	PauseDays = 7
)

// Calendar counts run-days. The zero value is that of a host that never ran.
type Calendar struct {
	Day       int64     // run-days so far; what is touched now is of this day
	CountedAt time.Time // by the clock, when Day was last counted; zero for never
	ResumeDay int64     // age removes nothing before this day; 0: it may
	Skip      bool      // the clock went back: the next day forwards was counted before
}

// Look gives the calendar as it is at now. leap is by how much the clock leapt since
// the last count, less than 0 for backwards; 0 for no leap. A look adds one day at
// most, however far the clock went, and a clock that goes back and forth adds one
// day in all.
func (c Calendar) Look(now time.Time) (next Calendar, leap time.Duration) {
	if c.CountedAt.IsZero() {
		c.Day, c.CountedAt = c.Day+1, now
		return c, 0
	}
	passed := now.Sub(c.CountedAt)
	if passed < 24*time.Hour && passed > -Leap {
		return c, 0
	}
	c.CountedAt = now
	switch {
	case passed < 0:
		c.Skip = true
	case c.Skip:
		c.Skip = false
	default:
		c.Day++
	}
	resumed := c.Paused() && c.Day >= c.ResumeDay
	if resumed {
		c.ResumeDay = 0
	}
	if passed < Leap && passed > -Leap {
		return c, 0
	}
	// A host that runs once a week leaps each time. It is put off once in PauseDays.
	if !resumed && !c.Paused() {
		c.ResumeDay = c.Day + PauseDays
	}
	return c, passed
}

// Paused reports whether age removes nothing for now.
func (c Calendar) Paused() bool { return c.ResumeDay != 0 }

// Resumed is the calendar once the owner was here.
func (c Calendar) Resumed() Calendar {
	c.ResumeDay = 0
	return c
}
