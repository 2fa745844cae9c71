package novaws

import (
	"context"
	"time"

	"plexus/domain/sessions"
)

// probeLimit is how long a connected client may take to show that it is alive
// when another one wants its place (decision K3).
const probeLimit = 2 * time.Second

// enterLobby registers a socket that has not said hello, and drives out those
// that it is one too many for.
func (s *Server) enterLobby(c *session, peer string) {
	s.mu.Lock()
	s.open[c.id] = c
	var evicted []*session
	for _, id := range s.lobby.Enter(c.id, peer) {
		evicted = append(evicted, s.open[id])
	}
	s.mu.Unlock()
	for _, old := range evicted {
		old.Close(sessions.EvictedBeforeHello) // cut: 4003 would make an honest phone forget its token
	}
}

// claim asks for the one client's place. It may take as long as a probe.
func (s *Server) claim(c *session) bool {
	s.mu.Lock()
	if s.open[c.id] != c { // it has left: it must not make anybody give way
		s.mu.Unlock()
		return false
	}
	s.lobby.Leave(c.id)
	verdict, holder := s.place.Claim(c.id), s.open[s.place.Holder()]
	s.mu.Unlock()
	if verdict != sessions.Probe {
		return verdict == sessions.Granted
	}
	alive := holder != nil && holder.alive(c.ctx)
	s.mu.Lock()
	granted, evicted := s.place.Probed(c.id, alive)
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
	seen := c.socket.BytesRead()
	answered := c.socket.Ping(ctx) == nil
	return answered || c.socket.BytesRead() != seen
}

// leave gives up everything that c holds here.
func (s *Server) leave(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lobby.Leave(c.id)
	s.place.Release(c.id)
	delete(s.open, c.id)
}
