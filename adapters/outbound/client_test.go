package outbound

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Proxies of the environment would carry what is for this machine elsewhere.
func TestNewClient_LoopbackUsesNoProxy(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.9.9.9": true, "[::1]": true, "[::ffff:127.0.0.1]": true,
		"localhost.example.org": false, "10.0.0.1": false, "127.0.0.1.example.org": false,
	} {
		base, err := url.Parse("http://" + host + ":1/v1")
		if err != nil {
			t.Fatal(err)
		}
		if got := NewClient(base, nil).Transport.(*http.Transport).Proxy == nil; got != want {
			t.Errorf("%s: no proxy %v; want %v", host, got, want)
		}
	}
}

func TestNewClient_LoopbackDialsThisMachineAlone(t *testing.T) {
	base, err := url.Parse("http://localhost/v1")
	if err != nil {
		t.Fatal(err)
	}
	// As if the name had led there: 192.0.2.0/24 is nobody's.
	resp, err := NewClient(base, nil).Get("http://192.0.2.1/v1")
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, ErrNotLoopback) || !errors.Is(Cause(err), ErrNotLoopback) {
		t.Errorf("a name that leads off this machine: %v", err)
	}
	if err := loopbackOnly("tcp6", "[::1]:80", nil); err != nil {
		t.Error(err)
	}
}

func TestParseBase(t *testing.T) {
	for raw, want := range map[string]string{ // in the error; "": accepted
		"https://api.example.org/v1":  "",
		"http://127.0.0.1:8000/v1":    "",
		"http://localhost:8000":       "",
		"http://192.0.2.1/hunter2":    "allow_plain_http",
		"ftp://api.example/hunter2":   "https://",
		"":                            "no URL",
		"hunter2":                     "no URL",
		"https://hunter2@x/v1":        "no user",
		"https://x/v1?key=hunter2":    "query",
		"https://x/v1?":               "query",
		"https://x/v1#hunter2":        "fragment",
		"http://\x7f.example/hunter2": "no URL",
	} {
		_, err := ParseBase(raw, "chat/completions", false)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%q gives %v; want %q and no secret", raw, err, want)
		}
	}
	if _, err := ParseBase("http://192.0.2.1/v1", "chat/completions", true); err != nil {
		t.Errorf("plain http that is allowed: %v", err)
	}
}

func TestParseBase_TakesWhatPeoplePaste(t *testing.T) {
	for raw, want := range map[string]string{
		" https://api.example.org/v1\t\n":                     "https://api.example.org/v1",
		"https://api.example.org/v1/chat/completions":         "https://api.example.org/v1",
		"https://api.example.org/v1/chat/completions/ ":       "https://api.example.org/v1",
		"https://api.example.org/chat/completions":            "https://api.example.org",
		"https://api.example.org/chat/completions/v1":         "https://api.example.org/chat/completions/v1",
		"https://api.example.org/v1/mychat/completions":       "https://api.example.org/v1/mychat/completions",
		"https://api.example.org/v1/chat/completions?key=abc": "",
	} {
		got, err := ParseBase(raw, "chat/completions", false)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%q gives %v, %v; want %q", raw, got, err, want)
		}
	}
}

func TestNewClient_FollowsNoRedirect(t *testing.T) {
	s := httptest.NewServer(http.RedirectHandler("https://example.org/", http.StatusTemporaryRedirect))
	defer s.Close()
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := NewClient(base, nil).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("the redirect was followed to a %d", resp.StatusCode)
	}
}

func TestBounded(t *testing.T) {
	tooBig := errors.New("too big")
	if b, err := io.ReadAll(Bounded(strings.NewReader("12345"), 5, tooBig)); err != nil || string(b) != "12345" {
		t.Errorf("at the bound: %q, %v", b, err)
	}
	if _, err := io.ReadAll(Bounded(strings.NewReader("123456"), 5, tooBig)); !errors.Is(err, tooBig) {
		t.Errorf("beyond it: %v", err)
	}
}
