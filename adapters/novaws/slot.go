package novaws

import (
	"context"
	"time"

	"plexus/domain/admission"
	"plexus/domain/sessions"
)

// probeLimit is how long a connected client may take to show that it is alive
// when another one wants its slot (decision K3).
const probeLimit = 2 * time.Second

// addPendingHello registers a socket that has not said hello, and closes the
// sockets that then exceed the limits.
func (s *Server) addPendingHello(c *session, peer string) {
	s.mu.Lock()
	s.open[c.id] = c
	var evicted []*session
	for _, id := range s.pendingHellos.Add(c.id, peer) {
		evicted = append(evicted, s.open[id])
	}
	s.mu.Unlock()
	for _, old := range evicted {
		old.Close(sessions.EvictedBeforeHello) // without a code, because 4003 would make a phone erase its token
	}
}

// acquireSlot asks for the one client's slot, and tells the owner who did not get it.
// It may take as long as a probe.
func (s *Server) acquireSlot(c *session) bool {
	acquired := s.deps.Auth.MayEnter(c.who) && s.contend(c)
	refused := acquired && !s.deps.Auth.MayEnter(c.who) // the owner has let another one in meanwhile
	s.mu.Lock()
	if refused {
		s.slot.Release(c.id)
		acquired = false
	}
	s.pendingHellos.Remove(c.id)
	gone := s.open[c.id] != c
	s.mu.Unlock()
	if !acquired && !gone {
		s.deps.Refuse(admission.PhoneBusy, s.deps.Auth.TurnAway(c.ctx, c.who))
	}
	return acquired
}

// contend takes the slot if it is free, or its holder gives no sign of life.
func (s *Server) contend(c *session) bool {
	s.mu.Lock()
	if s.open[c.id] != c { // it has ended: the holder keeps its slot
		s.mu.Unlock()
		return false
	}
	s.pendingHellos.Remove(c.id)
	answer, holder := s.slot.Acquire(c.id), s.open[s.slot.Holder()]
	s.mu.Unlock()
	if answer != sessions.SlotProbe {
		return answer == sessions.SlotGranted
	}
	alive := holder != nil && holder.alive(c.ctx)
	s.mu.Lock()
	granted, evicted := s.slot.ProbeDone(c.id, alive)
	old := s.open[evicted]
	s.mu.Unlock()
	if old != nil {
		old.Close(sessions.PeerTimeout)
	}
	return granted
}

// alive pings the client and reports whether anything came back in time.
func (c *session) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	before := c.socket.BytesRead()
	answered := c.socket.Ping(ctx) == nil
	return answered || c.socket.BytesRead() != before
}

// release gives up everything that c holds here.
func (s *Server) release(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pendingHellos.Remove(c.id)
	s.slot.Release(c.id)
	delete(s.open, c.id)
}
