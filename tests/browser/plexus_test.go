package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/tests/program"
)

// plexus is a real host in a home of its own.
type plexus struct {
	t       *testing.T
	binary  string
	home    string
	process *exec.Cmd
	log     *bytes.Buffer
	nerve   string // the NERVE listen address; kept over a restart
	client  string // the same for phones
	at      hostfiles.RunInfo
}

// newPlexus builds the program and writes its configuration, without which there
// is no such file; it starts nothing.
func newPlexus(t *testing.T, config string) *plexus {
	t.Helper()
	home, err := os.MkdirTemp("", "plx") // short, because sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	p := &plexus{t: t, home: home, binary: filepath.Join(home, "plexus"), nerve: "127.0.0.1:0", client: "127.0.0.1:0"}
	if err := errors.Join(program.Sources(), program.Build(p.binary)); err != nil {
		t.Fatal(err)
	}
	if config != "" {
		if err := os.WriteFile(p.config(), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if p.process != nil {
			p.stop()
		}
	})
	return p
}

func (p *plexus) config() string { return filepath.Join(p.home, "config.toml") }

func (p *plexus) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, args...)
	cmd.Env = []string{"HOME=" + p.home, "LANG=en_US.UTF-8", "PATH=" + os.Getenv("PATH"), "PLEXUS_DATA_DIR=" + filepath.Join(p.home, "data"), "PLEXUS_CLIENT_ADDR=127.0.0.1:0", "PLEXUS_ADMIN_ADDR=127.0.0.1:0"}
	return cmd
}

// start runs the host and waits until it accepts connections.
func (p *plexus) start() {
	p.t.Helper()
	ready := filepath.Join(p.home, "ready.json")
	p.log = new(bytes.Buffer)
	p.process = p.command("serve", "--nerve-addr", p.nerve, "--client-addr", p.client, "--ready-file", ready)
	if _, err := os.Stat(p.config()); err == nil {
		p.process.Args = append(p.process.Args, "--config", p.config())
	}
	p.process.Stdout, p.process.Stderr = p.log, p.log
	if err := p.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	deadline := time.Now().Add(waitAtMost)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for ; time.Now().Before(deadline); <-ticker.C {
		text, err := os.ReadFile(ready)
		if err != nil {
			continue
		}
		if err := json.Unmarshal(text, &p.at); err != nil {
			p.t.Fatalf("ready file: %v\n%s", err, text)
		}
		p.nerve, p.client = p.at.Nerve, p.at.Client
		return
	}
	p.stop()
	p.t.Fatalf("the host never was ready:\n%s", p.log)
}

// stop ends the host as a service manager would and waits for it.
func (p *plexus) stop() {
	p.t.Helper()
	_ = p.process.Process.Signal(syscall.SIGTERM)
	if err := p.process.Wait(); err != nil {
		p.t.Errorf("the host ended with %v:\n%s", err, p.log)
	}
	p.process = nil
}

// run runs another command of the program and gives what it prints.
func (p *plexus) run(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("plexus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// token reads the host token.
func (p *plexus) token() string {
	p.t.Helper()
	text, err := os.ReadFile(strings.TrimSpace(p.run("token", "path")))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// stubModel is a chat completions endpoint whose stream a test feeds by hand.
type stubModel struct {
	*httptest.Server
	asked chan string       // the request's body, one per question
	gone  chan struct{}     // one per request that the host gave up
	say   chan string       // pieces of the answer; "" ends it
	fail  func(string) bool // whether to answer a body with 500
}

func newStubModel(t *testing.T) *stubModel {
	t.Helper()
	m := &stubModel{asked: make(chan string, 8), gone: make(chan struct{}, 8), say: make(chan string), fail: func(string) bool { return false }}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"data":[{"id":"stub"}]}`)
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

func (m *stubModel) complete(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	if m.fail(body.String()) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	m.asked <- body.String()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for {
		select {
		case <-r.Context().Done():
			m.gone <- struct{}{}
			return
		case piece := <-m.say:
			if piece == "" {
				_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
				return
			}
			text, _ := json.Marshal(piece)
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
			_ = flush.Flush()
		}
	}
}

func (m *stubModel) config() string {
	return fmt.Sprintf("language = \"en\"\n[model]\nkind = \"openai\"\nbase_url = %q\nname = \"stub\"\n", m.URL+"/v1")
}
