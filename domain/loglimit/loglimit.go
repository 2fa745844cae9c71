// Package loglimit bounds the log lines that strangers can cause.
package loglimit

import "time"

// Lines is how many lines of one kind a minute may have.
const Lines = 10

// PerMinute counts the lines of each kind in the current minute. Kinds come from
// a fixed set, so the map stays small. Make it with PerMinute{}; not safe for
// concurrent use.
type PerMinute map[string]count

type count struct {
	minute time.Time
	lines  int
}

// Allow counts one more line of a kind, and reports whether it may be written.
func (p PerMinute) Allow(kind string, now time.Time) bool {
	c := p[kind]
	if minute := now.Truncate(time.Minute); !c.minute.Equal(minute) {
		c = count{minute: minute}
	}
	c.lines++
	p[kind] = c
	return c.lines <= Lines
}
