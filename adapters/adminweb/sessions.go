package adminweb

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"plexus/adapters/adminweb/signin"
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

// prefixOf gives the prefix that checkSession judged.
func prefixOf(r *http.Request) string {
	prefix, _ := ofSession(r.URL.Path)
	return prefix
}

// sessions handles signing in and out, and the list of signed-in browsers.
type sessions struct {
	*responder
	store  ports.PageSessions
	issuer *signin.Issuer
	random io.Reader // of cookies and prefixes
}

// find looks the request's cookie and path up. Of several cookies the first
// counts: browsers send the one with the longest path first, and another port of
// this machine, which can set one at /, is not to lock the owner out.
func (s *sessions) find(r *http.Request, prefix string) (ports.PageSession, error) {
	cookies := r.CookiesNamed(cookieName)
	if len(cookies) == 0 || !secret.LowerHex(cookies[0].Value, cookieLength) || !secret.LowerHex(prefix, prefixLength) {
		return ports.PageSession{}, ports.ErrPageSessionUnknown
	}
	found, err := s.store.FindPageSession(r.Context(), secret.New(cookies[0].Value).Hash(), secret.New(prefix).Hash(), s.now())
	if err != nil {
		return ports.PageSession{}, fmt.Errorf("find a page session: %w", err)
	}
	return found, nil
}

// signInPage is the page at /.
func (s *sessions) signInPage(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, web.SignInPage(web.SignIn{T: s.words, Left: r.URL.Query().Has("left")}))
}

// signIn exchanges a link's secret or a code for a session.
func (s *sessions) signIn(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil { // else it would count as a wrong code
		writeText(w, http.StatusBadRequest, "bad form\n")
		return
	}
	link, code := secret.New(r.PostForm.Get("secret")), r.PostForm.Get("code")
	problem := ""
	switch {
	case !link.Empty():
		if !s.issuer.RedeemLink(link) {
			problem = s.words.SignInBadLink
		}
	case !s.issuer.RedeemCode(code):
		problem = s.words.SignInBadCode
	}
	if problem != "" {
		s.log.Warn("somebody failed to sign in to the owner's page", "by_link", !link.Empty())
		s.render(w, r, http.StatusUnauthorized, web.SignInPage(web.SignIn{T: s.words, Problem: problem}))
		return
	}
	target, err := s.begin(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// begin makes a session, hands out its cookie and gives its address.
func (s *sessions) begin(w http.ResponseWriter, r *http.Request) (string, error) {
	bits := make([]byte, (cookieLength+prefixLength)/2)
	if _, err := io.ReadFull(s.random, bits); err != nil {
		return "", fmt.Errorf("begin a page session: %w", err)
	}
	digits := hex.EncodeToString(bits)
	cookie, prefix := digits[:cookieLength], digits[cookieLength:]
	now := s.now()
	session, err := s.store.AddPageSession(r.Context(), ports.PageSession{
		Cookie: secret.New(cookie).Hash(), Prefix: secret.New(prefix).Hash(),
		CreatedAt: now, LastSeen: now, UserAgent: text.Truncate(r.UserAgent(), ports.MaxPageUserAgent),
	})
	if err != nil {
		return "", fmt.Errorf("begin a page session: %w", err)
	}
	s.log.Info("the owner signed in to the page", "session", session.ID)
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
func (s *sessions) signOut(w http.ResponseWriter, r *http.Request) {
	err := s.store.RevokePageSession(r.Context(), sessionOf(r).ID)
	if err != nil && !errors.Is(err, ports.ErrPageSessionUnknown) {
		s.fail(w, r, fmt.Errorf("sign out: %w", err))
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

func (s *sessions) list(r *http.Request, l web.Layout) (response, error) {
	list, err := s.store.PageSessions(r.Context(), s.now())
	if err != nil {
		return response{}, err
	}
	var v web.Sessions
	for _, p := range list {
		v.Sessions = append(v.Sessions, web.Session{
			ID: strconv.FormatInt(p.ID, 10), Browser: browserName(p.UserAgent), Created: p.CreatedAt, LastSeen: p.LastSeen,
			Expires: p.CreatedAt.Add(ports.PageSessionLife), Current: p.ID == sessionOf(r).ID,
		})
	}
	return show(web.SessionsPage(l, v))
}

func (s *sessions) end(r *http.Request) (response, error) {
	id, err := parseID(r)
	if err == nil {
		err = s.store.RevokePageSession(r.Context(), id)
	}
	return redirect("sessions?done=session-ended"), err
}
