package pairing

import "time"

// Limits of the pairing sockets (nova-transport §21.1, §21.2).
const (
	MaxAttempts   = 60          // redemptions of the whole host in one AttemptWindow
	AttemptWindow = time.Minute // it slides
	MaxSockets    = 8           // open at once, both paths together
)

// Attempts counts redemptions in a sliding window. Not safe for concurrent use.
type Attempts struct {
	times [MaxAttempts]time.Time // of the last ones that were allowed, a ring
	next  int
}

// Allow counts one attempt, unless the window is full. A refused attempt does
// not count, so that one client's retries end with the window and not later.
func (a *Attempts) Allow(now time.Time) bool {
	if a.Wait(now) > 0 {
		return false
	}
	a.times[a.next] = now
	a.next = (a.next + 1) % MaxAttempts
	return true
}

// Wait says how long the window stays full from now on; 0: it is not full.
func (a *Attempts) Wait(now time.Time) time.Duration {
	oldest := a.times[a.next]
	if oldest.IsZero() {
		return 0
	}
	return max(0, oldest.Add(AttemptWindow).Sub(now))
}
