package httpguard

import (
	"net/http"
	"strings"
)

// Proxied reports whether a proxy has left its mark on the request, which then
// comes from another machine. A proxy may leave none: only a HostRule finds that.
func Proxied(h http.Header) bool {
	for name := range h {
		if name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "Tailscale-") {
			return true
		}
	}
	return false
}

// ProxyPeer is who the proxy in front says is calling: a Tailscale login, else
// the address; "" when no proxy says so. Anybody can write these headers, so it
// serves to tell callers apart and proves nothing.
func ProxyPeer(h http.Header) string {
	if login := h.Get("Tailscale-User-Login"); login != "" {
		return login
	}
	return h.Get("X-Forwarded-For")
}
