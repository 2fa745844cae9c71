package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/tests/program"
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
		if r.Method == http.MethodGet { // a look, as status takes
			_, _ = fmt.Fprint(w, `{"data":[{"id":"stub"}]}`)
			return
		}
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
	o, err := program.Phone(d.dataDir(), d.Client, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	return o
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

// phone starts a `plexus phone --json`, paired by `plexus pair`.
func (d *daemon) phone(t *testing.T) *program.TerminalPhone {
	t.Helper()
	file := filepath.Join(d.home, "invitation")
	if err := os.WriteFile(file, []byte(d.invite(t).text), 0o600); err != nil {
		t.Fatal(err)
	}
	return program.StartTerminalPhone(t, d.command(t, "phone", "--json", "--dial", d.Client, "--payload-file", file))
}
