package adminweb

import (
	"context"
	"net"
	"net/http"
	"sync"

	"plexus/domain/admission"
)

// peer is who is at the other end of a connection, found out at its first
// request and kept for the others.
type peer struct {
	conn net.Conn
	once sync.Once
	ours bool
}

type peerKey struct{}

// withPeer is an http.Server.ConnContext.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, &peer{conn: conn})
}

// guardPeer keeps the other accounts of this machine out, where the system tells
// whose a connection is. One of them may have had this port while the host was
// stopped, and with it the cookie of a page that was left open.
func (s *Site) guardPeer(next http.Handler) http.Handler {
	if s.PeerIsOurs == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := r.Context().Value(peerKey{}).(*peer); !ok || !s.isOurs(p) {
			s.refuse(w, r, admission.ForeignUser)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOurs: not being able to tell is a no.
func (s *Site) isOurs(p *peer) bool {
	p.once.Do(func() {
		ours, err := s.PeerIsOurs(p.conn)
		if err != nil {
			s.Log.Debug("the account of a connection could not be found out", "error", err)
		}
		p.ours = err == nil && ours
	})
	return p.ours
}
