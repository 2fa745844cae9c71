package adminweb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"plexus/domain/secret"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/web"
)

const (
	sessionRoot  = "/s/"
	prefixLength = 32 // hex digits
	cookieName   = "plexus_session"
	cookieLength = 64 // hex digits
)

// base is the prefix of a session's pages.
func base(prefix string) string { return sessionRoot + prefix + "/" }

// ofSession gives the prefix of a path that belongs to a session, with ok false
// for the paths that are open to everybody.
func ofSession(path string) (prefix string, ok bool) {
	rest, ok := strings.CutPrefix(path, sessionRoot)
	if !ok {
		return "", false
	}
	prefix, _, _ = strings.Cut(rest, "/")
	return prefix, true
}

// prefixOf gives the prefix that guardSession judged.
func prefixOf(r *http.Request) string {
	prefix, _ := ofSession(r.URL.Path)
	return prefix
}

type sessionKey struct{}

// sessionOf gives the session that guardSession found.
func sessionOf(r *http.Request) ports.PageSession {
	found, _ := r.Context().Value(sessionKey{}).(ports.PageSession)
	return found
}

// guardSession shows pages of a session to its browser alone. Everybody else
// learns how to sign in, and not whether there is such a session.
func (s *Site) guardSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix, ok := ofSession(r.URL.Path)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		found, err := s.findSession(r, prefix)
		switch {
		case err == nil:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, found)))
		case errors.Is(err, ports.ErrPageSessionUnknown):
			s.show(w, r, http.StatusUnauthorized, web.SignInPage(web.SignIn{T: s.Words, Problem: s.Words.SignInEnded}))
		default:
			s.failed(w, r, err)
		}
	})
}

// findSession looks the request's cookie and path up. Of several cookies the first
// counts: browsers send the one with the longest path first, and another port of
// this machine, which can set one at /, is not to lock the owner out.
func (s *Site) findSession(r *http.Request, prefix string) (ports.PageSession, error) {
	cookies := r.CookiesNamed(cookieName)
	if len(cookies) == 0 || !secret.LowerHex(cookies[0].Value, cookieLength) || !secret.LowerHex(prefix, prefixLength) {
		return ports.PageSession{}, ports.ErrPageSessionUnknown
	}
	found, err := s.Sessions.FindPageSession(r.Context(), secret.New(cookies[0].Value).Hash(), secret.New(prefix).Hash(), s.Now())
	if err != nil {
		return ports.PageSession{}, fmt.Errorf("find a page session: %w", err)
	}
	return found, nil
}

// door is the page at /.
func (s *Site) door(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, web.SignInPage(web.SignIn{T: s.Words, Left: r.URL.Query().Has("left")}))
}

// signIn exchanges a link's secret or a code for a session.
func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil { // else it would count as a wrong code
		plainly(w, http.StatusBadRequest, "bad form\n")
		return
	}
	link, code := secret.New(r.PostForm.Get("secret")), r.PostForm.Get("code")
	problem := ""
	switch {
	case !link.Empty():
		if !s.SignIn.RedeemLink(link) {
			problem = s.Words.SignInBadLink
		}
	case !s.SignIn.RedeemCode(code):
		problem = s.Words.SignInBadCode
	}
	if problem != "" {
		s.Log.Warn("somebody failed to sign in to the owner's page", "by_link", !link.Empty())
		s.show(w, r, http.StatusUnauthorized, web.SignInPage(web.SignIn{T: s.Words, Problem: problem}))
		return
	}
	target, err := s.begin(w, r)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// begin makes a session, hands out its cookie and gives its address.
func (s *Site) begin(w http.ResponseWriter, r *http.Request) (string, error) {
	bits := make([]byte, (cookieLength+prefixLength)/2)
	if _, err := io.ReadFull(s.Random, bits); err != nil {
		return "", fmt.Errorf("begin a page session: %w", err)
	}
	digits := hex.EncodeToString(bits)
	cookie, prefix := digits[:cookieLength], digits[cookieLength:]
	now := s.Now()
	session, err := s.Sessions.AddPageSession(r.Context(), ports.PageSession{
		Cookie: secret.New(cookie).Hash(), Prefix: secret.New(prefix).Hash(),
		CreatedAt: now, LastSeen: now, UserAgent: text.Cut(r.UserAgent(), ports.MaxPageUserAgent),
	})
	if err != nil {
		return "", fmt.Errorf("begin a page session: %w", err)
	}
	s.Log.Info("the owner signed in to the page", "session", session.ID)
	s.changes.Notify()
	http.SetCookie(w, sessionCookie(prefix, cookie, ports.PageSessionLife))
	return base(prefix), nil
}

// sessionCookie names no Domain and a path that nobody knows: browsers send a
// cookie to every port of 127.0.0.1, but only below its path. Without a
// certificate it cannot be Secure; it never leaves this machine.
func sessionCookie(prefix, value string, life time.Duration) *http.Cookie {
	age := int(life / time.Second)
	if age == 0 {
		age = -1
	}
	return &http.Cookie{
		Name: cookieName, Value: value, Path: base(prefix), MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// signOut ends the session of this browser.
func (s *Site) signOut(w http.ResponseWriter, r *http.Request) {
	err := s.Sessions.RevokePageSession(r.Context(), sessionOf(r).ID)
	if err != nil && !errors.Is(err, ports.ErrPageSessionUnknown) {
		s.failed(w, r, fmt.Errorf("sign out: %w", err))
		return
	}
	s.changes.Notify()
	http.SetCookie(w, sessionCookie(prefixOf(r), "", 0))
	http.Redirect(w, r, "/?left", http.StatusSeeOther)
}

// browserName shortens a user agent to what its owner knows the browser by.
func browserName(agent string) string {
	name := text.Printable(agent)
	for _, b := range [...][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chromium or Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, b[0]) {
			name = b[1]
			break
		}
	}
	for _, o := range [...][2]string{{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"}, {"Mac OS", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, o[0]) {
			return name + ", " + o[1]
		}
	}
	return name
}
