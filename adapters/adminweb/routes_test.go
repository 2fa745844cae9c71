package adminweb

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A path is routed as the defenses judged it, whatever its spelling, and what has no
// route tells which methods the path has.
func TestRoutesAndOddSpellings(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	folder := strings.TrimSuffix(b.base, "/")
	for _, c := range []struct {
		method, target string
		status         int
		header, value  string
	}{
		{http.MethodHead, b.base + "devices", http.StatusOK, "Allow", ""},
		{http.MethodGet, b.base + "%64evices", http.StatusOK, "Location", ""},
		{http.MethodGet, b.base + "conversations/chat%3Amain", http.StatusOK, "Location", ""},
		{http.MethodGet, folder, http.StatusTemporaryRedirect, "Location", b.base},
		{http.MethodGet, folder + "?done=paused", http.StatusTemporaryRedirect, "Location", b.base + "?done=paused"},
		{http.MethodPost, folder, http.StatusMethodNotAllowed, "Allow", "GET, HEAD"},
		{http.MethodPost, b.base + "/pair", http.StatusTemporaryRedirect, "Location", b.base + "pair"},
		{http.MethodGet, b.base + "../x/./y/", http.StatusTemporaryRedirect, "Location", "/s/x/y/"},
		{http.MethodGet, "/a/../healthz", http.StatusTemporaryRedirect, "Location", "/healthz"},
		{http.MethodGet, b.base + "devices/", http.StatusNotFound, "Allow", ""},
		{http.MethodPut, b.base + "pair", http.StatusMethodNotAllowed, "Allow", "GET, HEAD, POST"},
		{"BREW", b.base + "signout", http.StatusMethodNotAllowed, "Allow", "GET, HEAD, POST"},
		{"BREW", "/nowhere", http.StatusNotFound, "Allow", ""},
		{"BREW", "/", http.StatusMethodNotAllowed, "Allow", "GET, HEAD"},
		{http.MethodOptions, "*", http.StatusBadRequest, "Connection", "close"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://"+address+"/", nil)
		u, err := url.ParseRequestURI(c.target)
		if err != nil {
			t.Fatal(err)
		}
		r.URL, r.RequestURI = u, c.target
		r.AddCookie(b.cookie)
		w := st.do(r)
		if got := strings.Join(w.Header()[c.header], "|"); w.Code != c.status || got != c.value {
			t.Errorf("%s %s: %d, %s %q, want %d, %q", c.method, c.target, w.Code, c.header, got, c.status, c.value)
		}
	}
}
