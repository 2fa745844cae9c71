package status

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/localmodel"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
	"plexus/domain/admission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// look gives what status, page and doctor are told of these settings.
func look(t *testing.T, r config.Recognizer, modelKind, modelURL string) Recognizer {
	t.Helper()
	cfg := config.Config{Recognizer: r, Model: config.Model{Kind: modelKind, BaseURL: modelURL, Name: "m"}}
	s, err := services.Build(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if (s.Recognizer == nil) != (r.Kind == "none") {
		t.Errorf("%s gives the recognizer %v", r.Kind, s.Recognizer)
	}
	_, got := ProbeSpeech(t.Context(), cfg, s)
	return got
}

func TestRecognizer_IsLookedAt(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet || req.URL.Path != "/v1/models" {
			t.Errorf("got %s %s", req.Method, req.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[]}`)
	}))
	defer srv.Close()
	model := srv.URL + "/v1"
	here, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	service := config.Recognizer{Kind: "openai", BaseURL: srv.URL + "/v1", Name: "whisper-1"}
	away := config.Recognizer{Kind: "openai", BaseURL: "http://127.0.0.1:1/v1", Name: "whisper-1"}
	program := config.Recognizer{Kind: "command", Command: []string{here, "-x"}}
	missing := config.Recognizer{Kind: "command", Command: []string{"plexus-no-such-program"}}
	none := config.Recognizer{Kind: "none"}
	for name, c := range map[string]struct {
		recognizer      config.Recognizer
		modelKind       string
		reach           Reach
		text, dictation bool
		said            string // by plexus status
	}{
		"a service":              {service, "openai", Reachable, true, true, "whisper-1, openai at " + srv.URL + "/v1: can be reached"},
		"a service that is away": {away, "openai", Unreachable, true, true, "cannot be used: "},
		"a program":              {program, "openai", Reachable, true, true, filepath.Base(here) + ": can be used"},
		"a program not here":     {missing, "openai", Unreachable, true, true, "cannot be used: the command is not in PATH"},
		"none":                   {none, "openai", Off, true, false, "only when dictation works. To switch it on"},
		"no model":               {program, "extractive", Reachable, false, false, "neither text nor dictation, because there is no model"},
		"neither":                {none, "none", Off, false, false, "because there is no model"},
	} {
		t.Run(name, func(t *testing.T) {
			url := ""
			if c.modelKind == "openai" {
				url = model
			}
			got := look(t, c.recognizer, c.modelKind, url)
			if got.Reach != c.reach || got.TextInput != c.text || got.Dictation != c.dictation || (got.Config != "") != (c.text && !c.dictation) {
				t.Errorf("got %+v", got)
			}
			if text := Text(Report{Recognizer: got}, time.Now()); !strings.Contains(text, c.said) {
				t.Errorf("no %q in:\n%s", c.said, text)
			}
		})
	}
}

// The lines that are shown are lines that work.
func TestDictationConfig_CanBeTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(dictationConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Read(cli.Env{}, t.TempDir(), path, map[string][]string{"nerve-token-file": {"/token"}})
	if err != nil || c.Recognizer.Kind != "command" {
		t.Fatalf("got %+v, %v", c.Recognizer, err)
	}
	if _, err := services.Build(config.Config{Recognizer: c.Recognizer}, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// A look at the model asks as a question does: by the same client and key, whatever the
// address was pasted with.
func TestModel_IsLookedAt(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path != "/v1/models":
			w.WriteHeader(http.StatusNotFound)
		case req.Header.Get("Authorization") != "Bearer k-1":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":"no","code":"invalid_api_key"}}`)
		default:
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		}
	}))
	defer srv.Close()
	for name, c := range map[string]struct {
		url, model, key string
		reach           Reach
		said            string
	}{
		"right":            {srv.URL + "/v1", "m", "k-1", Reachable, "m, openai at " + srv.URL + "/v1: can be reached\n"},
		"pasted whole":     {srv.URL + "/v1/chat/completions", "m", "k-1", Reachable, "can be reached\n"},
		"without /v1":      {srv.URL, "m", "k-1", Unreachable, "cannot be used: the base URL lacks /v1 at its end: set base_url to " + srv.URL + "/v1"},
		"an unknown model": {srv.URL + "/v1", "other", "k-1", Reachable, `can be reached; questions may fail: the server lists no model "other"; it has m`},
		"a wrong key":      {srv.URL + "/v1", "m", "k-2", Unreachable, "cannot be used: asking for its models: status 401 (invalid_api_key): no"},
		"nobody":           {"http://127.0.0.1:1/v1", "m", "", Unreachable, "cannot be used: asking for its models: dial tcp 127.0.0.1:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Config{Recognizer: config.Recognizer{Kind: "none"}, Model: config.Model{Kind: "openai", BaseURL: c.url, Name: c.model, Key: admission.NewSecret(c.key)}}
			s, err := services.Build(cfg, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got, speech := ProbeSpeech(t.Context(), cfg, s)
			if text := Text(Report{Model: got}, time.Now()); got.Reach != c.reach || !speech.TextInput || !strings.Contains(text, c.said) {
				t.Errorf("got %+v; no %q in:\n%s", got, c.said, text)
			}
		})
	}
}

// Where no model of this machine chats, everybody is told so, and phones are offered no
// text.
func TestModel_NoneChats(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"all-minilm:latest"},{"id":"bge-m3:latest"}]}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"does not support chat","type":"invalid_request_error","code":null}}`)
	}))
	defer srv.Close()
	auto, err := localmodel.NewAuto(localmodel.AutoConfig{
		Candidates: []localmodel.Candidate{{Server: "Ollama", Port: srv.Listener.Addr().(*net.TCPAddr).Port}}, Now: time.Now,
		IsOurs: func(int) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer auto.Close()
	local := &services.LocalModel{Auto: auto}
	cfg := config.Config{Recognizer: config.Recognizer{Kind: "none"}, Model: config.Model{Kind: "auto"}}
	if local.Available() { // which a phone's hello asks
		t.Error("phones are offered text")
	}
	m, speech := ProbeSpeech(t.Context(), cfg, &services.Services{Model: local, Local: local})
	if m.Reach != NotFound || len(m.PassedOver) != 2 || len(m.Found) != 0 || speech.TextInput {
		t.Errorf("got %+v, %+v", m, speech)
	}
	text := Text(Report{Model: m, Recognizer: speech}, time.Now())
	for _, want := range []string{"none on this machine chats: answers quote the page", "because there is no model",
		"bge-m3:latest (Ollama) is passed over, since it does not chat: status 400 (invalid_request_error): does not support chat"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	page := Report{Model: m}.Overview()
	if len(page.PassedOver) != 2 || page.MorePassedOver != 0 {
		t.Errorf("the page gets %+v", page)
	}
}
