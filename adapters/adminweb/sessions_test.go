package adminweb

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"plexus/adapters/adminweb/signin"
	"plexus/domain/secret"
)

func must(t *testing.T, make func() (signin.Token, error)) signin.Token {
	t.Helper()
	token, err := make()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestSigningIn(t *testing.T) {
	st := newStage(t)
	code := must(t, st.site.SignIn.Code)
	for _, wrong := range []url.Values{{}, {"code": {"wrong"}}, {"secret": {"wrong"}}} {
		if w := st.do(st.form("/signin", wrong)); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 {
			t.Errorf("%v: %d %v", wrong, w.Code, w.Header())
		}
	}
	w := st.do(st.form("/signin", url.Values{"code": {code.Secret.Reveal()}}))
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !secret.LowerHex(prefixIn(at), prefixLength) || at != base(prefixIn(at)) {
		t.Fatalf("%d, leads to %q", w.Code, at)
	}
	b := &browser{st, w.Result().Cookies()[0], at}
	b.get("")
	if text := st.log.String(); strings.Contains(text, b.cookie.Value) || strings.Contains(text, prefixIn(at)) || strings.Contains(text, code.Secret.Reveal()) {
		t.Errorf("a secret was logged:\n%s", text)
	}
}

func prefixIn(path string) string {
	prefix, _ := ofSession(path)
	return prefix
}

func TestSessionsAreListedEndedAndExpire(t *testing.T) {
	st := newStage(t)
	first, second := st.enter(), st.enter()
	wantText(t, first.get("sessions"), "This browser", `sessions/2/end`)
	at, page := first.must("sessions/2/end", nil)
	if at != "sessions?done=session-ended" {
		t.Errorf("leads to %s", at)
	}
	wantText(t, page, "That browser is signed out.")
	if code, body := second.status(""); code != http.StatusUnauthorized || strings.Contains(body, "Overview") {
		t.Errorf("an ended session gets %d\n%s", code, body)
	}
	if code, _ := first.status("sessions/2/end"); code != http.StatusNotFound && code != http.StatusMethodNotAllowed {
		t.Errorf("GET of an action: %d", code)
	}
	if code, _ := first.post("sessions/2/end", nil); code != http.StatusNotFound {
		t.Errorf("ending it again: %d", code)
	}
	st.pass(90*24*time.Hour - time.Second)
	first.get("")
	st.pass(time.Second)
	if code, _ := first.status(""); code != http.StatusUnauthorized {
		t.Errorf("after ninety days: %d", code)
	}
}

func TestSigningOut(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	r := st.form(b.base+"signout", nil)
	r.AddCookie(b.cookie)
	w := st.do(r)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/?left" || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if code, _ := b.status(""); code != http.StatusUnauthorized {
		t.Errorf("signed out and still served: %d", code)
	}
	wantText(t, st.do(st.page("/?left")).Body.String(), "You are signed out.")
}

// TestACookieOfAnotherPortLocksNobodyOut: any page of 127.0.0.1 can set a cookie of
// our name at /, and only there; browsers then send it after ours.
func TestACookieOfAnotherPortLocksNobodyOut(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	r := st.page(b.base)
	r.AddCookie(b.cookie)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: strings.Repeat("0", cookieLength)})
	if w := st.do(r); w.Code != http.StatusOK {
		t.Errorf("with a planted cookie: %d", w.Code)
	}
}

func TestBrowserNames(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                "Firefox, Linux",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15": "Safari, macOS",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36":       "Chromium or Chrome, Windows",
		"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0":         "Edge, Windows",
		"curl/8.5.0 \x1b[2J": `curl/8.5.0 \x1b[2J`,
	} {
		if got := browserName(agent); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
