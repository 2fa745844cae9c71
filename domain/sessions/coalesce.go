package sessions

import "time"

// CoalesceWindow is how long changes of the state gather before a client is told
// of them (nova-personal §9.4).
const CoalesceWindow = 250 * time.Millisecond

// Coalescer decides when one client is sent the state again: once for all changes
// of a window. The first change opens the window and later ones do not prolong it.
// Revisions never go down while it lives. Not safe for concurrent use. The zero
// value has told the client nothing.
type Coalescer struct {
	due     time.Time // when the window ends; zero: none is open
	awaited uint64    // the newest revision that was announced
	lacking uint64    // the lowest revision that the client does not have
}

// Changed announces, at now, that the state has this revision.
func (c *Coalescer) Changed(revision uint64, now time.Time) {
	if revision < c.lacking {
		return
	}
	c.awaited = max(c.awaited, revision)
	if c.due.IsZero() {
		c.due = now.Add(CoalesceWindow)
	}
}

// Due is when Take has something to say; zero for never.
func (c *Coalescer) Due() time.Time { return c.due }

// Take closes the window if it has ended by now, and reports whether it has: the
// state is to be composed then. What changes from here on opens the next window.
func (c *Coalescer) Take(now time.Time) bool {
	if c.due.IsZero() || now.Before(c.due) {
		return false
	}
	c.due = time.Time{}
	return true
}

// Told says that the client is given the state of this revision. fresh is false
// when it has that one already, or a newer: it must not be sent again. A window
// that waits for nothing newer is closed.
func (c *Coalescer) Told(revision uint64) (fresh bool) {
	if revision < c.lacking {
		return false
	}
	c.lacking = revision + 1
	if c.awaited <= revision {
		c.due = time.Time{}
	}
	return true
}
