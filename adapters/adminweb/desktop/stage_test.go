package desktop

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
)

const (
	instance    = "22222222-2222-4222-8222-222222222222"
	privateText = "my private words"
)

// fakeHost is a personal host that a test scripts. It is its own endpoint.
type fakeHost struct {
	deliver  func(ctx context.Context, c nova.Control) error // nil takes everything
	snapshot nova.PersonalState

	mu        sync.Mutex
	links     []ports.PersonalLink
	terms     hub.Terms
	delivered []string // kinds of controls, and lengths of audio
	left      int
}

func (h *fakeHost) Attach(link ports.PersonalLink, terms hub.Terms) hub.Endpoint {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.links, h.terms = append(h.links, link), terms
	return h
}

func (h *fakeHost) Input() nova.Input     { return nova.TextInput }
func (h *fakeHost) InputInstance() string { return instance }

func (h *fakeHost) Deliver(ctx context.Context, c nova.Control) error {
	h.mu.Lock()
	h.delivered = append(h.delivered, c.Kind())
	h.mu.Unlock()
	if h.deliver != nil {
		return h.deliver(ctx, c)
	}
	return nil
}

func (h *fakeHost) Audio(pcm []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.delivered = append(h.delivered, strconv.Itoa(len(pcm)))
}

func (h *fakeHost) Snapshot(context.Context) (nova.PersonalState, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.snapshot, nil
}

func (h *fakeHost) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left++
}

// link is that of the first page.
func (h *fakeHost) link() ports.PersonalLink {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.links[0]
}

// kinds is what was delivered: controls by their kind, audio by its length.
func (h *fakeHost) kinds() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.delivered, " ")
}

// at sets the snapshot to one with this revision.
func (h *fakeHost) at(revision uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	frame, err := json.Marshal(map[string]any{"type": "personal.state", "revision": revision})
	if err != nil {
		panic(err)
	}
	h.snapshot = nova.PersonalState{Revision: revision, Frame: frame}
}

// stage is a server in fake time with its host and pages.
type stage struct {
	t     *testing.T
	s     *Server
	host  *fakeHost
	over  chan struct{} // closed when the session of all pages ends
	peers []*wstest.Peer
}

// inFakeTime runs f in a bubble where time moves only when everybody waits. No
// text may be in the log.
func inFakeTime(t *testing.T, h *fakeHost, f func(t *testing.T, st *stage)) {
	t.Helper()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		st := &stage{t: t, host: h, over: make(chan struct{})}
		st.s = New(Config{Host: h, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		defer func() { // also when f gave up
			for _, p := range st.peers {
				_ = p.Close()
			}
			st.shutdown()
		}()
		f(t, st)
	})
	if strings.Contains(log.String(), privateText) {
		t.Errorf("the log holds what was said:\n%s", log.String())
	}
}

func (st *stage) shutdown() {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), 5*time.Second)
	defer cancel()
	if err := st.s.Shutdown(ctx); err != nil {
		st.t.Errorf("shutdown: %v", err)
	}
}

// ServeHTTP stands for the owner's page, whose session is that of the stage.
func (st *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	st.s.Serve(w, r, func(ctx context.Context) bool {
		select {
		case <-st.over:
			return true
		case <-ctx.Done():
			return false
		}
	})
}

// upgrade is how the page asks for its socket.
func upgrade() *http.Request {
	r := wstest.UpgradeRequest("127.0.0.1:9010", "/s/x/desktop")
	r.Header.Set("Origin", "http://127.0.0.1:9010")
	return r
}

// page is a client whose own goroutine takes whatever comes and answers pings.
type page struct {
	*wstest.Peer
	t      *testing.T
	frames chan wstest.Frame // closed at the end
	end    error             // set before frames is closed
}

// connect opens a page and takes what comes first.
func (st *stage) connect() *page {
	st.t.Helper()
	p := st.dial()
	first := p.next()
	if first["type"] != "desktop.capabilities" || first["input_instance_id"] != instance {
		st.t.Fatalf("first came %v", first)
	}
	return p
}

func (st *stage) dial() *page {
	st.t.Helper()
	peer, response := wstest.Pipe(st, upgrade())
	if peer == nil {
		st.t.Fatalf("the upgrade was answered %d", response.StatusCode)
	}
	st.peers = append(st.peers, peer)
	p := &page{Peer: peer, t: st.t, frames: make(chan wstest.Frame, 2000)}
	go func() {
		defer close(p.frames)
		for {
			f, err := p.ReceiveMessage()
			if err != nil {
				p.end = err
				return
			}
			p.frames <- f
		}
	}()
	return p
}

// say sends text and waits until everybody has done what they can.
func (p *page) say(text string) {
	p.t.Helper()
	if err := p.SendText(text); err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
}

// next is the next message.
func (p *page) next() map[string]any {
	p.t.Helper()
	select {
	case f, ok := <-p.frames:
		if !ok {
			p.t.Fatalf("the socket ended: %v", p.end)
		}
		var m map[string]any
		if err := json.Unmarshal(f.Payload, &m); err != nil {
			p.t.Fatal(err)
		}
		return m
	case <-time.After(time.Minute):
		p.t.Fatal("nothing came within a minute")
	}
	return nil
}

// silent wants nothing to have come.
func (p *page) silent() {
	p.t.Helper()
	synctest.Wait()
	select {
	case f, ok := <-p.frames:
		p.t.Errorf("came %.200s, %v", f.Payload, ok)
	default:
	}
}

// closes waits for the end, which must have this code.
func (p *page) closes(code int) {
	p.t.Helper()
	for range p.frames {
	}
	closed, ok := p.end.(*wstest.CloseError)
	if !ok || closed.Code != code {
		p.t.Errorf("the socket ended with %v, want %d", p.end, code)
	}
}

func command(id, method string) string {
	return `{"type":"personal.command","request_id":"` + id + `","method":"` + method + `"}`
}

func written(id, text string) string {
	return `{"type":"input.text","request_id":"` + id + `","input_instance_id":"` + instance + `","conversation_id":"chat:main","text":"` + text + `"}`
}

var desktopCaller = workbench.Caller{ClientID: workbench.DesktopClient, CanTakeover: true}
