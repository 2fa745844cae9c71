package host

import (
	"slices"
	"time"

	"plexus/domain/admission"
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

// Refuse notes a refused attempt for the owner's list. The log gets a line for
// the 1st, 10th, 100th … of one cause and peer, so that hammering cannot flood
// it. peer is an origin or "".
func (h *Host) Refuse(cause admission.Cause, peer string) {
	peer = text.Printable(text.Cut(peer, admission.MaxOriginLength))
	h.door.mu.Lock()
	count := h.door.refusals.add(cause, peer, h.deps.Now())
	h.door.mu.Unlock()
	if isPowerOfTen(count) {
		h.deps.Log.Warn("a connection was refused", "cause", string(cause), "origin", peer, "count", count, "advice", cause.Advice())
	}
}

func isPowerOfTen(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// Refusals gives the last refused attempts, newest first.
func (h *Host) Refusals() []Refusal {
	h.door.mu.Lock()
	defer h.door.mu.Unlock()
	out := slices.Clone([]Refusal(h.door.refusals))
	slices.Reverse(out)
	return out
}
