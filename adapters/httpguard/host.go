// Package httpguard holds the checks that the HTTP listeners of this host share:
// which Host a request names, which Origin sent it, and whether a proxy passed it
// on. They are the defense against DNS rebinding and against pages of other sites.
// A check only gives its answer; each listener decides how it refuses a request.
package httpguard

import (
	"net"
	"slices"
	"strings"
)

// HostRule says which Host headers name one listener. A nil rule allows nothing,
// and so does the rule of an address that has no port.
type HostRule struct{ hosts []string }

// Hosts is the rule of these hosts, each as the header has it, port and all.
func Hosts(hosts ...string) *HostRule { return &HostRule{hosts} }

// ListenerHosts is the rule of a listener under its own address: the literal
// address and localhost, each with the bound port.
func ListenerHosts(addr net.Addr) *HostRule {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return Hosts()
	}
	return Hosts(net.JoinHostPort(host, port), net.JoinHostPort("localhost", port))
}

// LoopbackHosts is the rule of the names that this machine has for itself, each
// with the port of addr, whatever address that is.
func LoopbackHosts(addr net.Addr) *HostRule {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return Hosts()
	}
	return Hosts(net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port), net.JoinHostPort("::1", port))
}

// WithDefaultPort adds the names without a port where the port is 80, since
// browsers leave that one out.
func (r *HostRule) WithDefaultPort() *HostRule {
	all := slices.Clone(r.hosts)
	for _, h := range r.hosts {
		if host, port, _ := net.SplitHostPort(h); port == "80" {
			all = append(all, host)
		}
	}
	return Hosts(all...)
}

// Allows reports whether host, a Host header, names the listener. Upper and lower
// case are the same.
func (r *HostRule) Allows(host string) bool {
	return r != nil && slices.ContainsFunc(r.hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// AllowsExactly is Allows byte for byte.
func (r *HostRule) AllowsExactly(host string) bool {
	return r != nil && slices.Contains(r.hosts, host)
}
