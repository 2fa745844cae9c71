package adminweb

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"plexus/domain/secret"
)

// clock is a time that a test moves.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func newSignIn() (*SignIn, *clock) {
	c := &clock{time.Date(2026, time.November, 30, 9, 0, 0, 0, time.UTC)}
	return NewSignIn(c.read, rand.Reader), c
}

func must(t *testing.T, make func() (Ticket, error)) Ticket {
	t.Helper()
	ticket, err := make()
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func spent(t Ticket) bool {
	select {
	case <-t.Spent:
		return true
	default:
		return false
	}
}

func TestALinkSignsInOnceWithinAMinute(t *testing.T) {
	s, c := newSignIn()
	link := must(t, s.Link)
	if !secret.LowerHex(link.Secret.Reveal(), 64) || spent(link) {
		t.Errorf("link %q", link.Secret.Reveal())
	}
	if s.RedeemLink(secret.New("other")) || s.RedeemLink(secret.Text{}) {
		t.Error("another secret is taken")
	}
	c.now = c.now.Add(TicketLife - 1)
	if !s.RedeemLink(link.Secret) || !spent(link) {
		t.Error("the link does not work within its minute")
	}
	if s.RedeemLink(link.Secret) {
		t.Error("the link works twice")
	}
	late := must(t, s.Link)
	c.now = c.now.Add(TicketLife)
	if s.RedeemLink(late.Secret) || spent(late) {
		t.Error("the link works after its minute")
	}
}

func TestOnlyTheNewestLinksLive(t *testing.T) {
	s, _ := newSignIn()
	first := must(t, s.Link)
	second := must(t, s.Link)
	for range maxLinks - 1 {
		must(t, s.Link)
	}
	if s.RedeemLink(first.Secret) || !s.RedeemLink(second.Secret) {
		t.Errorf("the oldest of more than %d links has to go", maxLinks)
	}
}

func TestACodeSignsInHoweverItIsTyped(t *testing.T) {
	for _, change := range []func(string) string{
		func(s string) string { return s },
		strings.ToLower,
		func(s string) string { return " " + s[:5] + "-" + s[5:] + " " },
		func(s string) string { return strings.NewReplacer("O", "0", "I", "1", "B", "8").Replace(s) },
	} {
		s, _ := newSignIn()
		code := must(t, s.Code)
		plain := code.Secret.Reveal()
		if len(plain) != CodeLength || strings.Trim(plain, codeLetters) != "" {
			t.Fatalf("code %q", plain)
		}
		if typed := change(plain); !s.RedeemCode(typed) || !spent(code) || s.RedeemCode(typed) {
			t.Errorf("%q typed for %q does not work once", typed, plain)
		}
	}
}

func TestFiveWrongTriesVoidACode(t *testing.T) {
	for wrong := range MaxWrongCodes + 1 {
		s, _ := newSignIn()
		code := must(t, s.Code)
		for range wrong {
			if s.RedeemCode("AAAAAAAAAA") {
				t.Fatal("a wrong code is taken")
			}
		}
		if got, want := s.RedeemCode(code.Secret.Reveal()), wrong < MaxWrongCodes; got != want {
			t.Errorf("after %d wrong tries the code works: %v", wrong, got)
		}
	}
}

func TestACodeEndsWithItsMinuteAndItsSuccessor(t *testing.T) {
	s, c := newSignIn()
	if s.RedeemCode("") {
		t.Error("no code is live, and nothing is taken for one")
	}
	old := must(t, s.Code)
	for range MaxWrongCodes - 1 {
		s.RedeemCode("x")
	}
	code := must(t, s.Code)
	if s.RedeemCode(old.Secret.Reveal()) {
		t.Error("two codes live at once")
	}
	c.now = c.now.Add(TicketLife - 1)
	if !s.RedeemCode(code.Secret.Reveal()) {
		t.Error("wrong tries at the old code count against the new one")
	}
	code = must(t, s.Code)
	c.now = c.now.Add(TicketLife)
	if s.RedeemCode(code.Secret.Reveal()) {
		t.Error("a code works after its minute")
	}
}

func TestTicketsNeverPrint(t *testing.T) {
	s, _ := newSignIn()
	link, code := must(t, s.Link), must(t, s.Code)
	text := fmt.Sprintf("%v %+v %#v %v", link, code, code, s)
	if strings.Contains(text, link.Secret.Reveal()) || strings.Contains(text, code.Secret.Reveal()) {
		t.Error(text)
	}
}

func TestWithoutRandomnessThereIsNoTicket(t *testing.T) {
	s := NewSignIn(time.Now, iotest.ErrReader(io.ErrUnexpectedEOF))
	for _, try := range []func() (Ticket, error){s.Link, s.Code} {
		if ticket, err := try(); !errors.Is(err, io.ErrUnexpectedEOF) || !ticket.Secret.Empty() {
			t.Errorf("%v, %v", ticket, err)
		}
	}
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
