package localmodel

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"plexus/domain/admission"
	"plexus/ports"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const testKey = "sk-test-0123456789"

// testPrompt holds words that no error text may repeat.
var testPrompt = ports.Prompt{System: "Answer briefly.", User: "secret question"}

// reply is what a stub's handler writes with.
type reply struct {
	t *testing.T
	w http.ResponseWriter
}

// write sends raw bytes and flushes, so that they travel alone.
func (r reply) write(raw string) {
	if _, err := r.w.Write([]byte(raw)); err == nil {
		_ = http.NewResponseController(r.w).Flush() // the client may be gone: that is the test
	}
}

func (r reply) events(data ...string) {
	for _, d := range data {
		r.write("data: " + d + "\n\n")
	}
}

// content renders a chunk with this text.
func content(literal string) string {
	return `{"choices":[{"index":0,"delta":{"content":` + literal + `},"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// stubModel serves chat completions with script and gives a generator for it.
func stubModel(t *testing.T, script func(r reply, req *http.Request)) *Generator {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost || req.URL.Path != "/v1/chat/completions" {
			t.Errorf("got %s %s", req.Method, req.URL.Path)
		}
		script(reply{t, w}, req)
	}))
	t.Cleanup(server.Close)
	return newGenerator(t, Config{BaseURL: server.URL + "/v1", Model: "m", Key: admission.NewSecret(testKey)})
}

// stubBody serves one fixed reply body.
func stubBody(t *testing.T, body string) *Generator {
	t.Helper()
	return stubModel(t, func(r reply, _ *http.Request) { r.write(body) })
}

func newGenerator(t *testing.T, cfg Config) *Generator {
	t.Helper()
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// ask collects an answer and checks what holds for every one.
func ask(t *testing.T, ctx context.Context, g ports.Generator) (string, error) {
	t.Helper()
	var all strings.Builder
	err := g.Generate(ctx, testPrompt, func(text string) error {
		if text == "" || !utf8.ValidString(text) {
			t.Errorf("piece %q is empty or no UTF-8", text)
		}
		all.WriteString(text)
		return nil
	})
	if err != nil {
		for _, secret := range []string{testKey, "secret", "briefly", "Hello"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error text holds %q: %v", secret, err)
			}
		}
	}
	return all.String(), err
}

// rawModel answers a call with raw bytes; then, when wait returns, it closes the
// connection, by a reset if wait says so.
func rawModel(t *testing.T, raw string, wait func() (reset bool)) *Generator {
	t.Helper()
	return stubModel(t, func(r reply, req *http.Request) {
		drain(req)
		conn, _, err := http.NewResponseController(r.w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, raw); err != nil {
			return // the client has seen enough
		}
		if wait() {
			if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
				t.Error(err)
			}
		}
	})
}
