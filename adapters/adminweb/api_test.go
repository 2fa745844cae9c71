package adminweb

import (
	"net/http"
	"strings"
	"testing"

	"plexus/domain/admission"
)

func TestAPI_GetsThePathBelowItsPrefix(t *testing.T) {
	st := newStage(t)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := st.do(st.command(method, "/api/v1/status"))
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "/v1/status.") {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	if cause := st.extensions.lastCause(); cause != "" {
		t.Errorf("noted as %s", cause)
	}
}

// Whatever is wrong with the token, the answer is the same and says nothing.
func TestAPI_WrongTokenLearnsNothing(t *testing.T) {
	for name, values := range map[string][]string{
		"none": nil, "empty": {""}, "scheme alone": {scheme}, "no scheme": {masterText}, "another scheme": {"Basic " + masterText},
		"lower case scheme": {"bearer " + masterText}, "two blanks": {"Bearer  " + masterText}, "another": {scheme + strings.Repeat("0", 32)},
		"upper case": {scheme + strings.ToUpper(masterText)}, "cut short": {scheme + masterText[1:]}, "too long": {scheme + masterText + "0"},
		"twice": {scheme + masterText, scheme + masterText}, "in a list": {scheme + masterText + ", " + scheme + masterText},
	} {
		for _, path := range []string{"/api/", "/api/v1/status", "/api/nowhere", "/%61pi/v1/status", "/api/../api/v1/status"} {
			st := newStage(t)
			r := st.command(http.MethodGet, path)
			r.Header["Authorization"] = values
			w := st.do(r)
			if w.Code != http.StatusUnauthorized || w.Body.Len() != 0 || st.extensions.lastCause() != admission.NoMaster {
				t.Errorf("%s at %s: %d %q %q", name, path, w.Code, w.Body, st.extensions.lastCause())
			}
			if w.Header().Get("WWW-Authenticate") != "" || strings.Contains(strings.ToLower(st.log.String()), masterText) {
				t.Errorf("%s at %s: %v, log %s", name, path, w.Header(), st.log)
			}
		}
	}
}

// A cookie is no way in, and whoever brings one is a browser: refused with the
// right token too.
func TestAPI_BrowsersAreRefused(t *testing.T) {
	for name, mark := range map[string]func(*http.Request, *browser){
		"cookie":       func(r *http.Request, b *browser) { r.AddCookie(b.cookie) },
		"own page":     func(r *http.Request, _ *browser) { r.Header.Set("Origin", "http://"+address) },
		"own script":   func(r *http.Request, _ *browser) { fetched("same-origin", "cors")(r) },
		"empty Origin": func(r *http.Request, _ *browser) { r.Header.Set("Origin", "") },
		"dest alone":   func(r *http.Request, _ *browser) { r.Header.Set("Sec-Fetch-Dest", "empty") },
	} {
		for _, token := range []bool{true, false} {
			st := newStage(t)
			r := st.command(http.MethodPost, "/api/v1/token/rotate")
			if !token {
				r.Header.Del("Authorization")
			}
			mark(r, st.enter())
			if w := st.do(r); w.Code != http.StatusForbidden || st.extensions.lastCause() != admission.WebOrigin {
				t.Errorf("%s, token %v: %d %q", name, token, w.Code, st.extensions.lastCause())
			}
		}
	}
}

// Where commands have a socket, the token opens nothing here.
func TestAPI_IsAbsentWithoutHandler(t *testing.T) {
	cfg := newStage(t).site.Config
	cfg.API = nil
	site, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	st := newStage(t)
	site.hosts.Store(st.site.hosts.Load())
	st.handler = site.http.Handler
	if w := st.do(st.command(http.MethodGet, "/api/v1/status")); w.Code != http.StatusNotFound {
		t.Errorf("got %d", w.Code)
	}
}
