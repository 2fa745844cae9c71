package adminweb

import (
	"net"
	"net/http"
	"sync"
)

// silent is the connections that have not asked for anything yet. Browsers open
// some ahead, and http.Server.Shutdown would wait five seconds for them. The zero
// value is ready.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil once they were cut
	ended bool
}

// note is an http.Server.ConnState.
func (s *silent) note(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.conns, conn)
	case s.ended:
		_ = conn.Close() // it came while the host stops
	default:
		if s.conns == nil {
			s.conns = make(map[net.Conn]struct{})
		}
		s.conns[conn] = struct{}{}
	}
}

// cut closes those that are there and those that still come.
func (s *silent) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.Close() // nothing was said
	}
	s.conns, s.ended = nil, true
}
