package httpguard

import "net/http"

// OriginIfAny checks a request that a program may send without an Origin: there
// must be none, or exactly one that accepts takes.
func OriginIfAny(h http.Header, accepts func(origin string) bool) bool {
	origins := h.Values("Origin")
	return len(origins) == 0 || len(origins) == 1 && accepts(origins[0])
}

// SameOrigin reports whether the request has exactly one Origin, and that is the
// plain HTTP page of the Host that it asks. It proves something only after a
// HostRule has allowed that Host.
func SameOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && r.Host != "" && origins[0] == "http://"+r.Host
}
