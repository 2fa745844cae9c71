package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/nerveclient"
	"plexus/domain/framing"
)

func TestAsk_StreamsTheExtractiveAnswer(t *testing.T) {
	d := newPlace(t, extractive).serve(t)
	// The words of README.md.
	const extract = "The tower was begun in 1887. It opened in May 1889. Many people came when it opened."
	got := d.plexus(t, "ask", "When did it open?", "--url", "https://example.org/tower", "--title", "The tower", "--extract", extract)
	const want = "It opened in May 1889. [page] Many people came when it opened. [page]"
	if got.code != 0 || strings.TrimSpace(got.stdout) != want || got.stderr != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
	client, err := nerveclient.DialWebSocket(t.Context(), "ws://"+d.Nerve, nerveclient.Options{Token: d.token(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() // the test is over
	pieces := 0
	err = client.Ask(t.Context(), framing.SearchQuery{
		Query: "When did it open?", Search: true, MaxResults: 5,
		Context: framing.PageContext{URL: "https://example.org/tower", Title: "The tower", Extract: extract},
	}, nerveclient.Receiver{Token: func(text string, _ bool) {
		if text != "" {
			pieces++
		}
	}})
	if err != nil || pieces < 2 {
		t.Errorf("%d pieces, %v; want at least two", pieces, err)
	}
}

// stubModel is an OpenAI-compatible endpoint that says its pieces and then
// waits until the caller is gone.
type stubModel struct {
	*httptest.Server
	asked chan struct{} // a request has been read
	gone  chan struct{} // its caller has hung up
}

func newStubModel(t *testing.T, pieces ...string) *stubModel {
	t.Helper()
	m := &stubModel{asked: make(chan struct{}, 8), gone: make(chan struct{}, 8)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if len(pieces) > 0 {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, piece := range pieces {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece)
			}
			_ = http.NewResponseController(w).Flush() // the caller may be gone
		}
		m.asked <- struct{}{}
		<-r.Context().Done()
		m.gone <- struct{}{}
	}))
	t.Cleanup(m.Close)
	return m
}

// configure writes the configuration that uses the stub.
func (p place) configure(t *testing.T, toml string) string {
	t.Helper()
	path := filepath.Join(p.home, "config.toml")
	if err := os.WriteFile(path, []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func modelConfig(url string) string {
	return fmt.Sprintf("[model]\nkind = \"openai\"\nbase_url = \"%s/v1\"\nname = \"stub\"\n", url)
}

// Ctrl-C ends the request at the model, wherever its answer stands.
func TestAsk_CtrlCEndsTheUpstreamRequest(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pieces []string
	}{
		{"before the first byte", nil},
		{"in the middle of the answer", []string{"The first ", "words"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			model := newStubModel(t, tc.pieces...)
			p := newPlace(t)
			d := p.serve(t, "--config", p.configure(t, modelConfig(model.URL)))
			cmd := d.command(t, "ask", "When did it open?", "--no-search", "--extract", "It opened in 1889.")
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-model.asked
			read := bufio.NewReader(stdout)
			for _, piece := range tc.pieces { // they are on the screen before the answer is whole
				got := make([]byte, len(piece))
				if _, err := io.ReadFull(read, got); err != nil || string(got) != piece {
					t.Fatalf("read %q, %v", got, err)
				}
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, read)
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("ended with %v, want exit code 130\n%s", err, stderr.String())
			}
			select {
			case <-model.gone:
			case <-time.After(5 * time.Second):
				t.Error("the model is still being asked")
			}
		})
	}
}

// A model that stops at its limit has not answered completely.
func TestD19_AskFailsWhereTheModelWasCut(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Half an\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer model.Close()
	p := newPlace(t)
	d := p.serve(t, "--config", p.configure(t, modelConfig(model.URL)))
	got := d.plexus(t, "ask", "x", "--no-search")
	if got.code != 1 || !strings.HasPrefix(got.stdout, "Half an\n\n[The answer was cut at the model's limit.]") {
		t.Errorf("got %+v", got)
	}
}

// A model that breaks off is no complete answer.
func TestAsk_InterruptedAnswerFails(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Half an\"}}]}\n\n")
	}))
	defer model.Close()
	p := newPlace(t)
	d := p.serve(t, "--config", p.configure(t, modelConfig(model.URL)))
	got := d.plexus(t, "ask", "x", "--no-search")
	if got.code != 1 || !strings.HasPrefix(got.stdout, "Half an\n\n[The answer was interrupted.]") {
		t.Errorf("got %+v", got)
	}
	if got := d.plexus(t, "status"); !strings.Contains(got.stdout, "stub, openai at") || !strings.Contains(got.stdout, "failed 1 time") {
		t.Errorf("status:\n%s", got.stdout)
	}
}

// Where nothing says a language, the command line and browsers get English (decision
// G16); phones speak Chinese there, which is no business of theirs.
func TestG16_AskSpeaksEnglishWhereNothingSaysALanguage(t *testing.T) {
	for environ, want := range map[string]string{
		"LANG=C": "[The model did not answer.]", "LANG=": "[The model did not answer.]", "LANG=zh_CN.UTF-8": "[模型没有应答。]",
	} {
		p := newPlace(t, environ)
		d := p.serve(t, "--config", p.configure(t, modelConfig("http://127.0.0.1:9")))
		if got := d.plexus(t, "ask", "x", "--no-search"); !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %+v, want %s", environ, got, want)
		}
	}
}
