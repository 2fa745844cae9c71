package browsers

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
	Peer  string // origin or name of a device, with unprintable characters escaped, or "" for a native tool
	Count int
	First time.Time
	Last  time.Time
}

// refusals is the list, oldest Last first. Registry.mu guards it.
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

// Refuse notes a refused attempt for the owner's list. The log gets a line for
// the 1st, 10th, 100th … of one cause and peer, and no more than loglimit.Lines a
// minute of one cause, so that repeated attempts cannot flood it; for
// admission.PhoneBusy it gets none, since the connection itself has one. peer is an
// origin, the name of a device, or "".
func (r *Registry) Refuse(cause admission.Cause, peer string) {
	peer = text.Printable(text.Truncate(peer, admission.MaxOriginLength))
	now := r.deps.Now()
	r.mu.Lock()
	count := r.refusals.add(cause, peer, now)
	loud := cause != admission.PhoneBusy && sessions.Milestone(count) && r.logLimit.Allow(string(cause), now)
	r.mu.Unlock()
	r.changes.Notify()
	if loud {
		r.deps.Log.Warn("a connection was refused", "cause", string(cause), "origin", peer, "count", count, "advice", cause.Advice())
	}
}

// Refusals gives the last refused attempts, newest first.
func (r *Registry) Refusals() []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone([]Refusal(r.refusals))
	slices.Reverse(out)
	return out
}
