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
	if err := loopbackOnly("tcp", "192.0.2.1:80", nil); !errors.Is(err, ErrNotLoopback) {
		t.Errorf("a name that leads off this machine: %v", err)
	}
	if err := loopbackOnly("tcp6", "[::1]:80", nil); err != nil {
		t.Error(err)
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
