package adminweb

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"plexus/domain/admission"
)

// route is one path in the matrix.
type route struct {
	name, method, path string // path is below the session's prefix unless it begins with /
	open               int    // status of an honest request
	stream             bool   // wants Sec-Fetch-Site: same-origin
	upgrade            bool   // wants the exact Origin
}

func routes() []route {
	return []route{
		{"sign-in page", http.MethodGet, "/", http.StatusOK, false, false},
		{"health", http.MethodGet, "/healthz", http.StatusOK, false, false},
		{"overview", http.MethodGet, "", http.StatusOK, false, false},
		{"pairing", http.MethodGet, "pair", http.StatusOK, false, false},
		{"devices", http.MethodGet, "devices", http.StatusOK, false, false},
		{"extensions", http.MethodGet, "extensions", http.StatusOK, false, false},
		{"refused", http.MethodGet, "refused", http.StatusOK, false, false},
		{"sessions", http.MethodGet, "sessions", http.StatusOK, false, false},
		{"stream", http.MethodGet, "events", http.StatusOK, true, false},
		{"conversations", http.MethodGet, "conversations?q=bridge", http.StatusOK, false, false},
		{"talk", http.MethodGet, "conversations/chat:main", http.StatusOK, false, false},
		{"lists", http.MethodGet, "lists/goals", http.StatusOK, false, false},
		{"desktop", http.MethodGet, "desktop", http.StatusOK, false, true},
		{"write", http.MethodPost, "conversations/chat:main", http.StatusUnprocessableEntity, false, false}, // nothing
		{"new chat", http.MethodPost, "conversations", http.StatusSeeOther, false, false},
		{"clear", http.MethodPost, "conversations/chat:main/clear", http.StatusSeeOther, false, false},
		{"delete topics", http.MethodPost, "topics/delete", http.StatusSeeOther, false, false},
		{"remember", http.MethodPost, "conversations/remember", http.StatusSeeOther, false, false},
		{"profile", http.MethodPost, "lists/about", http.StatusUnprocessableEntity, false, false}, // of another version
		{"invite", http.MethodPost, "pair", http.StatusSeeOther, false, false},
		{"pause", http.MethodPost, "phones/pause", http.StatusSeeOther, false, false},
		{"allow", http.MethodPost, "extensions/2/allow", http.StatusSeeOther, false, false},
		{"remove", http.MethodPost, "extensions/1/remove", http.StatusSeeOther, false, false},
		{"forget address", http.MethodPost, "address/forget", http.StatusSeeOther, false, false},
		{"remove host", http.MethodPost, "hosts/remove", http.StatusSeeOther, false, false},
		{"use model", http.MethodPost, "model/use", http.StatusSeeOther, false, false},
		{"sign in", http.MethodPost, "/signin", http.StatusUnauthorized, false, false}, // with a wrong code
		{"API", http.MethodGet, "/api/v1/status", http.StatusOK, false, false},
		{"API, change", http.MethodPost, "/api/v1/token/rotate", http.StatusOK, false, false},
		{"sign out", http.MethodPost, "signout", http.StatusSeeOther, false, false},
	}
}

// api tells whether a route is for commands, which bring no sign of a browser.
func (rt route) api() bool { return strings.HasPrefix(rt.path, apiRoot) }

// attack changes an honest request. refused says whether a route must refuse it
// with 403 and this cause; "" is for what has to pass.
type attack struct {
	name   string
	change func(*http.Request)
	cause  func(route) admission.Cause
}

func set(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func all(changes ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		for _, c := range changes {
			c(r)
		}
	}
}

// fetched is a request that tells nothing but these Sec-Fetch headers.
func fetched(site, mode string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Origin")
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Del("Sec-Fetch-Mode")
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
			r.Header.Set("Sec-Fetch-Mode", mode)
		}
	}
}

