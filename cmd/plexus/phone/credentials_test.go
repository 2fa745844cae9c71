package phone

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCredentials_AsEditorsWriteThem: a byte order mark and UTF-16 are passed over, in
// what the phone keeps and in an invitation that was saved.
func TestCredentials_AsEditorsWriteThem(t *testing.T) {
	const kept = `{"version":1,"server":"wss://box.tail1234.ts.net","token":"` + phoneToken + `","device_id":"6f1a4f6e-7a29-4d3b-9e6b-1f2a3b4c5d6e"}`
	wide := "\xff\xfe" + strings.Join(strings.Split(kept, ""), "\x00") + "\x00"
	for _, content := range []string{kept, "\ufeff" + kept + "\r\n", wide} {
		path := filepath.Join(t.TempDir(), "phone.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := readCredentials(path); err != nil || c.token.Reveal() != phoneToken {
			t.Errorf("%q: %v", content[:3], err)
		}
		if got, err := readPayload(path, nil); err != nil || strings.TrimSpace(string(got)) != kept {
			t.Errorf("%q: the invitation reads %q, %v", content[:3], got, err)
		}
	}
	if got, err := readPayload("-", bufio.NewReader(strings.NewReader("\ufeff"+kept+"\r\nmore"))); err != nil || string(got) != kept {
		t.Errorf("typed: %q, %v", got, err)
	}
	for name, prepare := range map[string]func(path string) error{
		"regular file":    func(path string) error { return os.Mkdir(path, 0o700) },
		"more than 4096 ": func(path string) error { return os.WriteFile(path, make([]byte, maxCredentials+1), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "phone.json")
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		if _, err := readCredentials(path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
