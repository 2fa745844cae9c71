package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plexus/adapters/tailscale"
	"plexus/domain/pairing"
)

const tailnetCheck = "tailscale"

// Tailnet judges what Tailscale forwards to this machine; name is its name in the
// tailnet. server is the public URL, client the client listener, private the
// addresses of listeners that only this machine may reach.
func Tailnet(forwards []tailscale.Forward, name string, server pairing.Server, client netip.AddrPort, private []string) []Finding {
	var found []Finding
	for _, f := range forwards {
		where := fmt.Sprintf("%s:%d%s", name, f.Port, f.Path)
		switch {
		case slices.Contains(private, f.Target):
			found = append(found, fault(tailnetCheck, fmt.Sprintf("Tailscale hands %s on to %s, which is for this machine alone.", where, f.Target),
				fmt.Sprintf("Switch it off: tailscale serve --https=%d off. Only the client listener %s may be handed on.", f.Port, client)))
		case f.Target == client.String() && f.Public:
			found = append(found, warning(tailnetCheck, fmt.Sprintf("Funnel is on for %s: the whole internet reaches the client listener.", where),
				fmt.Sprintf("Phones of the tailnet do not need it. Switch it off: tailscale funnel --https=%d off, then plexus setup tailscale.", f.Port)))
		}
	}
	if server.Host() != name {
		return found // the phone comes another way
	}
	port := portOf(server)
	if !HandedOn(forwards, name, port, client) {
		detail := fmt.Sprintf("Tailscale hands nothing on at %s:%d.", name, port)
		for _, f := range forwards {
			if (f.Host == "" || f.Host == name) && f.Port == port && f.Target != "" {
				detail = fmt.Sprintf("Tailscale hands %s:%d%s on to %s, and the client listener is %s.", name, port, f.Path, f.Target, client)
				break
			}
		}
		found = append(found, fault(tailnetCheck, detail, "Let it: plexus setup tailscale, or tailscale "+strings.Join(tailscale.ServeArgs(port, client), " ")))
	}
	if len(found) == 0 {
		found = append(found, ok(tailnetCheck, fmt.Sprintf("Tailscale hands %s on to the client listener, to the tailnet alone.", server.Authority())))
	}
	return found
}

// HandedOn reports whether a port of this machine's name leads to the client
// listener, whole.
func HandedOn(forwards []tailscale.Forward, name string, port uint16, client netip.AddrPort) bool {
	return slices.ContainsFunc(forwards, func(f tailscale.Forward) bool {
		return (f.Host == "" || f.Host == name) && f.Port == port && (f.Path == "/" || f.Path == "") && f.Target == client.String()
	})
}

// portOf is the port that a phone connects to.
func portOf(s pairing.Server) uint16 {
	_, port, ok := strings.Cut(strings.TrimPrefix(s.Authority(), s.Host()), ":")
	if addr, err := netip.ParseAddrPort("127.0.0.1:" + port); ok && err == nil {
		return addr.Port()
	}
	return 443
}
