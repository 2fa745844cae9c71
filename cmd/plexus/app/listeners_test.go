package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/cmd/plexus/config"
)

// TestTLSNotice_OneLineAMinute: ten tries in a row leave one line, and what a later
// one stands for is counted.
func TestTLSNotice_OneLineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		noticed := tlsNotice(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9001}, slog.New(slog.NewTextHandler(&log, nil)))
		for range 10 {
			noticed()
		}
		time.Sleep(time.Minute)
		noticed()
		if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "times=1 ") || !strings.Contains(got, "times=10 ") || !strings.Contains(got, "http://") {
			t.Errorf("logged %s", got)
		}
	})
}

// TestListeners_EachNoticesTLS: whichever TCP listener it is, a handshake is not
// answered and leaves a line, and the next request is served.
func TestListeners_EachNoticesTLS(t *testing.T) {
	var log syncBuffer
	var done closers
	free := netip.MustParseAddrPort("127.0.0.1:0")
	l, err := openListeners(context.Background(), config.Listen{Nerve: free, Admin: free, Client: free}, t.TempDir(), false, slog.New(slog.NewTextHandler(&log, nil)), &done)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	defer func() { _ = s.Close() }() // and the listeners
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, one := range []net.Listener{l.admin, l.nerve, l.client} {
		serving.Go(func() { _ = s.Serve(one) }) // until Close
		addr := one.Addr().String()
		for range 3 {
			if _, err := tls.Dial("tcp", addr, &tls.Config{ServerName: "localhost"}); err == nil {
				t.Fatal("a handshake went through")
			}
		}
		resp, err := client.Get("http://" + addr + "/")
		if err != nil {
			t.Fatalf("afterwards: %v", err)
		}
		_ = resp.Body.Close() // empty
		if got := log.String(); strings.Count(got, "address="+addr) != 1 {
			t.Errorf("one line about %s is missing: %s", addr, got)
		}
	}
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
