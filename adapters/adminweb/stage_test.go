package adminweb

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/adminweb/privacy"
	"plexus/adapters/adminweb/signin"
	"plexus/adapters/httpguard"
	"plexus/adapters/memory"
	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
	"plexus/usecases/browsers"
	"plexus/usecases/devices"
	"plexus/usecases/personal"
	"plexus/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// address is where the site of a stage seems to listen.
const address = "127.0.0.1:9010"

// stage is a site before a real phone side, with stores in memory.
type stage struct {
	t            *testing.T
	site         *Server
	handler      http.Handler
	clients      *devices.Service
	devices      *memory.Devices
	sessions     *memory.PageSessions
	extensions   *fakeExtensions
	statusSource *fakeStatus
	personal     *personal.Host
	index        *memory.Pages
	model        *memory.ScriptedModel
	desktop      *fakeDesktop
	log          *logged

	mu  sync.Mutex
	now time.Time
}

func newStage(t *testing.T, change ...func(*devices.Options)) *stage {
	t.Helper()
	st := &stage{
		t: t, devices: memory.NewDevices(), sessions: memory.NewPageSessions(), extensions: newFakeExtensions(), statusSource: &fakeStatus{},
		log: &logged{}, now: time.Date(2026, time.November, 30, 9, 30, 0, 0, time.UTC),
	}
	logger := slog.New(slog.NewTextHandler(st.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opts := devices.Options{Master: secret.New("master").Hash()}
	for _, c := range change {
		c(&opts)
	}
	var err error
	st.clients, err = devices.New(t.Context(), devices.Deps{
		Devices: st.devices, Revoked: memory.NewRevocations(), Settings: memory.NewSettings(),
		Random: rand.Reader, Now: st.clock, Log: logger,
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	st.startPersonal(logger)
	st.site, err = New(Config{
		Phones: st.clients, Extensions: st.extensions, Status: st.statusSource, Sessions: st.sessions, SignIn: signin.NewIssuer(st.clock, rand.Reader),
		QR: fakeQR, Words: web.English(), Now: st.clock, Random: rand.Reader, Log: logger,
		Changed: []func() <-chan struct{}{st.clients.Changed, st.personal.Changed},
		API:     http.HandlerFunc(answerCommand), Master: secret.New(masterText).Hash(),
		Personal: &Personal{
			Conversations: st.personal.Chats, Texts: st.personal.Turns, Topics: st.personal.Topics, Lists: st.personal.Life,
			RecordingFixedBy: "conversations.record_browser in config.toml",
			Privacy: privacy.Config{
				Remembered: st.personal.Privacy, Searches: st.personal.Turns.Searches, SearchService: "searxng at search.example",
				SearchesFixedBy: "search.conversations in config.toml", Retention: web.Retention{PageDays: 180, Pages: 20_000, TopicDays: 365, Topics: 5000},
			},
		},
		Desktop: st.desktop,
	})
	if err != nil {
		t.Fatal(err)
	}
	st.site.hosts.Store(httpguard.ListenerHosts(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9010}))
	st.handler = st.site.http.Handler
	return st
}

func (st *stage) clock() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.now
}

func (st *stage) pass(d time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.now = st.now.Add(d)
}

// masterText is the master token of a stage.
const masterText = "0123456789abcdef0123456789abcdef"

// answerCommand is an API that says what path it was asked, at length.
func answerCommand(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, r.URL.Path+strings.Repeat(".", 100))
}

// command is a request as the command line sends it.
func (st *stage) command(method, path string) *http.Request {
	r := httptest.NewRequestWithContext(st.t.Context(), method, "http://"+address+path, nil)
	r.Header.Set("Authorization", scheme+masterText)
	return r
}

// protect puts the defenses before inner, but those that a test leaves out.
func (s *Server) protect(inner http.Handler, without ...string) http.Handler {
	defenses := s.defenses()
	for i, name := range slices.Backward([]string{"panic", "host", "proxy", "peer", "origin", "cross-origin", "headers", "token", "session"}) {
		if slices.Contains(without, name) {
			defenses = slices.Delete(defenses, i, i+1)
		}
	}
	return defenses.Handler(inner)
}

// fakeQR draws a code that a test can read: one dark module.
func fakeQR(string) ([][]bool, error) { return [][]bool{{true}}, nil }

// browser is a client with one session.
type browser struct {
	st     *stage
	cookie *http.Cookie
	base   string
}

// enter signs a browser in with a link.
func (st *stage) enter() *browser {
	st.t.Helper()
	link, err := st.site.SignIn.Link()
	if err != nil {
		st.t.Fatal(err)
	}
	answer := st.do(st.form("/signin", url.Values{"secret": {link.Secret.Reveal()}}))
	if answer.Code != http.StatusSeeOther || len(answer.Result().Cookies()) != 1 {
		st.t.Fatalf("signing in: %d %v", answer.Code, answer.Header())
	}
	return &browser{st, answer.Result().Cookies()[0], answer.Header().Get("Location")}
}

// form is a POST as a browser sends it from a page of the site.
func (st *stage) form(path string, values url.Values) *http.Request {
	r := httptest.NewRequestWithContext(st.t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+address)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	return r
}

func (st *stage) page(path string) *http.Request {
	r := httptest.NewRequestWithContext(st.t.Context(), http.MethodGet, "http://"+address+path, nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	return r
}

func (st *stage) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	st.handler.ServeHTTP(w, r)
	return w
}

// get gives a page that must be there.
func (b *browser) get(path string) string {
	b.st.t.Helper()
	code, body := b.status(path)
	if code != http.StatusOK {
		b.st.t.Fatalf("GET %s: %d\n%s", path, code, body)
	}
	return body
}

func (b *browser) status(path string) (int, string) {
	b.st.t.Helper()
	r := b.st.page(b.base + path)
	r.AddCookie(b.cookie)
	w := b.st.do(r)
	if at := w.Header().Get("Location"); at != "" {
		return w.Code, strings.TrimPrefix(at, b.base)
	}
	return w.Code, w.Body.String()
}

// post gives the status and where it leads, below the session's prefix, or the page.
func (b *browser) post(path string, values url.Values) (int, string) {
	b.st.t.Helper()
	r := b.st.form(b.base+path, values)
	r.AddCookie(b.cookie)
	w := b.st.do(r)
	if at := w.Header().Get("Location"); at != "" {
		return w.Code, strings.TrimPrefix(at, b.base)
	}
	return w.Code, w.Body.String()
}

// must posts and follows.
func (b *browser) must(path string, values url.Values) (at, page string) {
	b.st.t.Helper()
	code, at := b.post(path, values)
	if code != http.StatusSeeOther {
		b.st.t.Fatalf("POST %s: %d\n%s", path, code, at)
	}
	return at, b.get(at)
}

func wantText(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not hold %q:\n%s", text, visible(page))
		}
	}
}

