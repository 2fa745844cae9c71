package adminapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/domain/admission"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal/privacy"
	"plexus/usecases/personal/topics"
)

// registry knows extension 7 only.
type registry struct {
	state   admission.State
	rotated int
	failure error
}

func (d *registry) row() admission.Extension {
	return admission.Extension{ID: 7, Origin: "chrome-extension://abc", Key: admission.HashKey("k"), State: d.state, LastSeen: time.Unix(9, 0).UTC()}
}

func (d *registry) Extensions(context.Context) ([]admission.Extension, error) {
	return []admission.Extension{d.row()}, d.failure
}

func (d *registry) become(id int64, s admission.State) (admission.Extension, error) {
	if id != 7 {
		return admission.Extension{}, ports.ErrExtensionUnknown
	}
	d.state = s
	return d.row(), d.failure
}

func (d *registry) AllowExtension(_ context.Context, id int64) (admission.Extension, error) {
	return d.become(id, admission.Allowed)
}

func (d *registry) RemoveExtension(_ context.Context, id int64) (admission.Extension, error) {
	return d.become(id, admission.Blocked)
}

func (d *registry) ForgetExtension(_ context.Context, id int64) error {
	_, err := d.become(id, "forgotten")
	return err
}

func (d *registry) RotateToken(context.Context) error {
	d.rotated++
	return d.failure
}

// remembered notes what it is asked to do.
type remembered struct {
	did   []string
	sites []pages.Site
	full  bool
}

func (m *remembered) Pages(_ context.Context, q ports.PageList) ([]pages.Listing, int, error) {
	return []pages.Listing{{URL: "https://a.example/", Title: "A", Bytes: q.Limit}}, 1, nil
}

func (m *remembered) forget(what string, topicsToo bool) (privacy.Forgotten, error) {
	m.did = append(m.did, fmt.Sprint(what, " ", topicsToo))
	return privacy.Forgotten{Pages: 3, Topics: 2}, nil
}

func (m *remembered) ForgetPage(_ context.Context, address string, topicsToo bool) (privacy.Forgotten, error) {
	return m.forget(address, topicsToo)
}

func (m *remembered) ForgetSite(_ context.Context, site pages.Site, topicsToo bool) (privacy.Forgotten, error) {
	return m.forget(string(site), topicsToo)
}

func (m *remembered) ForgetAll(_ context.Context, topicsToo bool) (privacy.Forgotten, error) {
	return m.forget("all", topicsToo)
}

func (m *remembered) Excluded() []pages.Site { return m.sites }

func (m *remembered) Exclude(_ context.Context, site pages.Site) error {
	if m.full {
		return topics.ErrSitesFull
	}
	m.sites = append(m.sites, site)
	return nil
}

func (m *remembered) Include(context.Context, pages.Site) error {
	m.sites = nil
	return nil
}

func TestClient_Forgets(t *testing.T) {
	m := &remembered{}
	c := setup(t, &registry{}, m, quiet())
	ctx := t.Context()
	for _, forget := range []func() (Forgotten, error){
		func() (Forgotten, error) { return c.ForgetPage(ctx, "HTTPS://A.example:443/x?b=c#d") },
		func() (Forgotten, error) { return c.ForgetSite(ctx, "*.Bank.example") },
	} {
		if done, err := forget(); err != nil || done != (Forgotten{Pages: 3, Topics: 2}) {
			t.Errorf("forgot %+v, %v", done, err)
		}
	}
	if want := []string{"https://a.example/x?b=c true", "*.bank.example true"}; !slices.Equal(m.did, want) {
		t.Errorf("did %q, want %q", m.did, want)
	}
	if list, err := c.Sites(ctx); err != nil || list == nil || len(list) != 0 {
		t.Errorf("sites %v, %v", list, err)
	}
	if list, err := c.ExcludeSite(ctx, "bank.*"); err != nil || !slices.Equal(list, []string{"bank.*"}) {
		t.Errorf("exclude: %v, %v", list, err)
	}
	if list, err := c.IncludeSite(ctx, "bank.*"); err != nil || len(list) != 0 {
		t.Errorf("include: %v, %v", list, err)
	}
	m.full = true
	if _, err := c.ExcludeSite(ctx, "a.example"); !errors.Is(err, topics.ErrSitesFull) {
		t.Errorf("a full list: %v", err)
	}
}

