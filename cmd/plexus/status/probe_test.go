package status

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
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
		"a service that is away": {away, "openai", Unreachable, true, true, "cannot be reached: "},
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