func hostName(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func always(c admission.Cause) func(route) admission.Cause {
	return func(route) admission.Cause { return c }
}

func attacks() []attack {
	foreign, passes := always(admission.WebOrigin), always("")
	changesOrStream := func(rt route) admission.Cause {
		if rt.method == http.MethodPost || rt.stream || rt.upgrade || rt.api() {
			return admission.WebOrigin
		}
		return ""
	}
	streamOrAPI := func(rt route) admission.Cause {
		if rt.stream || rt.upgrade || rt.api() {
			return admission.WebOrigin
		}
		return ""
	}
	stream := func(rt route) admission.Cause {
		if rt.stream || rt.upgrade {
			return admission.WebOrigin
		}
		return ""
	}
	list := []attack{
		{"honest", func(*http.Request) {}, passes},
		{"honest, localhost", func(r *http.Request) {
			r.Host = "localhost:9010"
			if r.Header.Get("Origin") != "" {
				r.Header.Set("Origin", "http://localhost:9010")
			}
		}, passes},
		{"curl", fetched("", ""), stream},
		{"address typed or bookmark", fetched("none", "navigate"), streamOrAPI},
		{"link from another site", fetched("cross-site", "navigate"), changesOrStream},
		{"link from another port", fetched("same-site", "navigate"), changesOrStream},
		{"fetch without Origin from another site", fetched("cross-site", "no-cors"), foreign},
		{"fetch without Origin from another port", fetched("same-site", "cors"), foreign},
		{"fetch of an extension without Origin", fetched("none", "cors"), foreign},
		{"image of another site", all(fetched("cross-site", "no-cors"), set("Sec-Fetch-Dest", "image")), foreign},
		{"upgrade without Origin", all(fetched("same-origin", "websocket"), set("Upgrade", "websocket"), set("Connection", "Upgrade")), foreign},
		{"two Origins", set("Origin", "http://"+address, "http://evil.example"), foreign},
	}
	for _, origin := range []string{
		"http://evil.example", "https://127.0.0.1:9010", "http://127.0.0.1", "http://127.0.0.1:8080", "http://localhost:9010",
		"null", "", "file://", "chrome-extension://joodhdobialhnfopbcpkalkibgpkdnad", "moz-extension://9a1f6c0e",
	} {
		list = append(list, attack{"Origin " + origin, set("Origin", origin), foreign})
	}
	for _, name := range []string{
		"evil.example:9010", "evil.example", "127.0.0.1", "127.0.0.1:9011", "localhost", "localhost.:9010", "LOCALHOST:9010",
		"localhost.evil.example:9010", "127.0.0.1.nip.io:9010", "[::1]:9010", "0.0.0.0:9010", "127.1:9010", "box.tail1234.ts.net", "",
	} {
		list = append(list, attack{"Host " + name, hostName(name), always(admission.WrongHost)})
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "Tailscale-User-Login"} {
		list = append(list, attack{"proxy " + name, set(name, "1.2.3.4"), always(admission.Proxied)})
	}
	return list
}

// TestAttackMatrix sends every attack to every route with a right cookie, or to the
// API with the right token, so that nothing but the headers decides.
func TestAttackMatrix(t *testing.T) {
	for _, rt := range routes() {
		t.Run(rt.name, func(t *testing.T) {
			for _, a := range attacks() {
				st := newStage(t)
				r := st.request(rt, st.enter())
				a.change(r)
				status, body := st.status(r)
				want, cause := rt.open, a.cause(rt)
				if cause != "" {
					want = http.StatusForbidden
				}
				if status != want || st.extensions.lastCause() != cause {
					t.Errorf("%s: %d %q, want %d %q", a.name, status, st.extensions.lastCause(), want, cause)
				}
				if cause != "" && body != "forbidden\n" {
					t.Errorf("%s: the refusal says %q", a.name, body)
				}
			}
		})
	}
}

// request is an honest request of the route's kind.
func (st *stage) request(rt route, b *browser) *http.Request {
	path := rt.path
	if rt.api() {
		return st.command(rt.method, path)
	}
	if !strings.HasPrefix(path, "/") {
		path = b.base + path
	}
	r := st.page(path)
	switch {
	case rt.method == http.MethodPost:
		r = st.form(path, url.Values{"code": {"wrong"}})
	case rt.stream:
		r.Header.Set("Sec-Fetch-Mode", "cors")
	case rt.upgrade:
		r.Header.Set("Sec-Fetch-Mode", "websocket")
		r.Header.Set("Origin", "http://"+address)
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Connection", "Upgrade")
	}
	r.AddCookie(b.cookie)
	return r
}

// status runs a request. A stream is ended by stopping the site beforehand.
func (st *stage) status(r *http.Request) (int, string) {
	if strings.HasSuffix(r.URL.Path, "/events") {
		st.site.halt()
	}
	w := newStreamRecorder()
	st.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Without its cookie under its path nobody gets anything but the sign-in page,
// and with another method than its own a route does nothing.
func TestAttackMatrixOfSessionsAndMethods(t *testing.T) {
	for _, rt := range routes() {
		if strings.HasPrefix(rt.path, "/") {
			continue
		}
		st := newStage(t)
		b, other := st.enter(), st.enter()
		for name, change := range map[string]func(*http.Request){
			"no cookie":                  func(r *http.Request) { r.Header.Del("Cookie") },
			"a cookie of another path":   func(r *http.Request) { r.Header.Del("Cookie"); r.AddCookie(other.cookie) },
			"a made up cookie":           func(r *http.Request) { r.Header.Set("Cookie", cookieName+"="+strings.Repeat("0", cookieLength)) },
			"another cookie first":       func(r *http.Request) { r.Header.Del("Cookie"); r.AddCookie(other.cookie); r.AddCookie(b.cookie) },
			"a right cookie, wrong path": func(r *http.Request) { r.URL.Path = base(strings.Repeat("0", prefixLength)) + rt.path },
			"upper case in the path":     func(r *http.Request) { r.URL.Path = strings.ToUpper(b.base) + rt.path },
		} {
			r := st.request(rt, b)
			change(r)
			status, body := st.status(r)
			if upper := name == "upper case in the path"; upper && status != http.StatusNotFound && status != http.StatusMethodNotAllowed ||
				!upper && (status != http.StatusUnauthorized || !strings.Contains(body, "plexus open")) {
				t.Errorf("%s with %s: %d", rt.name, name, status)
			}
		}
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodConnect, "BREW"} {
			r := st.request(rt, b)
			r.Method = method
			if method != http.MethodOptions && r.Header.Get("Origin") == "" {
				r.Header.Set("Origin", "http://"+address)
			}
			if status, _ := st.status(r); status != http.StatusMethodNotAllowed && status != http.StatusNotFound {
				t.Errorf("%s with %s: %d", rt.name, method, status)
			}
		}
	}
}

// A GET changes nothing, whichever path it has.
func TestGetOfAnActionDoesNothing(t *testing.T) {
	for _, rt := range routes() {
		if rt.method != http.MethodPost {
			continue
		}
		st := newStage(t)
		b := st.enter()
		r := st.request(rt, b)
		r.Method = http.MethodGet
		st.status(r)
		rows, err := st.extensions.Extensions(t.Context())
		if err != nil || rows[0].State != admission.Allowed || rows[1].State != admission.Waiting {
			t.Errorf("%s: %v, %v", rt.name, rows, err)
		}
		if _, open := st.clients.OpenInvitation(); open || st.clients.NoPhone() || st.statusSource.used != "" {
			t.Errorf("%s changed something", rt.name)
		}
		if status, _ := b.status(""); status != http.StatusOK {
			t.Errorf("%s ended the session", rt.name)
		}
	}
}

// Every defense is needed: with it the attack fails, and with it left out, all
// others in place, the attack succeeds.
func TestEachDefenseIsNeeded(t *testing.T) {
	for _, c := range []struct {
		without string
		what    string
		attack  func(st *stage, b *browser) *http.Request
		won     func(w *streamRecorder) bool
	}{
		{"host", "a page whose name was rebound to 127.0.0.1 reads how to sign in", func(st *stage, _ *browser) *http.Request {
			r := st.page("/")
			r.Host = "evil.example:9010"
			return r
		}, readsPage},
		{"proxy", "another machine comes through a proxy that rewrites Host", func(st *stage, b *browser) *http.Request {
			r := st.page(b.base + "devices")
			r.AddCookie(b.cookie)
			r.Header.Set("X-Forwarded-For", "100.64.0.9")
			return r
		}, readsPage},
		{"origin", "an extension with permission for 127.0.0.1 fetches a page", func(st *stage, b *browser) *http.Request {
			r := st.page(b.base + "devices")
			r.AddCookie(b.cookie)
			fetched("none", "cors")(r)
			return r
		}, readsPage},
		{"cross-origin", "another port posts a form whose Origin was dropped", func(st *stage, b *browser) *http.Request {
			r := st.form(b.base+"extensions/2/allow", nil)
			r.AddCookie(b.cookie)
			fetched("same-site", "navigate")(r)
			return r
		}, func(w *streamRecorder) bool { return w.Code == http.StatusSeeOther }},
		{"headers", "another site frames the page to steal a click", func(st *stage, b *browser) *http.Request {
			r := st.page(b.base + "extensions")
			r.AddCookie(b.cookie)
			return r
		}, func(w *streamRecorder) bool {
			h := w.Header()
			return w.Code == http.StatusOK && !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") &&
				h.Get("X-Frame-Options") == "" && h.Get("Cache-Control") == ""
		}},
		{"origin", "an extension that got hold of the token asks as the owner", func(st *stage, _ *browser) *http.Request {
			r := st.command(http.MethodGet, "/api/v1/status")
			fetched("none", "cors")(r)
			return r
		}, readsPage},
		{"token", "another account asks where the system tells no peer", func(st *stage, _ *browser) *http.Request {
			r := st.command(http.MethodGet, "/api/v1/status")
			r.Header.Del("Authorization")
			return r
		}, readsPage},
		{"session", "somebody who never signed in reads the devices", func(st *stage, _ *browser) *http.Request {
			return st.page(base(strings.Repeat("0", prefixLength)) + "devices")
		}, readsPage},
	} {
		t.Run(c.without, func(t *testing.T) {
			for _, removed := range []bool{false, true} {
				st := newStage(t)
				b := st.enter()
				if removed {
					inner, err := st.site.routes()
					if err != nil {
						t.Fatal(err)
					}
					st.handler = st.site.protect(inner, c.without)
				}
				w := newStreamRecorder()
				st.handler.ServeHTTP(w, c.attack(st, b))
				if won := c.won(w); won != removed {
					t.Errorf("%s; %s left out: %v; succeeded: %v (status %d)", c.what, c.without, removed, won, w.Code)
				}
			}
		})
	}
}

func readsPage(w *streamRecorder) bool { return w.Code == http.StatusOK && w.Body.Len() > 100 }

// Without the middleware a fault in one page would be a broken connection, and the
// trace of it nowhere.
func TestThePanicMiddlewareIsNeeded(t *testing.T) {
	st := newStage(t)
	faulty := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("of a page") })
	run := func(h http.Handler) (w *httptest.ResponseRecorder, broken any) {
		defer func() { broken = recover() }()
		w = httptest.NewRecorder()
		h.ServeHTTP(w, st.page("/"))
		return w, nil
	}
	if w, broken := run(st.site.protect(faulty)); broken != nil || w.Code != http.StatusInternalServerError ||
		!strings.Contains(st.log.String(), "panicked") || strings.Contains(st.log.String(), "of a page") {
		t.Errorf("with the middleware: %v, %v", w, broken)
	}
	if _, broken := run(st.site.protect(faulty, "panic")); broken != "of a page" {
		t.Errorf("without the middleware: %v", broken)
	}
}

