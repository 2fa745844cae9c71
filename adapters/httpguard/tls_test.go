package httpguard

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// plain is a server behind WithoutTLS, and how often that noticed something.
func plain(t *testing.T) (addr string, noticed *atomic.Int32) {
	t.Helper()
	noticed = &atomic.Int32{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	s.Listener = WithoutTLS(s.Listener, func() { noticed.Add(1) })
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), noticed
}

func TestWithoutTLS_EndsAHandshakeAndNotices(t *testing.T) {
	addr, noticed := plain(t)
	for version := uint16(tls.VersionTLS10); version <= tls.VersionTLS13; version++ {
		_, err := tls.Dial("tcp", addr, &tls.Config{ServerName: "localhost", MinVersion: tls.VersionTLS10, MaxVersion: version})
		if err == nil {
			t.Fatal("a handshake went through")
		}
	}
	if got := noticed.Load(); got != 4 {
		t.Errorf("%d were noticed, want 4", got)
	}
}

// TestWithoutTLS_SeesOnlyTheFirstBytes: whatever they come in, and never a later one.
func TestWithoutTLS_SeesOnlyTheFirstBytes(t *testing.T) {
	addr, noticed := plain(t)
	for _, c := range []struct {
		name   string
		pieces []string
		tls    bool
	}{
		{"a record in one piece", []string{"\x16\x03\x01\x02\x00\x01"}, true},
		{"byte by byte", []string{"\x16", "\x03", "\x01"}, true},
		{"another version", []string{"\x16\x04\x01"}, false},
		{"an alert", []string{"\x15\x03\x01\x00\x02"}, false},
		{"a request", []string{"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\n", "\x16\x03\x01"}, false},
		{"a letter at a time", []string{"G", "E", "T / HTTP/1.0\r\n\r\n"}, false},
		{"nothing", nil, false},
	} {
		before := noticed.Load()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range c.pieces {
			if _, err := io.WriteString(conn, piece); err != nil && !c.tls {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(conn) // what is refused may be reset
		_ = conn.Close()
		if got := noticed.Load() > before; got != c.tls {
			t.Errorf("%s: noticed %v", c.name, got)
		}
		if c.tls && len(answer) > 0 {
			t.Errorf("%s: answered %q", c.name, answer)
		}
		if c.name == "a request" && !strings.HasSuffix(string(answer), "\x16\x03\x01") {
			t.Errorf("the body came back as %q", answer)
		}
	}
}
