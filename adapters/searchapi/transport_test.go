package searchapi_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/searchapi"
	"plexus/domain/admission"
	"plexus/ports"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

const emptyAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"results\":[]}"

// lineService plays raw connections: script says, per connection, what follows
// each request. Whatever is not a whole answer closes the connection after it.
type lineService struct {
	script   [][]string
	dials    atomic.Int32
	requests atomic.Int32
}

func (s *lineService) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go s.play(theirs, s.script[s.dials.Add(1)-1])
	return ours, nil
}

func (s *lineService) play(conn net.Conn, answers []string) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for _, text := range answers {
		if _, err := http.ReadRequest(reader); err != nil {
			return
		}
		s.requests.Add(1)
		if _, err := io.WriteString(conn, text); err != nil || text != emptyAnswer {
			return
		}
	}
	_, _ = io.Copy(io.Discard, reader)
}

func TestU3_BrokenKeptConnectionIsRetriedOnce(t *testing.T) {
	tests := []struct {
		name            string
		script          [][]string // the first answer of the first connection is for a search before
		dials, requests int32
		text            string // of the failure; "": none
	}{
		{"kept connection broke", [][]string{{emptyAnswer, ""}, {emptyAnswer}}, 2, 3, ""},
		{"and the new one too", [][]string{{emptyAnswer, ""}, {""}, {emptyAnswer}}, 2, 3, "broke off"},
		{"after a byte came back", [][]string{{emptyAnswer, "HTTP/1.1 2"}, {emptyAnswer}}, 1, 2, "exchange failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &lineService{script: tt.script}
				cfg, _ := config("http://127.0.0.1:3000")
				cfg.Dial = s.dial
				p := newAnvesha(t, cfg)
				if _, err := search(t.Context(), p, "a"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // the connection is back in the pool
				if tt.text != "" {
					failed(t, p, tt.text)
				} else if _, err := search(t.Context(), p, "a"); err != nil {
					t.Error(err)
				}
				if s.dials.Load() != tt.dials || s.requests.Load() != tt.requests {
					t.Errorf("%d connections, %d requests; want %d and %d", s.dials.Load(), s.requests.Load(), tt.dials, tt.requests)
				}
			})
		})
	}
	t.Run("a new connection is not retried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &lineService{script: [][]string{{""}, {emptyAnswer}}}
			cfg, _ := config("http://127.0.0.1:3000")
			cfg.Dial = s.dial
			failed(t, newAnvesha(t, cfg), "broke off")
			if s.requests.Load() != 1 {
				t.Errorf("%d requests", s.requests.Load())
			}
		})
	})
}

func TestU3_RetryLeavesDeadConnectionsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s := &lineService{script: [][]string{{emptyAnswer, ""}, {emptyAnswer, ""}, {emptyAnswer}}}
		cfg, _ := config("http://127.0.0.1:3000")
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			<-hold // both searches are under way before either has a connection
			return s.dial(ctx, network, address)
		}
		p := newAnvesha(t, cfg)
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := search(t.Context(), p, "a")
				done <- err
			}()
		}
		synctest.Wait()
		close(hold)
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if _, err := search(t.Context(), p, "a"); err != nil {
			t.Error(err)
		}
		if s.dials.Load() != 3 || s.requests.Load() != 4 {
			t.Errorf("%d connections, %d requests; want one retry, on a third connection", s.dials.Load(), s.requests.Load())
		}
	})
}

func TestU3_SlowServiceIsCutOff(t *testing.T) {
	silent := func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = io.Copy(io.Discard, theirs)
			_ = theirs.Close()
		}()
		return ours, nil
	}
	tests := []struct {
		name, address string
		dial          func(context.Context, string, string) (net.Conn, error)
		after         time.Duration
		text          string
	}{
		{"TCP", "http://127.0.0.1", func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, 2 * time.Second, "no connection in time"},
		{"TLS", "https://search.example", silent, 2 * time.Second, "no connection in time"},
		{"first byte", "http://127.0.0.1", silent, 8 * time.Second, "did not answer in time"},
		{"body", "http://127.0.0.1", drip, 8 * time.Second, "did not answer in time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, _ := config(tt.address)
				cfg.Dial = tt.dial
				start := time.Now()
				failed(t, newAnvesha(t, cfg), tt.text)
				if took := time.Since(start); took != tt.after {
					t.Errorf("gave up after %v; want %v", took, tt.after)
				}
			})
		})
	}
	t.Run("while warming", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg, _ := config("http://127.0.0.1")
			cfg.Dial = silent
			start := time.Now()
			err := newAnvesha(t, cfg).Warm(t.Context())
			if took := time.Since(start); !errors.Is(err, ports.ErrSearchUnavailable) || took != 8*time.Second {
				t.Errorf("got %v after %v", err, took)
			}
		})
	})
	t.Run("limits of one's own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg, _ := config("http://127.0.0.1")
			cfg.Dial, cfg.Timeout = silent, 300*time.Millisecond
			start := time.Now()
			failed(t, newAnvesha(t, cfg), "did not answer in time")
			if took := time.Since(start); took != cfg.Timeout {
				t.Errorf("gave up after %v", took)
			}
		})
	})
}