// TestTheCookieStaysBelowItsPath: browsers send a cookie to every port of a host.
// Its path keeps it from another server on this machine; at / it would go there.
func TestTheCookieStaysBelowItsPath(t *testing.T) {
	b := newStage(t).enter()
	seen := make(chan string, 1)
	neighbor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("Cookie") }))
	defer neighbor.Close()
	ours, err := url.Parse("http://" + address + b.base)
	if err != nil {
		t.Fatal(err)
	}
	for path, leaks := range map[string]bool{b.cookie.Path: false, "/": true} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		cookie := *b.cookie
		cookie.Path = path
		jar.SetCookies(ours, []*http.Cookie{&cookie})
		client := &http.Client{Jar: jar}
		answer, err := client.Get(neighbor.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		client.CloseIdleConnections()
		if got := <-seen; (got != "") != leaks {
			t.Errorf("with path %s another port gets %q", path, got)
		}
	}
	if c := b.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Path != b.base || c.MaxAge != 90*24*3600 {
		t.Errorf("cookie %v", c)
	}
}

// TestHeadersOfEveryAnswer: nothing is kept or framed, and what a refusal says is
// the same for every cause.
func TestHeadersOfEveryAnswer(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	for _, path := range []string{"/", "/healthz", "/nowhere", b.base, b.base + "pair", b.base + "nowhere", base(strings.Repeat("1", prefixLength))} {
		r := st.page(path)
		r.AddCookie(b.cookie)
		h := st.do(r).Header()
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		// What the default does not cover.
		for _, want := range []string{"frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q is without %s", path, policy, want)
			}
		}
	}
}

// The matrix above tries one route of each kind with every attack; this one tries
// every route that there is with an attack of each defence against other sites.
func TestEveryRouteStandsBehindTheDefenses(t *testing.T) {
	st := newStage(t)
	router, ok := st.handler.(chi.Routes)
	if !ok {
		t.Fatalf("the handler is a %T, want the router", st.handler)
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	tried := 0
	err := chi.Walk(router, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := strings.TrimSuffix(parameter.ReplaceAllString(pattern, "x"), "*")
		for name, change := range map[string]func(*http.Request){
			"another Host": hostName("evil.example:9010"), "another Origin": set("Origin", "http://evil.example"), "a proxy": set("X-Forwarded-For", "192.0.2.1"),
		} {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://"+address+path, nil)
			change(r)
			w := httptest.NewRecorder()
			st.handler.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden {
				t.Errorf("%s %s with %s: %d, want 403", method, path, name, w.Code)
			}
			tried++
		}
		return nil
	})
	if err != nil || tried < 100 {
		t.Errorf("tried %d requests, error %v", tried, err)
	}
}