// report is what a host says of itself.
type report struct {
	Version     string
	Connections int
}

// setup serves over an in-memory connection per call.
func setup(t *testing.T, d *registry, s Remembered, log *slog.Logger) *Client {
	t.Helper()
	return setupHandler(t, NewServer(Config{
		Extensions: d, Remembered: s, Phones: phones(t), Log: log, TokenFile: "/t",
		Status: func(context.Context) (any, error) { return report{Version: "v9", Connections: 2}, nil },
	}).Handler)
}

func setupHandler(t *testing.T, h http.Handler) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return NewClient(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", srv.Listener.Addr().String())
	})
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestClient_EveryCall(t *testing.T) {
	d := &registry{state: admission.Waiting}
	c := setup(t, d, &remembered{}, quiet())
	ctx := t.Context()

	if s, err := Status[report](c, ctx); err != nil || s.Version != "v9" || s.Connections != 2 {
		t.Errorf("status %+v, %v", s, err)
	}
	rows, err := c.Extensions(ctx)
	if err != nil || len(rows) != 1 || rows[0].Digits != admission.HashKey("k").Digits() || rows[0].State != "waiting" {
		t.Errorf("extensions %+v, %v", rows, err)
	}
	if row, err := c.AllowExtension(ctx, 7); err != nil || row.State != "allowed" {
		t.Errorf("allow %+v, %v", row, err)
	}
	if row, err := c.RemoveExtension(ctx, 7); err != nil || row.State != "blocked" {
		t.Errorf("remove %+v, %v", row, err)
	}
	if err := c.ForgetExtension(ctx, 7); err != nil || d.state != "forgotten" {
		t.Errorf("forget: state %s, %v", d.state, err)
	}
	d.state = admission.ByToken
	if done, err := c.RotateToken(ctx); err != nil || d.rotated != 1 || done.TokenFile != "/t" || len(done.Extensions) != 1 {
		t.Errorf("rotate: %d, %+v, %v", d.rotated, done, err)
	}
	if list, err := c.Pages(ctx, 5); err != nil || len(list) != 1 || list[0].Bytes != 5 {
		t.Errorf("pages %+v, %v", list, err)
	}
	if n, err := c.ClearPages(ctx); err != nil || n != 3 {
		t.Errorf("clear %d, %v", n, err)
	}
}

func TestClient_ErrorsComeBackAsThemselves(t *testing.T) {
	ctx := t.Context()
	c := setup(t, &registry{}, &remembered{}, quiet())
	if _, err := c.AllowExtension(ctx, 8); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("allow 8: %v", err)
	}
	if err := c.ForgetExtension(ctx, 8); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("forget 8: %v", err)
	}
	var remote *RemoteError
	if _, err := c.Pages(ctx, MaxPages+1); !errors.As(err, &remote) || remote.Code != "bad_number" {
		t.Errorf("pages over the limit: %v", err)
	}
	refused := errors.New("nobody there")
	nobody := NewClient(func(context.Context) (net.Conn, error) { return nil, refused })
	if _, err := Status[report](nobody, ctx); !errors.Is(err, ErrUnreachable) || !errors.Is(err, refused) {
		t.Errorf("no host: %v", err)
	}
}

