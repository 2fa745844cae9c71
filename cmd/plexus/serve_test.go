package main

import (
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfig_ServeListsFaultsOfServicesToo(t *testing.T) {
	dir, environ := home(t)
	path := filepath.Join(dir, "c.toml")
	const file = "language = \"fr\"\n[search]\nkind = \"anvesha\"\nurl = \"ftp://a.example\"\n[model]\nkind = \"openai\"\nbase_url = \"http://gpu.example/v1\"\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got := plexus(t.Context(), environ, "serve", "--config", path)
	if got.code != exitUsage {
		t.Errorf("exit code %d", got.code)
	}
	for _, want := range []string{"language", "search.url", "allow_plain_http", "name is missing"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("nothing about %s in:\n%s", want, got.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		t.Error("a bad configuration made a data directory")
	}
}

func TestConfig_NoHomeSaysWhichFlagHelps(t *testing.T) {
	for _, tc := range []struct{ environ, want string }{
		{"", "--data-dir"},
		{"PLEXUS_DATA_DIR=/d", "--config"},
		{"PLEXUS_DATA_DIR=/d PLEXUS_CONFIG=" + os.DevNull, "--nerve-token-file"},
	} {
		got := plexus(t.Context(), strings.Fields(tc.environ), "serve")
		if got.code == exitDone || !strings.Contains(got.stderr, "no home directory: set HOME, or name the") || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("%q: code %d, %s", tc.environ, got.code, got.stderr)
		}
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
