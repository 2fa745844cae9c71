package host

import (
	"slices"
	"time"

	"plexus/domain/admission"
	"plexus/domain/sessions"
	"plexus/domain/text"
)

// maxRefusals bounds the list that the owner sees (decision A4).
const maxRefusals = 100

// Refusal is one line of the list of refused attempts: all attempts of one
// cause by one peer.
type Refusal struct {
	Cause admission.Cause
	Peer  string // origin with unprintable characters escaped, or "" for a native tool
	Count int
	First time.Time
	Last  time.Time
}

// refusals is the list, oldest Last first. door.mu guards it.
type refusals []Refusal

// add counts one attempt and gives the new count.
func (r *refusals) add(cause admission.Cause, peer string, now time.Time) int {
	entry := Refusal{Cause: cause, Peer: peer, First: now}
	if i := slices.IndexFunc(*r, func(e Refusal) bool { return e.Cause == cause && e.Peer == peer }); i >= 0 {
		entry = (*r)[i]
		*r = slices.Delete(*r, i, i+1)
	} else if len(*r) == maxRefusals {
		*r = slices.Delete(*r, 0, 1)
	}
	entry.Count++
	entry.Last = now
	*r = append(*r, entry)
	return entry.Count
}

// linesPerMinute bounds the log lines about one cause, whatever origins somebody
// makes up.
const linesPerMinute = 10

// Refuse notes a refused attempt for the owner's list. The log gets a line for
// the 1st, 10th, 100th … of one cause and peer, and no more than linesPerMinute
// of one cause, so that hammering cannot flood it. peer is an origin or "".
func (h *Host) Refuse(cause admission.Cause, peer string) {
	peer = text.Printable(text.Cut(peer, admission.MaxOriginLength))
	now := h.deps.Now()
	h.door.mu.Lock()
	count := h.door.refusals.add(cause, peer, now)
	loud := sessions.Milestone(count) && h.door.lines.allow(cause, now)
	h.door.mu.Unlock()
	h.changes.Notify()
	if loud {
		h.deps.Log.Warn("a connection was refused", "cause", string(cause), "origin", peer, "count", count, "advice", cause.Advice())
	}
}

// lineBudget counts the lines of each cause in the current minute.
type lineBudget map[admission.Cause]lineCount

type lineCount struct {
	minute time.Time
	lines  int
}

func (b lineBudget) allow(cause admission.Cause, now time.Time) bool {
	minute := now.Truncate(time.Minute)
	c := b[cause]
	if !c.minute.Equal(minute) {
		c = lineCount{minute: minute}
	}
	c.lines++
	b[cause] = c
	return c.lines <= linesPerMinute
}

// Refusals gives the last refused attempts, newest first.
func (h *Host) Refusals() []Refusal {
	h.door.mu.Lock()
	defer h.door.mu.Unlock()
	out := slices.Clone([]Refusal(h.door.refusals))
	slices.Reverse(out)
	return out
}
