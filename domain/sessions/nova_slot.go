package sessions

import "slices"

// ConnID tells the connections of one listener apart.
type ConnID uint64

// Slot is held by the one connected client (Nova client protocol §1.2, decision
// K3). A newcomer never displaces a client that is alive; whether it is, one probe
// at a time finds out. Not safe for concurrent use. The zero value is free.
type Slot struct {
	holder   ConnID // 0: free
	newcomer ConnID // waits for the probe; 0: no probe is out
}

// SlotAnswer is the answer to Acquire.
type SlotAnswer uint8

// The answers.
const (
	SlotGranted SlotAnswer = iota + 1
	SlotBusy               // somebody has it, and a probe is out already
	SlotProbe              // ask whether Holder is alive, then call ProbeDone
)

// Holder is the connection that has the slot; 0: it is free.
func (s *Slot) Holder() ConnID { return s.holder }

// Acquire asks for the slot.
func (s *Slot) Acquire(id ConnID) SlotAnswer {
	switch {
	case s.holder == 0:
		s.holder = id
		return SlotGranted
	case s.newcomer != 0:
		return SlotBusy
	}
	s.newcomer = id
	return SlotProbe
}

// ProbeDone ends the probe that Acquire asked for. granted tells whether the
// newcomer has the slot now; one that has left meanwhile gets nothing. evicted has
// to be closed; 0 is nobody.
func (s *Slot) ProbeDone(id ConnID, alive bool) (granted bool, evicted ConnID) {
	if s.newcomer != id {
		return false, 0
	}
	s.newcomer = 0
	if s.holder != 0 && alive {
		return false, 0
	}
	evicted, s.holder = s.holder, id
	return true, evicted
}

// Release gives up whatever id has or waits for.
func (s *Slot) Release(id ConnID) {
	if s.holder == id {
		s.holder = 0
	}
	if s.newcomer == id {
		s.newcomer = 0
	}
}

// Bounds of PendingHellos.
const (
	MaxPendingHellos        = 8 // sockets that have not said hello
	MaxPendingHellosPerPeer = 2 // of them from one peer behind a proxy
)

// PendingHellos holds the sockets that have not yet said hello. A newcomer beyond
// the bounds evicts the oldest, so that silent sockets cannot keep a phone out.
// Not safe for concurrent use. The zero value is empty.
type PendingHellos struct{ waiting []pendingHello }

type pendingHello struct {
	id   ConnID
	peer string
}

// Add adds a socket and says which ones have to go. peer is who a proxy says it
// is, or "" when no proxy spoke.
func (p *PendingHellos) Add(id ConnID, peer string) (evicted []ConnID) {
	if peer != "" {
		evicted = p.trim(evicted, MaxPendingHellosPerPeer-1, func(h pendingHello) bool { return h.peer == peer })
	}
	evicted = p.trim(evicted, MaxPendingHellos-1, func(pendingHello) bool { return true })
	p.waiting = append(p.waiting, pendingHello{id, peer})
	return evicted
}

// trim evicts the oldest matching sockets until no more than keep are left.
func (p *PendingHellos) trim(evicted []ConnID, keep int, match func(pendingHello) bool) []ConnID {
	n := 0
	for _, h := range p.waiting {
		if match(h) {
			n++
		}
	}
	for ; n > keep; n-- {
		i := slices.IndexFunc(p.waiting, match)
		evicted = append(evicted, p.waiting[i].id)
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	return evicted
}

// Remove takes out a socket that said hello or went away.
func (p *PendingHellos) Remove(id ConnID) {
	p.waiting = slices.DeleteFunc(p.waiting, func(h pendingHello) bool { return h.id == id })
}
