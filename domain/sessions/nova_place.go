package sessions

import "slices"

// ConnID tells the connections of one listener apart.
type ConnID uint64

// Place is the one client's place (Nova client protocol §1.2, decision K3). A
// newcomer never displaces a client that is alive; whether it is, one probe at a
// time finds out. Not safe for concurrent use. The zero value is free.
type Place struct {
	holder   ConnID // 0: free
	newcomer ConnID // waits for the probe; 0: no probe is out
}

// Claim is the answer to a wish for the place.
type Claim uint8

// The answers.
const (
	Granted Claim = iota + 1
	Busy          // somebody has it, or a probe is out already
	Probe         // ask whether Holder is alive, then call Probed
)

// Holder has the place; 0 is nobody.
func (p *Place) Holder() ConnID { return p.holder }

// Claim asks for the place.
func (p *Place) Claim(id ConnID) Claim {
	switch {
	case p.holder == 0:
		p.holder = id
		return Granted
	case p.newcomer != 0:
		return Busy
	}
	p.newcomer = id
	return Probe
}

// Probed ends the probe that Claim asked for. evicted has to be retired; 0 is
// nobody. granted tells the newcomer's fate; a newcomer that has left meanwhile
// gets nothing.
func (p *Place) Probed(id ConnID, alive bool) (granted bool, evicted ConnID) {
	if p.newcomer != id {
		return false, 0
	}
	p.newcomer = 0
	if p.holder != 0 && alive {
		return false, 0
	}
	evicted, p.holder = p.holder, id
	return true, evicted
}

// Release gives up whatever id has or waits for.
func (p *Place) Release(id ConnID) {
	if p.holder == id {
		p.holder = 0
	}
	if p.newcomer == id {
		p.newcomer = 0
	}
}

// Bounds of the lobby.
const (
	MaxLobby        = 8 // sockets that have not said hello
	MaxLobbyPerPeer = 2 // of them from one peer behind a proxy
)

// Lobby holds the sockets that have not yet said hello. A newcomer beyond the
// bounds drives out the oldest, so that silent sockets cannot keep a phone out.
// Not safe for concurrent use. The zero value is empty.
type Lobby struct{ waiting []lobbyEntry }

type lobbyEntry struct {
	id   ConnID
	peer string
}

// Enter adds a socket and says which ones have to go. peer is who a proxy says
// it is, or "" when no proxy spoke.
func (l *Lobby) Enter(id ConnID, peer string) (evicted []ConnID) {
	if peer != "" {
		evicted = l.trim(evicted, MaxLobbyPerPeer-1, func(e lobbyEntry) bool { return e.peer == peer })
	}
	evicted = l.trim(evicted, MaxLobby-1, func(lobbyEntry) bool { return true })
	l.waiting = append(l.waiting, lobbyEntry{id, peer})
	return evicted
}

// trim drives out the oldest matching entries until no more than keep are left.
func (l *Lobby) trim(evicted []ConnID, keep int, match func(lobbyEntry) bool) []ConnID {
	n := 0
	for _, e := range l.waiting {
		if match(e) {
			n++
		}
	}
	for ; n > keep; n-- {
		i := slices.IndexFunc(l.waiting, match)
		evicted = append(evicted, l.waiting[i].id)
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return evicted
}

// Leave removes a socket that said hello or went away.
func (l *Lobby) Leave(id ConnID) {
	l.waiting = slices.DeleteFunc(l.waiting, func(e lobbyEntry) bool { return e.id == id })
}
