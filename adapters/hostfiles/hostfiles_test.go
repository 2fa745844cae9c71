package hostfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func places(goos string, env map[string]string) Paths {
	return Paths{OS: goos, Getenv: func(name string) string { return env[name] }}
}

func TestPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("absolute paths are spelled for unix here")
		return
	}
	home := map[string]string{"HOME": "/h"}
	xdg := map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_RUNTIME_DIR": "/r"}
	for _, tc := range []struct {
		name, os                    string
		env                         map[string]string
		data, config, socket, token string
	}{
		{"linux", "linux", home, "/h/.local/share/plexus", "/h/.config/plexus/config.toml", "/h/.local/share/plexus/nerve.sock", "/h/.anvesha/token"},
		{"linux with XDG", "linux", xdg, "/d/plexus", "/c/plexus/config.toml", "/r/plexus/nerve.sock", "/h/.anvesha/token"},
		{"relative XDG counts as unset", "linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "d"}, "/h/.local/share/plexus", "/h/.config/plexus/config.toml", "/h/.local/share/plexus/nerve.sock", "/h/.anvesha/token"},
		{"macOS", "darwin", home, "/h/Library/Application Support/Plexus", "/h/Library/Application Support/Plexus/config.toml", "/h/Library/Application Support/Plexus/nerve.sock", "/h/.anvesha/token"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := places(tc.os, tc.env)
			data, err1 := p.DataDir()
			config, err2 := p.ConfigFile()
			token, err3 := p.NerveToken()
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			for _, pair := range [][2]string{{data, tc.data}, {config, tc.config}, {p.NerveSocket(data), tc.socket}, {token, tc.token}} {
				if pair[0] != pair[1] {
					t.Errorf("got %s, want %s", pair[0], pair[1])
				}
			}
		})
	}
}

func TestPlaces_WithoutHomeIsAnErrorNotASharedFolder(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		p := places(goos, nil)
		_, err1 := p.DataDir()
		_, err2 := p.ConfigFile()
		_, err3 := p.NerveToken()
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, ErrNoHome) {
				t.Errorf("%s: got %v, want ErrNoHome", goos, err)
			}
		}
	}
}

func TestWriteFile_ReplacesAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two"} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Fatalf("got %q, %v", b, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "d"), []byte("x")); err == nil {
		t.Error("a file replaced a directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestRunFile_RoundTrip(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"/s", "/\xff\xfe", "/å", "/cut\xc3"} { // any bytes make a path
		want := RunInfo{PID: 7, Version: "v", Nerve: "127.0.0.1:9001", NerveSocket: path, AdminSocket: "/a", DataDir: "/data" + path}
		if err := WriteRun(filepath.Join(dir, RunName), want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRun(dir)
		if err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, RunName))
		if err != nil || strings.Contains(string(b), "_base64") == utf8.ValidString(path) {
			t.Errorf("the file of %q is %s, %v", path, b, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, RunName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(dir); err == nil {
		t.Error("half a run file was taken")
	}
}

// TestReadSecret: what is taken, and that each fault has a sentence of its own.
func TestReadSecret(t *testing.T) {
	write := func(content string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for _, tc := range []struct {
		name string
		make func(path string) error
		want string // the key, or
		says string // a part of the error
	}{
		{"line", write("abc-123\n"), "abc-123", ""},
		{"a byte order mark", write("\ufeffabc-123\n"), "abc-123", ""},
		{"CRLF and a scheme", write("Bearer abc-123\r\n"), "abc-123", ""},
		{"UTF-16", write("\xff\xfea\x00b\x00c\x00\r\x00\n\x00"), "abc", ""},
		{"the longest", write(strings.Repeat("k", maxSecretFile)), strings.Repeat("k", maxSecretFile), ""},
		{"empty", write(" \n"), "", "nothing in it"},
		{"two words", write("abc def"), "", "a blank"},
		{"two lines", write("abc\ndef\n"), "", "more than one line"},
		{"control character", write("abc\x00"), "", "its character 4"},
		{"too large", write(strings.Repeat("k", maxSecretFile+1)), "", "more than 4096 bytes"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, "", "is a folder"},
		{"nothing there", func(string) error { return nil }, "", "there is no file"},
		{"a device", func(path string) error { return os.Symlink(os.DevNull, path) }, "", "a device or a pipe"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			if err := tc.make(path); err != nil {
				t.Fatal(err)
			}
			secret, _, err := ReadSecret(path)
			if secret.Reveal() != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("got %q, %v", secret.Reveal(), err)
			}
			if err != nil && (strings.Contains(err.Error(), "abc") || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("the error is %v, want %q", err, tc.says)
			}
		})
	}
}

// TestUnreadable_SaysWhatToDo: root reads everything, so the sentence is tested alone.
func TestUnreadable_SaysWhatToDo(t *testing.T) {
	err := unreadable("/k", fs.ErrPermission)
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
}

func TestReadToken_TakesWhatTheHostTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token := strings.Repeat("0aB", 21) + "f"
	for content, taken := range map[string]bool{token: true, "\ufeff" + token + "\r\n": true, token[1:]: false} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadToken(path)
		if (err == nil) != taken || taken && got.Reveal() != strings.ToLower(token) {
			t.Errorf("%q: %v", content, err)
		}
	}
}
