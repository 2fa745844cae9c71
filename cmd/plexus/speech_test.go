package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/adapters/adminapi"
	"plexus/domain/usecases/ask"
)

func TestConfig_SpeechDefaults(t *testing.T) {
	c, _, err := load(t, "", nil, nil)
	if err != nil || c.recognizer.kind != "none" || !c.recordBrowser || c.recordFrom != "" || c.topics != 5000 || c.topicDays != 365 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestConfig_RecognizerCommand(t *testing.T) {
	const file = "[recognizer]\nkind = \"command\"\ncommand = [\"whisper-cli\", \"-l\", \"a b\"]\n"
	origins := []string{"PLEXUS_ALLOW_ORIGIN=chrome-extension://a"}
	c, _, err := load(t, file, origins, nil)
	if want := []string{"whisper-cli", "-l", "a b"}; err != nil || !slices.Equal(c.recognizer.command, want) || len(c.allowedOrigins) != 1 {
		t.Errorf("got %q, %q, %v", c.recognizer.command, c.allowedOrigins, err)
	}
	c, _, err = load(t, file, append(origins, "PLEXUS_RECOGNIZER_COMMAND=listen --words a,b"), nil)
	if want := []string{"listen", "--words", "a,b"}; err != nil || !slices.Equal(c.recognizer.command, want) {
		t.Errorf("got %q, %v", c.recognizer.command, err)
	}
}

func TestConfig_RecognizerKey(t *testing.T) {
	const file = "[recognizer]\nkind = \"openai\"\nbase_url = \"https://s.example/v1\"\nname = \"w\"\n"
	c, warnings, err := load(t, file, []string{"PLEXUS_RECOGNIZER_API_KEY=from-env"}, nil)
	if err != nil || len(warnings) != 0 || c.recognizer.key.Reveal() != "from-env" {
		t.Errorf("got %q, %v, %v", c.recognizer.key.Reveal(), warnings, err)
	}
	if _, _, err := load(t, file+"api_key = \"inline\"\n", nil, nil); err == nil || strings.Contains(err.Error(), "inline") {
		t.Errorf("a key in the file: %v", err)
	}
}

func TestConfig_SpeechFaultsAllAtOnce(t *testing.T) {
	_, _, err := load(t, `
[recognizer]
kind = "whisper"
name = "w"
command = "whisper-cli"
model = "m"
allow_plain_http = 1
[conversations]
record_browser = "yes"
topics = 0
topic_days = 1.5
`, []string{"PLEXUS_RECOGNIZER_API_KEY=two words", "PLEXUS_CONVERSATIONS_TOPIC_DAYS=x"}, nil)
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{
		"recognizer.kind is", "recognizer.name or a recognizer key", "recognizer.command has to be a list of texts", "no setting recognizer.model",
		"recognizer.allow_plain_http has to be", "conversations.record_browser has to be", "conversations.topics is", "conversations.topic_days has to be",
		"PLEXUS_RECOGNIZER_API_KEY", "PLEXUS_CONVERSATIONS_TOPIC_DAYS",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "two words") {
		t.Error("the error repeats a key")
	}
	if _, _, err := load(t, "[recognizer]\ncommand = [\"w\"]\n", nil, nil); err == nil || !strings.Contains(err.Error(), "set it to command") {
		t.Errorf("a command without its kind: %v", err)
	}
}

// What the adapters refuse stands in the same list as every other fault.
func TestConfig_ServeListsFaultsOfTheRecognizer(t *testing.T) {
	for file, want := range map[string]string{
		"kind = \"openai\"\nbase_url = \"http://gpu.example/v1\"\n": "recognizer.kind openai: recognizer: base_url is plain http",
		"kind = \"command\"\n":                           "recognizer.kind command: recognizer: command is missing",
		"kind = \"command\"\ncommand = [\"./listen\"]\n": "full path",
	} {
		dir, environ := home(t)
		path := filepath.Join(dir, "c.toml")
		if err := os.WriteFile(path, []byte("language = \"fr\"\n[recognizer]\n"+file), 0o600); err != nil {
			t.Fatal(err)
		}
		got := plexus(t.Context(), environ, "serve", "--config", path)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "language") {
			t.Errorf("code %d, no %q in:\n%s", got.code, want, got.stderr)
		}
	}
}

// look gives what status, page and doctor are told of these settings.
func look(t *testing.T, r recognizerSettings, modelKind, modelURL string) adminapi.Recognizer {
	t.Helper()
	cfg := config{recognizer: r, modelKind: modelKind, modelURL: modelURL, modelName: "m"}
	s, err := buildServices(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close.close() })
	if (s.recognizer == nil) != (r.kind == "none") {
		t.Errorf("%s gives the recogniser %v", r.kind, s.recognizer)
	}
	i := &instance{opts: serveOptions{config: cfg}, services: s}
	got := i.recognizerStatus(t.Context())
	offer(&got, i.modelStatus(t.Context(), ask.Failure{}))
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
	_, model := modelServer(t, "m")
	here, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	service := recognizerSettings{kind: "openai", url: srv.URL + "/v1", name: "whisper-1"}
	away := recognizerSettings{kind: "openai", url: "http://127.0.0.1:1/v1", name: "whisper-1"}
	program := recognizerSettings{kind: "command", command: []string{here, "-x"}}
	missing := recognizerSettings{kind: "command", command: []string{"plexus-no-such-program"}}
	none := recognizerSettings{kind: "none"}
	for name, c := range map[string]struct {
		recognizer      recognizerSettings
		modelKind       string
		reach           adminapi.Reach
		text, dictation bool
		said            string // by plexus status
	}{
		"a service":              {service, "openai", adminapi.Reachable, true, true, "whisper-1, openai at " + srv.URL + "/v1: can be reached"},
		"a service that is away": {away, "openai", adminapi.Unreachable, true, true, "cannot be reached: "},
		"a program":              {program, "openai", adminapi.Reachable, true, true, filepath.Base(here) + ": can be used"},
		"a program not here":     {missing, "openai", adminapi.Unreachable, true, true, "cannot be used: the command is not in PATH"},
		"none":                   {none, "openai", adminapi.Off, true, false, "only when dictation works. To switch it on"},
		"no model":               {program, "extractive", adminapi.Reachable, false, false, "neither text nor dictation, because there is no model"},
		"neither":                {none, "none", adminapi.Off, false, false, "because there is no model"},
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
			if text := statusText(adminapi.Status{Recognizer: got}, time.Now()); !strings.Contains(text, c.said) {
				t.Errorf("no %q in:\n%s", c.said, text)
			}
		})
	}
}

// The lines that are shown are lines that work.
func TestDictationConfig_CanBeTaken(t *testing.T) {
	c, _, err := load(t, dictationConfig, nil, nil)
	if err != nil || c.recognizer.kind != "command" {
		t.Fatalf("got %+v, %v", c.recognizer, err)
	}
	if _, err := buildServices(config{recognizer: c.recognizer}, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// What a host that was killed has left of a dictation goes at the next start,
// also when nothing recognises any more.
func TestSpeechThatWasLeftGoesAtTheStart(t *testing.T) {
	dir, environ := home(t)
	data := filepath.Join(dir, "data")
	left := filepath.Join(data, "speech", "1", "speech.wav")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("RIFF"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := httptest.NewServer(nil) // the host gets no further than to its listeners
	defer taken.Close()
	got := plexus(t.Context(), environ, "serve", "--nerve-addr", taken.Listener.Addr().String())
	if _, err := os.Stat(filepath.Join(data, "speech")); got.code == exitDone || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("code %d, %v:\n%s", got.code, err, got.stderr)
	}
}