// The cause goes to the log, once; the answer is a fixed sentence.
func TestServer_InnerFailureIsLoggedNotSent(t *testing.T) {
	var log bytes.Buffer
	c := setup(t, &registry{failure: errors.New("disk on fire")}, &remembered{}, slog.New(slog.NewTextHandler(&log, nil)))
	_, err := c.Extensions(t.Context())
	var remote *RemoteError
	if !errors.As(err, &remote) || strings.Contains(err.Error(), "fire") {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(log.String(), "disk on fire"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}

// Who has left takes his request along: that fails then, and nothing is wrong.
func TestServer_AFailureOfWhoHasLeftIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	h := NewServer(Config{Extensions: &registry{failure: context.Canceled}, Remembered: &remembered{}, Log: slog.New(slog.NewTextHandler(&log, nil))}).Handler
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/extensions", nil))
	if log.Len() > 0 {
		t.Errorf("logged:\n%s", log.String())
	}
}

func TestServer_HostileRequests(t *testing.T) {
	handler := NewServer(Config{
		Extensions: &registry{}, Remembered: &remembered{}, Log: quiet(),
		Status: func(context.Context) (any, error) { return report{}, nil },
	}).Handler
	for _, tc := range []struct {
		name, method, target, body string
		status                     int
		code                       string
	}{
		{"root", "GET", "/", "", 404, "no_such_path"},
		{"unknown path", "GET", "/v2/status", "", 404, "no_such_path"},
		{"trailing slash", "GET", "/v1/status/", "", 404, "no_such_path"},
		{"POST to a list", "POST", "/v1/status", "", 405, "wrong_method"},
		{"GET to a change", "GET", "/v1/token/rotate", "", 405, "wrong_method"},
		{"HEAD", "HEAD", "/v1/status", "", 405, ""},
		{"made-up method", "BREW", "/v1/extensions/7/allow", "", 405, "wrong_method"},
		{"body", "POST", "/v1/pages/clear", "{}", 400, "unexpected_body"},
		{"large body", "POST", "/v1/token/rotate", strings.Repeat("x", 1<<20), 400, "unexpected_body"},
		{"id of words", "POST", "/v1/extensions/seven/allow", "", 400, "bad_number"},
		{"id 0", "POST", "/v1/extensions/0/allow", "", 400, "bad_number"},
		{"negative id", "POST", "/v1/extensions/-7/remove", "", 400, "bad_number"},
		{"id over 64 bits", "POST", "/v1/extensions/9223372036854775808/forget", "", 400, "bad_number"},
		{"escaped slash in id", "POST", "/v1/extensions/7%2f7/allow", "", 400, "bad_number"},
		{"unknown id", "POST", "/v1/extensions/8/allow", "", 404, "unknown_extension"},
		{"no limit", "GET", "/v1/pages", "", 400, "bad_number"},
		{"page without an address", "POST", "/v1/pages/forget", "", 400, "bad_page"},
		{"page of another kind", "POST", "/v1/pages/forget?url=file:///etc", "", 400, "bad_page"},
		{"site of nothing", "POST", "/v1/pages/forget?site=*", "", 400, "bad_site"},
		{"exclude nothing", "POST", "/v1/sites/exclude", "", 400, "bad_site"},
		{"limit 0", "GET", "/v1/pages?limit=0", "", 400, "bad_number"},
		{"limit over the bound", "GET", "/v1/pages?limit=1001", "", 400, "bad_number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tc.method, tc.target, strings.NewReader(tc.body)))
			var f Fault
			if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil {
				t.Fatalf("body %q: %v", w.Body, err)
			}
			if w.Code != tc.status || (tc.code != "" && f.Code != tc.code) || f.Message == "" {
				t.Errorf("got %d %+v, want %d %s", w.Code, f, tc.status, tc.code)
			}
			if tc.status == 405 && w.Header().Get("Allow") == "" {
				t.Error("405 without Allow")
			}
			if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestServer_TooManyAtOnce(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	handler := NewServer(Config{
		Extensions: &registry{}, Log: quiet(),
		Status: func(context.Context) (any, error) {
			entered <- struct{}{}
			<-leave
			return report{}, nil
		},
	}).Handler
	get := func() int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/status", nil))
		return w.Code
	}
	codes := make(chan int)
	for range MaxRequests {
		go func() { codes <- get() }()
		<-entered
	}
	if code := get(); code != http.StatusServiceUnavailable {
		t.Errorf("request %d got %d, want 503", MaxRequests+1, code)
	}
	close(leave)
	for range MaxRequests {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("got %d, want 200", code)
		}
	}
}

func TestExtension_CarriesNoKey(t *testing.T) {
	row := admission.Extension{ID: 1, Origin: "chrome-extension://a\x1b[2J", Key: admission.HashKey("secret key")}
	b, err := json.Marshal(NewExtension(row))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), row.Key.Hex()) || strings.Contains(string(b), "\x1b") || strings.Contains(string(b), `\u001b`) {
		t.Errorf("got %s", b)
	}
}
