package admission

import "time"

// State is what the owner has decided about one extension key.
type State string

const (
	Waiting State = "waiting"  // it has tried to connect, nobody has decided
	Allowed State = "allowed"  // origin and key are pinned
	ByToken State = "by_token" // it came with the host token; KeyHash is zero
	Blocked State = "blocked"  // removed by the owner; it does not become waiting again
)

// Limits of the waiting list (decision A4).
const (
	MaxWaiting          = 20 // rows in state Waiting
	MaxWaitingPerOrigin = 3
)

// Extension is one row: an origin and one of its keys.
type Extension struct {
	ID        int64 // row number, what `plexus extensions allow` takes
	Origin    string
	Key       KeyHash // zero for ByToken rows
	State     State
	FirstSeen time.Time
	LastSeen  time.Time
}

// Digits are the row's four digits, or "" for a row without a key.
func (e Extension) Digits() string {
	if e.Key == (KeyHash{}) {
		return ""
	}
	return e.Key.Digits()
}
