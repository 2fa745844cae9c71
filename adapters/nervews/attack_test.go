package nervews

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
)

// closedHost admits nobody.
type closedHost struct{ openHost }

func (closedHost) Admit(context.Context, admission.HandshakeRequest) admission.Verdict {
	return admission.Refuse(admission.WebOrigin)
}

// TestEveryDefenseIsNeeded: each attack fails as the listener stands, and works
// once its defence, and only that, is gone.
func TestEveryDefenseIsNeeded(t *testing.T) {
	const own = "127.0.0.1:9001"
	strangers := func(net.Conn) (bool, error) { return false, nil }
	for name, attack := range map[string]struct {
		host, origin string
		behind       testHost
		peer         func(net.Conn) (bool, error)
		without      func(*Server)
	}{
		"a rebinding page names its own host": {
			"evil.example:9001", "", openHost{}, nil,
			func(s *Server) { s.hosts.Store(httpguard.Hosts(own, "evil.example:9001")) },
		},
		"a web page opens a socket": {
			own, "https://evil.example", closedHost{}, nil,
			func(s *Server) { s.auth = openHost{} },
		},
		"another user of the machine connects": {
			own, "", openHost{}, strangers,
			func(s *Server) { s.config.PeerIsOurs = nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, removed := range []bool{false, true} {
				s := New(attack.behind, attack.behind, Config{Log: slog.New(slog.DiscardHandler), PeerIsOurs: attack.peer})
				s.hosts.Store(httpguard.Hosts(own))
				if removed {
					attack.without(s)
				}
				r := wstest.UpgradeRequest(attack.host, "/")
				if attack.origin != "" {
					r.Header.Set("Origin", attack.origin)
				}
				p, response := wstest.Pipe(s, r)
				if p != nil {
					_ = p.Close()
				}
				if got := response.StatusCode == http.StatusSwitchingProtocols; got != removed {
					t.Errorf("defence removed: %v, answered %d", removed, response.StatusCode)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if err := s.Shutdown(ctx); err != nil {
					t.Errorf("shutdown: %v", err)
				}
			}
		})
	}
}