// drip sends one blank a second of the test's fake time and never ends by itself.
func drip(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		defer func() { _ = theirs.Close() }()
		reader := bufio.NewReader(theirs)
		if _, err := http.ReadRequest(reader); err != nil {
			return
		}
		hungUp := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, reader)
			close(hungUp)
		}()
		text := "HTTP/1.1 200 OK\r\n\r\n"
		for {
			if _, err := io.WriteString(theirs, text); err != nil {
				return
			}
			text = " "
			select {
			case <-time.After(time.Second):
			case <-hungUp:
				return
			}
		}
	}()
	return ours, nil
}

func TestConnectionsAreKeptAndHTTP2IsSpoken(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(name, func(t *testing.T) {
			var dials atomic.Int32
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != name {
					t.Errorf("spoke %s", r.Proto)
				}
				anveshaStub{key: testKey, hits: 1}.ServeHTTP(w, r)
			}))
			s.EnableHTTP2 = http2
			s.StartTLS()
			defer s.Close()
			cfg, _ := config(s.URL)
			cfg.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			cfg.Dial = countDials(&dials)
			p := newAnvesha(t, cfg)
			for range 5 {
				if got, err := search(t.Context(), p, "a"); err != nil || len(got) != 1 {
					t.Fatalf("got %v, %v", got, err)
				}
			}
			if dials.Load() != 1 {
				t.Errorf("%d connections for five searches", dials.Load())
			}
		})
	}
}

func mustFail(t *testing.T, cfg searchapi.Config) error {
	t.Helper()
	_, err := searchapi.NewAnvesha(cfg)
	if err == nil {
		t.Fatal("accepted")
	}
	return err
}

func TestConfigErrorsNameTheSetting(t *testing.T) {
	tests := []struct{ name, address, key, text string }{
		{"no address", "", "", "search.url: missing"},
		{"no scheme", "search.example", "", "search.url: not a full address"},
		{"no host", "https:///x", "", "search.url: not a full address"},
		{"opaque", "https:search.example", "", "search.url: not a full address"},
		{"broken", "https://[::1", "", "search.url: not a full address"},
		{"other scheme", "ftp://search.example", "", "search.url: must begin with https"},
		{"http to another host", "http://search.example", "", "search.url: http is for services on this machine"},
		{"http to a look-alike", "http://127.0.0.1.example", "", "search.url: http is for services on this machine"},
		{"http to all addresses", "http://0.0.0.0", "", "search.url: http is for services on this machine"},
		{"user", "https://me@search.example", "", "search.url: must not hold a user"},
		{"query", "https://search.example/?a=b", "", "search.url: must not hold a query"},
		{"bare question mark", "https://search.example/?", "", "search.url: must not hold a query"},
		{"fragment", "https://search.example/#a", "", "search.url: must not hold a query or fragment"},
		{"key with a line break", "https://search.example", "a\nb", "search.api_key_file"},
		{"key with a blank at its end", "https://search.example", "a ", "search.api_key_file"},
		{"key with an umlaut", "https://search.example", "ä", "search.api_key_file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, _ := config(tt.address)
			cfg.Key = admission.NewSecret(tt.key)
			if err := mustFail(t, cfg); !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %q; want %q", err, tt.text)
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		err := mustFail(t, searchapi.Config{Timeout: -1})
		for _, text := range []string{"search.url", "logger", "clock", "negative"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q misses %q", err, text)
			}
		}
	})
	for _, good := range []string{
		"https://search.example", "https://search.example:8443/a/b/", "http://localhost:3000",
		"http://127.8.9.1", "http://[::1]:3000", "http://[::ffff:127.0.0.1]:3000",
	} {
		t.Run(good, func(t *testing.T) {
			cfg, _ := config(good)
			newAnvesha(t, cfg)
		})
	}
}
