package adminweb

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-chi/chi/v5"

	"plexus/adapters/gate"
	"plexus/adapters/httpguard"
	"plexus/domain/admission"
	"plexus/domain/secret"
	"plexus/ports"
	"plexus/usecases/recovery"
	"plexus/web"
)

const (
	apiRoot = "/api/"
	scheme  = "Bearer "
)

// accessControl refuses every request that is not the owner's.
type accessControl struct {
	*sessions
	hosts      *atomic.Pointer[httpguard.HostRule]
	peerIsOurs func(net.Conn) (bool, error) // nil where the system cannot say
	hasAPI     bool
	master     secret.Hash // of the token for the API
}

// defenses in the order in which a request meets them. Each is there for an attack
// that the others let through; attack_test.go shows it. They stand before the
// router, so that they judge what has no route too.
func (s *Server) defenses() chi.Middlewares {
	g := &accessControl{s.sessions(), &s.hosts, s.PeerIsOurs, s.API != nil, s.Master}
	crossOrigin := http.NewCrossOriginProtection()
	return chi.Middlewares{
		g.recoverPanics,
		// Anybody's DNS can point another name at this machine.
		g.require(admission.WrongHost, func(r *http.Request) bool { return g.hosts.Load().AllowsExactly(r.Host) }),
		// What comes through a proxy comes from another machine.
		g.require(admission.Proxied, func(r *http.Request) bool { return !httpguard.Proxied(r.Header) }),
		g.require(admission.ForeignUser, g.isOurPeer),
		g.require(admission.WebOrigin, g.isOurOrigin),
		// Changes that another page started, whatever isOurOrigin thinks of navigations.
		g.require(admission.WebOrigin, func(r *http.Request) bool { return crossOrigin.Check(r) == nil }),
		setHeaders,
		g.checkToken,
		g.checkSession,
	}
}

// require lets a request pass when ok says so. It answers all others alike; the
// owner's list and the log say which defense it was.
func (g *accessControl) require(cause admission.Cause, ok func(*http.Request) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !ok(r) {
				g.extensions.Refuse(cause, strings.Join(r.Header["Origin"], " "))
				writeText(w, http.StatusForbidden, "forbidden\n")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// recoverPanics keeps a fault of one page from ending the process's other work.
func (g *accessControl) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			recovered := recover()
			if err, ok := recovered.(error); recovered == nil || ok && errors.Is(err, http.ErrAbortHandler) {
				if recovered != nil {
					panic(recovered)
				}
				return
			}
			g.log.Error("the owner's page panicked", "method", r.Method, "panic", recovery.Describe(recovered), "stack", string(debug.Stack()))
			writeText(w, http.StatusInternalServerError, "internal error\n")
		}()
		next.ServeHTTP(w, r)
	})
}

// peer is who is at the other end of a connection, found out at its first
// request and kept for the others.
type peer struct {
	conn net.Conn
	once sync.Once
	ours bool
}

type peerKey struct{}

// isOurPeer refuses connections of other accounts of this machine, where the system
// tells whose a connection is. Another account may have had this port while the
// host was stopped, and so have received the cookie of a page that was left open.
// When the owner of a connection cannot be found out, it is refused.
func (g *accessControl) isOurPeer(r *http.Request) bool {
	if g.peerIsOurs == nil {
		return true
	}
	p, ok := r.Context().Value(peerKey{}).(*peer)
	if !ok {
		return false
	}
	p.once.Do(func() {
		ours, err := g.peerIsOurs(p.conn)
		if err != nil {
			g.log.Debug("the account of a connection could not be found out", "error", err)
		}
		p.ours = err == nil && ours
	})
	return p.ours
}

// isOurOrigin keeps out what runs in the owner's browser and is not this page:
// other sites, and extensions, which may fetch from any host that their manifest
// names. It comes after the check of the Host, so that r.Host is one of ours. The API
// is for commands, so nothing of a browser's may be on a request for it; an extension
// may set Authorization, but not take these away.
func (g *accessControl) isOurOrigin(r *http.Request) bool {
	byBrowser := len(r.Header["Origin"]) > 0 || len(r.Header["Cookie"]) > 0 || hasFetchMetadata(r)
	return sameOrigin(r) && !(g.forAPI(r) && byBrowser)
}

// sameOrigin judges by Origin, and without one by Fetch Metadata. A program that
// sends neither may read.
func sameOrigin(r *http.Request) bool {
	if len(r.Header["Origin"]) > 0 {
		return httpguard.SameOrigin(r)
	}
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	switch {
	case r.Header.Get("Upgrade") != "":
		return false
	case strings.HasPrefix(r.URL.Path, sessionRoot) && strings.HasSuffix(r.URL.Path, "/events"):
		return site == "same-origin"
	}
	return site == "same-origin" || mode == "navigate" || !hasFetchMetadata(r)
}

// hasFetchMetadata reports whether a browser said anything about the kind of request.
func hasFetchMetadata(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return true
		}
	}
	return false
}

// setHeaders forbids the browser to cache a page, to frame it, to guess its type
// and to load from other hosts. Referrer-Policy must not be no-referrer, under
// which browsers send Origin: null with forms.
func setHeaders(next http.Handler) http.Handler {
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

// forAPI reports whether a request is for the API that there is.
func (g *accessControl) forAPI(r *http.Request) bool {
	return g.hasAPI && strings.HasPrefix(r.URL.Path, apiRoot)
}

// checkToken refuses every request for the API without the master token. The answer
// does not say what was wrong. Hashes are compared, so that the time does not
// depend on the token.
func (g *accessControl) checkToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.forAPI(r) {
			values := r.Header["Authorization"]
			token, ok := strings.CutPrefix(strings.Join(values, ""), scheme)
			if len(values) != 1 || !ok || !secret.New(token).Hash().Equal(g.master) {
				g.extensions.Refuse(admission.NoMaster, "")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			defer gate.HoldRequest(r)()
		}
		next.ServeHTTP(w, r)
	})
}

type sessionKey struct{}

// sessionOf gives the session that checkSession found.
func sessionOf(r *http.Request) ports.PageSession {
	found, _ := r.Context().Value(sessionKey{}).(ports.PageSession)
	return found
}

// checkSession shows pages of a session to its browser alone. Any other request
// gets the sign-in page, whether there is such a session or not.
func (g *accessControl) checkSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix, ok := ofSession(r.URL.Path)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		found, err := g.find(r, prefix)
		switch {
		case err == nil:
			defer gate.HoldRequest(r)()
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, found)))
		case errors.Is(err, ports.ErrPageSessionUnknown):
			g.render(w, r, http.StatusUnauthorized, web.SignInPage(web.SignIn{T: g.words, Problem: g.words.SignInEnded}))
		default:
			g.fail(w, r, err)
		}
	})
}
