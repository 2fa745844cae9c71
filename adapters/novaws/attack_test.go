package novaws

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/pairing"
	"plexus/usecases/devices"
)

// openAuth is a host with one defence taken away.
type openAuth struct {
	*fakeHost
	anyHost, anyOrigin, anyToken bool
}

func (o openAuth) AcceptsHost(name string) bool { return o.anyHost || o.fakeHost.AcceptsHost(name) }
func (o openAuth) AcceptsOrigin(origin string) bool {
	return o.anyOrigin || o.fakeHost.AcceptsOrigin(origin)
}

func (o openAuth) Authenticate(ctx context.Context, token pairing.DeviceToken) (devices.Identity, error) {
	if o.anyToken {
		return devices.Identity{}, nil
	}
	return o.fakeHost.Authenticate(ctx, token)
}

// TestEveryDefenseIsNeeded: each attack fails as the listener stands, and works
// once its defence, and only that, is gone.
func TestEveryDefenseIsNeeded(t *testing.T) {
	hello := func(token string) string {
		return fmt.Sprintf(`{"type":"hello","token":%q,"protocol_version":1}`, token)
	}
	// getsIn reports whether an upgrade works, and then whether a hello does.
	getsIn := func(h *harness, r *http.Request, token string) bool {
		p, _ := wstest.Pipe(h.s, r)
		if p == nil {
			return false
		}
		h.peers = append(h.peers, p)
		if token == "" {
			return true
		}
		if err := p.SendText(hello(token)); err != nil {
			return false
		}
		first, err := p.ReceiveMessage()
		return err == nil && first.Opcode == wstest.Text
	}
	for name, attack := range map[string]struct {
		try     func(h *harness) bool
		without func(*openAuth, *Config)
	}{
		"a rebinding page names its own host": {
			func(h *harness) bool { return getsIn(h, wstest.UpgradeRequest("evil.example:18787", clientPath), "") },
			func(o *openAuth, _ *Config) { o.anyHost = true },
		},
		"a page of another site opens a socket": {
			func(h *harness) bool {
				r := wstest.UpgradeRequest(ownName, pairPath)
				r.Header.Set("Origin", "https://evil.example")
				return getsIn(h, r, "")
			},
			func(o *openAuth, _ *Config) { o.anyOrigin = true },
		},
		"a stranger guesses a token": {
			func(h *harness) bool { return getsIn(h, wstest.UpgradeRequest(ownName, clientPath), wrongToken) },
			func(o *openAuth, _ *Config) { o.anyToken = true },
		},
		"somebody beyond the proxy administers pairing": {
			func(h *harness) bool {
				r := wstest.UpgradeRequest(h.local(), pairAdminPath)
				r.Header.Set("X-Forwarded-For", "203.0.113.7")
				return getsIn(h, r, "")
			},
			func(_ *openAuth, c *Config) { c.RemoteAdmin = true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, removed := range []bool{false, true} {
				d := newFakeHost()
				auth := openAuth{fakeHost: d}
				inFakeTime(t, d, func(t *testing.T, h *harness) {
					if removed {
						attack.without(&auth, &h.s.config)
					}
					h.s.deps.Auth = auth
					if got := attack.try(h); got != removed {
						t.Errorf("defence removed: %v, the attack succeeds: %v", removed, got)
					}
				})
			}
		})
	}
}
