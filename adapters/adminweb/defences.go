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

	"plexus/adapters/httpguard"
	"plexus/domain/admission"
	"plexus/domain/secret"
	"plexus/domain/usecases/recovery"
	"plexus/ports"
	"plexus/web"
)

const (
	apiRoot = "/api/"
	scheme  = "Bearer "
)

// guard is what keeps everybody out but the owner.
type guard struct {
	*Config
	*sessions
	hosts *atomic.Pointer[httpguard.HostRule]
}

// defences in the order in which a request meets them. Each is there for an attack
// that the others let through; attack_test.go shows it. They stand before the
// router, so that they judge what has no route too.
func (s *Server) defences() chi.Middlewares {
	g := &guard{&s.Config, s.sessions(), &s.hosts}
	return chi.Middlewares{
		g.recoverPanics,
		g.checkHost,
		g.refuseProxies,
		g.checkPeer,
		g.checkOrigin,
		g.checkCrossOrigin,
		setHeaders,
		g.checkToken,
		g.checkSession,
	}
}

// refuse answers all refusals alike; the owner's list and the log say which it was.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, cause admission.Cause) {
	g.Extensions.Refuse(cause, strings.Join(r.Header["Origin"], " "))
	writeText(w, http.StatusForbidden, "forbidden\n")
}

// recoverPanics keeps a fault of one page from ending the process's other work.
func (g *guard) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			caught := recover()
			if err, ok := caught.(error); caught == nil || ok && errors.Is(err, http.ErrAbortHandler) {
				if caught != nil {
					panic(caught)
				}
				return
			}
			g.Log.Error("the owner's page panicked", "method", r.Method, "panic", recovery.Describe(caught), "stack", string(debug.Stack()))
			writeText(w, http.StatusInternalServerError, "internal error\n")
		}()
		next.ServeHTTP(w, r)
	})
}

// checkHost lets nobody in who calls this machine by a name that a stranger's DNS
// can point at it.
func (g *guard) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.hosts.Load().AllowsExactly(r.Host) {
			g.refuse(w, r, admission.WrongHost)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuseProxies: what comes through a proxy comes from another machine.
func (g *guard) refuseProxies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if httpguard.Proxied(r.Header) {
			g.refuse(w, r, admission.Proxied)
			return
		}
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

// withPeer is an http.Server.ConnContext.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, &peer{conn: conn})
}

// checkPeer keeps the other accounts of this machine out, where the system tells
// whose a connection is. One of them may have had this port while the host was
// stopped, and with it the cookie of a page that was left open. Not being able to
// tell is a no.
func (g *guard) checkPeer(next http.Handler) http.Handler {
	if g.PeerIsOurs == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(peerKey{}).(*peer)
		if ok {
			p.once.Do(func() {
				var err error
				if p.ours, err = g.PeerIsOurs(p.conn); err != nil {
					p.ours = false
					g.Log.Debug("the account of a connection could not be found out", "error", err)
				}
			})
		}
		if !ok || !p.ours {
			g.refuse(w, r, admission.ForeignUser)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin keeps out what runs in the owner's browser and is not this page:
// other sites, and extensions, which may fetch from any host that their manifest
// names. It comes after checkHost, so that r.Host is one of ours. The API is for
// commands, so nothing of a browser's may be on a request for it; an extension may
// set Authorization, but not take these away.
func (g *guard) checkOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		byBrowser := len(r.Header["Origin"]) > 0 || len(r.Header["Cookie"]) > 0 || hasFetchMetadata(r)
		if !sameOrigin(r) || g.forAPI(r) && byBrowser {
			g.refuse(w, r, admission.WebOrigin)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin judges by Origin, and where there is none by Fetch Metadata. A program
// that sends neither may read.
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

// checkCrossOrigin refuses changes that another page started, whatever checkOrigin
// thinks of navigations.
func (g *guard) checkCrossOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.refuse(w, r, admission.WebOrigin) }))
	return protection.Handler(next)
}

// setHeaders: nothing is kept, framed, guessed or loaded from elsewhere.
// Referrer-Policy must not be no-referrer, under which browsers send Origin: null
// with forms.
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
func (g *guard) forAPI(r *http.Request) bool {
	return g.API != nil && strings.HasPrefix(r.URL.Path, apiRoot)
}

// checkToken lets nobody to the API without the master token. What was wrong with
// a request, the answer does not say. It compares hashes, which takes the same time
// whatever was brought.
func (g *guard) checkToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.forAPI(r) {
			values := r.Header["Authorization"]
			token, ok := strings.CutPrefix(strings.Join(values, ""), scheme)
			if len(values) != 1 || !ok || !secret.New(token).Hash().Equal(g.Master) {
				g.Extensions.Refuse(admission.NoMaster, "")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
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

// checkSession shows pages of a session to its browser alone. Everybody else
// learns how to sign in, and not whether there is such a session.
func (g *guard) checkSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix, ok := ofSession(r.URL.Path)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		found, err := g.find(r, prefix)
		switch {
		case err == nil:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, found)))
		case errors.Is(err, ports.ErrPageSessionUnknown):
			g.render(w, r, http.StatusUnauthorized, web.SignInPage(web.SignIn{T: g.words, Problem: g.words.SignInEnded}))
		default:
			g.fail(w, r, err)
		}
	})
}
