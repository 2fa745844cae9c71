package nervews

import (
	"context"
	"sync/atomic"

	"plexus/adapters/wsconn"
	"plexus/domain/framing"
	"plexus/domain/sessions"
	"plexus/usecases/syncx"
)

// payloadRoom is the room that a session takes for payloads out of what the process
// has. Room is taken between header and payload, so that what finds none is not read
// and waits in the peer's socket. It is given back when the query has been answered.
// Cancel and Ping have no payload to speak of and never wait here; behind a query that
// waits they do, as everything on that connection.
type payloadRoom struct {
	budget  *syncx.Budget
	origin  string
	ctx     context.Context // of the session
	taken   int             // for the frame that is being read; the reader's
	waiting atomic.Bool
}

// admit is an Admit. Every query counts, and so does a payload of any other type whose
// buffer is too large to be kept.
func (p *payloadRoom) admit(h framing.Header) (waited bool, err error) {
	size := int(h.PayloadLength)
	if size == 0 || h.Type != framing.SearchQueryMsg && size <= keepBuffer {
		return false, nil
	}
	if !p.budget.TryAcquire(p.origin, size) {
		p.waiting.Store(true)
		err := p.budget.Acquire(p.ctx, p.origin, size)
		p.waiting.Store(false)
		if err != nil {
			return true, &LinkError{Reason: sessions.ClientGone}
		}
		waited = true
	}
	p.taken = size
	return waited, nil
}

// handOver leaves the room of the present frame to a worker, which will release it.
func (p *payloadRoom) handOver() { p.taken = 0 }

// giveBack releases the room of a frame that nobody has taken over.
func (p *payloadRoom) giveBack() {
	if p.taken > 0 {
		p.release(p.taken)
		p.taken = 0
	}
}

func (p *payloadRoom) release(size int) {
	if size > 0 {
		p.budget.Release(p.origin, size)
	}
}

// patientPeer takes no silence for a sign while its session does not read: the pongs
// wait in the socket then. Only a KeepAlive calls it.
type patientPeer struct {
	wsconn.Peer
	room  *payloadRoom
	grace uint64
}

// BytesRead counts one more each time while the session does not read.
func (p *patientPeer) BytesRead() uint64 {
	if p.room.waiting.Load() {
		p.grace++
	}
	return p.Peer.BytesRead() + p.grace
}
