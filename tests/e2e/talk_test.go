package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/workbench"
)

// answeringModel says "It opened in 1931." to every prompt, once it may.
type answeringModel struct {
	*httptest.Server
	asked chan string   // the prompts
	may   chan struct{} // closed: it may answer
}

func newAnsweringModel(t *testing.T) *answeringModel {
	t.Helper()
	m := &answeringModel{asked: make(chan string, 1024), may: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.asked <- string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"It opened \"}}]}\n\n")
		_ = http.NewResponseController(w).Flush() // the caller may be gone
		select {
		case <-m.may:
		case <-r.Context().Done():
			return
		}
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"in 1931.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(m.Close)
	return m
}

// ready is a model that answers at once.
func (m *answeringModel) ready() *answeringModel {
	close(m.may)
	return m
}

// phoneOptions are those of a phone that has the master token.
func (d *daemon) phoneOptions(t *testing.T) novaclient.Options {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(d.dataDir(), hostfiles.MasterTokenName))
	if err != nil {
		t.Fatal(err)
	}
	server, err := pairing.ParseServer(publicURL)
	if err != nil {
		t.Fatal(err)
	}
	return novaclient.Options{
		Server: server, Dial: netip.MustParseAddrPort(d.Client), Token: pairing.DeviceToken{Text: secret.New(strings.TrimSpace(string(token)))},
	}
}

// collected is what a client was told, in order.
type collected struct {
	mu       sync.Mutex
	messages []nova.Message
	more     chan struct{} // there is another
}

func newCollected() *collected { return &collected{more: make(chan struct{}, 1)} }

func (c *collected) put(m nova.Message) {
	c.mu.Lock()
	c.messages = append(c.messages, m)
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default: // somebody will look anyway
	}
}

func (c *collected) all() []nova.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]nova.Message(nil), c.messages...)
}

// told waits for a message that fits, among those that came before too.
func told[M nova.Message](t *testing.T, c *collected, what string, fits func(M) bool) M {
	t.Helper()
	late := time.After(3 * commandLimit) // links may be slow
	for {
		for _, m := range c.all() {
			if m, ok := m.(M); ok && fits(m) {
				return m
			}
		}
		select {
		case <-c.more:
		case <-late:
			t.Fatalf("%s never came", what)
		}
	}
}

// dial connects a phone of that kind.
func (d *daemon) dial(t *testing.T, profile novaclient.Profile) (*novaclient.Conn, *collected) {
	t.Helper()
	o, c := d.phoneOptions(t), newCollected()
	o.Profile, o.Events = profile, novaclient.Events{Message: c.put}
	conn, err := novaclient.Dial(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.logged())
	}
	t.Cleanup(conn.Close)
	return conn, c
}

// snapshot is the host's state, asked for.
func snapshot(t *testing.T, conn *novaclient.Conn) workbench.MobileSnapshot {
	t.Helper()
	result, err := conn.Personal(t.Context(), "state", struct{}{})
	if err != nil || result.Error != "" {
		t.Fatalf("state: %q, %v", result.Error, err)
	}
	s, err := workbench.DecodeSnapshot(result.Data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// event is a line of `plexus phone --json`: the members that are looked at.
type event struct {
	Event, Phase, Line, Error, Text, Role, Pipeline string
	OK                                              bool
	Final                                           bool
	TextInput                                       bool   `json:"text_input"`
	Dictation                                       bool   `json:"dictation"`
	TextBox                                         bool   `json:"text_box"`
	FullText                                        string `json:"full_text"`
	RequestID                                       string `json:"request_id"`
	SelectedID                                      string `json:"selected_id"`
}

// handset is a running `plexus phone --json`, paired by `plexus pair`.
type handset struct {
	t      *testing.T
	typed  io.Writer
	events chan event
}

func (d *daemon) phone(t *testing.T) *handset {
	t.Helper()
	file := filepath.Join(d.home, "invitation")
	if err := os.WriteFile(file, []byte(d.invite(t).text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := d.command(t, "phone", "--json", "--dial", d.Client, "--payload-file", file)
	typed, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &handset{t: t, typed: typed, events: make(chan event, 4096)}
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			var e event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Errorf("the phone printed %q: %v", lines.Text(), err)
			}
			h.events <- e
		}
		close(h.events)
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait() // killed
		if t.Failed() && complaints.Len() > 0 {
			t.Logf("the phone says: %s", &complaints)
		}
	})
	return h
}

// says types a line.
func (h *handset) says(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.typed, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// shows reads on to the next event of a kind that fits.
func (h *handset) shows(kind string, fits func(event) bool) event {
	h.t.Helper()
	late := time.After(commandLimit)
	for {
		select {
		case e, more := <-h.events:
			switch {
			case !more:
				h.t.Fatalf("the phone has ended before a %s that fits", kind)
			case e.Event == kind && fits(e):
				return e
			}
		case <-late:
			h.t.Fatalf("the phone never printed a %s that fits", kind)
		}
	}
}

func anyEvent(event) bool { return true }
