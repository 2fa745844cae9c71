package adminweb

import (
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"plexus/domain/admission"
	"plexus/domain/usecases/recovery"
	"plexus/web"
)

// defence is one link of the chain. Each is there for an attack that the others
// let through; attack_test.go shows it.
type defence struct {
	name string
	wrap func(next http.Handler) http.Handler
}

// defences in the order in which a request meets them.
func (s *Site) defences() []defence {
	return []defence{
		{"panic", s.guardPanic},
		{"host", s.guardHost},
		{"proxy", s.guardProxy},
		{"peer", s.guardPeer},
		{"origin", s.guardOrigin},
		{"cross-origin", s.guardCrossOrigin},
		{"headers", s.denyByDefault},
		{"token", s.guardToken},
		{"session", s.guardSession},
	}
}

// protect puts every defence before inner but those that a test leaves out.
func (s *Site) protect(inner http.Handler, without ...string) http.Handler {
	for _, d := range slices.Backward(s.defences()) {
		if !slices.Contains(without, d.name) {
			inner = d.wrap(inner)
		}
	}
	return inner
}

// refuse answers all refusals alike; the owner's list and the log say which it was.
func (s *Site) refuse(w http.ResponseWriter, r *http.Request, cause admission.Cause) {
	s.Extensions.Refuse(cause, strings.Join(r.Header["Origin"], " "))
	plainly(w, http.StatusForbidden, "forbidden\n")
}

func plainly(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a peer that has left
}

// guardPanic keeps a fault of one page from ending the process's other work.
func (s *Site) guardPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			caught := recover()
			if err, ok := caught.(error); caught == nil || ok && errors.Is(err, http.ErrAbortHandler) {
				if caught != nil {
					panic(caught)
				}
				return
			}
			s.Log.Error("the owner's page panicked", "method", r.Method, "panic", recovery.Describe(caught), "stack", string(debug.Stack()))
			plainly(w, http.StatusInternalServerError, "internal error\n")
		}()
		next.ServeHTTP(w, r)
	})
}

// guardLoad bounds the requests under way. It is no defence against pages, so it
// stands before them all.
func (s *Site) guardLoad(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.places <- struct{}{}:
			defer func() { <-s.places }()
			next.ServeHTTP(w, r)
		default:
			plainly(w, http.StatusServiceUnavailable, "busy\n")
		}
	})
}

// guardHost lets nobody in who calls this machine by a name that a stranger's
// DNS can point at it.
func (s *Site) guardHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rule := s.hosts.Load(); rule == nil || !rule.allows(r.Host) {
			s.refuse(w, r, admission.WrongHost)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostRule is the names of this listener: its literal address, and localhost,
// each with the bound port, which may be absent where it is 80.
type hostRule struct{ names []string }

func newHostRule(addr net.Addr) *hostRule {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return &hostRule{}
	}
	rule := &hostRule{names: []string{net.JoinHostPort(host, port), net.JoinHostPort("localhost", port)}}
	if port == "80" {
		rule.names = append(rule.names, host, "localhost")
	}
	return rule
}

func (h *hostRule) allows(host string) bool { return slices.Contains(h.names, host) }

// guardProxy: what comes through a proxy comes from another machine.
func (s *Site) guardProxy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "Tailscale-") {
				s.refuse(w, r, admission.Proxied)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// guardOrigin keeps out what runs in the owner's browser and is not this page:
// other sites, and extensions, which may fetch from any host that their manifest
// names. It comes after guardHost, so that r.Host is one of ours.
func (s *Site) guardOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fromHere(r) || s.forAPI(r) && browserMade(r) {
			s.refuse(w, r, admission.WebOrigin)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func fromHere(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) > 0 {
		return len(origins) == 1 && origins[0] == "http://"+r.Host
	}
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	switch {
	case r.Header.Get("Upgrade") != "":
		return false
	case strings.HasPrefix(r.URL.Path, sessionRoot) && strings.HasSuffix(r.URL.Path, "/events"):
		return site == "same-origin"
	}
	return site == "same-origin" || mode == "navigate" || !fetchesTold(r)
}

// fetchesTold reports whether a browser said anything about the kind of request.
func fetchesTold(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return true
		}
	}
	return false
}

// guardCrossOrigin refuses changes that another page started, whatever guardOrigin
// thinks of navigations.
func (s *Site) guardCrossOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, admission.WebOrigin) }))
	return protection.Handler(next)
}

// denyByDefault: nothing is kept, framed, guessed or loaded from elsewhere.
// Referrer-Policy must not be no-referrer, under which browsers send Origin: null
// with forms.
func (s *Site) denyByDefault(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", web.ContentSecurityPolicy)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
