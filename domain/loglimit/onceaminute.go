package loglimit

import "time"

// OnceAMinute lets one line a minute through and counts the events between two
// lines. The zero value is ready; not safe for concurrent use.
type OnceAMinute struct {
	last   time.Time
	events int
}

// Note counts one more event. When a line is due, it gives how many events that line
// stands for; else 0. A clock that was set back delays no line.
func (o *OnceAMinute) Note(now time.Time) (events int) {
	o.events++
	if since := now.Sub(o.last); !o.last.IsZero() && since >= 0 && since < time.Minute {
		return 0
	}
	events, o.last, o.events = o.events, now, 0
	return events
}