func wantNoText(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page holds %q:\n%s", text, visible(page))
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>|\s+`)

func visible(page string) string { return tags.ReplaceAllString(page, " ") }

// logged collects what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*logged)(nil)

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// fakeExtensions is the extension side of a host.
type fakeExtensions struct {
	mu       sync.Mutex
	rows     []admission.Extension
	refusals []browsers.Refusal
	fault    error
}

func newFakeExtensions() *fakeExtensions {
	return &fakeExtensions{rows: []admission.Extension{
		{ID: 1, Origin: "chrome-extension://aaaa", Key: admission.HashKey("one"), State: admission.Allowed},
		{ID: 2, Origin: "moz-extension://bbbb", Key: admission.HashKey("two"), State: admission.Waiting},
	}}
}

func (d *fakeExtensions) Extensions(context.Context) ([]admission.Extension, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]admission.Extension(nil), d.rows...), d.fault
}

func (d *fakeExtensions) set(id int64, state admission.State) (admission.Extension, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.rows {
		if d.rows[i].ID == id {
			d.rows[i].State = state
			return d.rows[i], nil
		}
	}
	return admission.Extension{}, ports.ErrExtensionUnknown
}

func (d *fakeExtensions) AllowExtension(_ context.Context, id int64) (admission.Extension, error) {
	return d.set(id, admission.Allowed)
}

func (d *fakeExtensions) RemoveExtension(_ context.Context, id int64) (admission.Extension, error) {
	return d.set(id, admission.Blocked)
}

func (d *fakeExtensions) ForgetExtension(_ context.Context, id int64) error {
	_, err := d.set(id, "forgotten")
	return err
}

func (d *fakeExtensions) Refusals() []browsers.Refusal {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]browsers.Refusal(nil), d.refusals...)
}

func (d *fakeExtensions) Refuse(cause admission.Cause, peer string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refusals = append(d.refusals, browsers.Refusal{Cause: cause, Peer: peer, Count: 1})
}

// lastCause is the cause of the latest refusal.
func (d *fakeExtensions) lastCause() admission.Cause {
	list := d.Refusals()
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Cause
}

// fakeStatus is the rest of a host.
type fakeStatus struct {
	path     PhonePath
	overview web.Overview
	used     string
	fault    error
	refused  error // of UseModel
}

func (m *fakeStatus) Overview(context.Context) (web.Overview, error) { return m.overview, m.fault }
func (m *fakeStatus) PhonePath(context.Context) PhonePath            { return m.path }
func (m *fakeStatus) UseModel(_ context.Context, name, baseURL string) error {
	m.used = name + " at " + baseURL
	return cmp.Or(m.refused, m.fault)
}

// redeem pairs a phone with the open invitation.
func (st *stage) redeem(name string) pairing.Device {
	st.t.Helper()
	open, ok := st.clients.OpenInvitation()
	if !ok {
		st.t.Fatal("no invitation is open")
	}
	_, device, err := st.clients.Redeem(st.t.Context(), open.Code, name)
	if err != nil {
		st.t.Fatal(err)
	}
	return device
}
