package searchapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plexus/domain/admission"
	"plexus/ports"
)

// failed asks once and checks that it is a failure with this text.
func failed(t *testing.T, p ports.SearchProvider, text string) {
	t.Helper()
	got, err := search(t.Context(), p, `c++ "query`)
	if !errors.Is(err, ports.ErrSearchUnavailable) || got != nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, %v; want a failure that says %q", got, err, text)
	}
}

func TestU3_UnusableAnswer(t *testing.T) {
	const bad = "not the JSON it should be"
	tests := []struct{ name, body, text string }{
		{"empty", "", bad},
		{"garbage", "\x00\x01\x02", bad},
		{"HTML", "<!doctype html><title>Sign in</title>", bad},
		{"cut off", `{"results":[{"url":"https://a.example"`, bad},
		{"two values", `{"results":[]}{"results":[]}`, bad},
		{"bare array", `[]`, bad},
		{"null", `null`, bad},
		{"no results member", `{"took_ms":1}`, bad},
		{"results null", `{"results":null}`, bad},
		{"results a string", `{"results":"none"}`, bad},
		{"url a number", `{"results":[{"url":1}]}`, bad},
		{"title an object", `{"results":[{"url":"https://a.example","title":{}}]}`, bad},
		{"score a string", `{"results":[{"url":"https://a.example","score":"0.5"}]}`, bad},
		{"score a truth value", `{"results":[{"url":"https://a.example","score":true}]}`, bad},
		{"score NaN", `{"results":[{"url":"https://a.example","score":NaN}]}`, bad},
		{"very deep", strings.Repeat("[", 100_000), bad},
		{"5 MiB", `{"results":[]}` + strings.Repeat(" ", 5<<20), "over 4 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { failed(t, newAnveshaFor(t, answer(tt.body)), tt.text) })
	}
	t.Run("without end", func(t *testing.T) {
		written := make(chan int, 1)
		failed(t, newAnveshaFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			piece, total := bytes.Repeat([]byte(" "), 64<<10), 0
			for {
				n, err := w.Write(piece)
				if total += n; err != nil {
					written <- total
					return
				}
			}
		})), "over 4 MiB")
		if total := <-written; total > 64<<20 { // 4 MiB, and what sockets hold
			t.Errorf("%d bytes were taken", total)
		}
	})
	t.Run("gzip bomb", func(t *testing.T) {
		var bomb bytes.Buffer // made before the time limit of the search begins
		z := gzip.NewWriter(&bomb)
		for range 32 {
			_, _ = z.Write(make([]byte, 1<<20))
		}
		_ = z.Close()
		failed(t, newAnveshaFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		})), "over 4 MiB")
	})
	t.Run("announced length never comes", func(t *testing.T) {
		failed(t, newAnveshaFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, `{"results":[]}`)
		})), "broke off")
	})
}

func TestHostileButUsableAnswers(t *testing.T) {
	tests := []struct{ name, body, title string }{
		{"repeated members do not mix", `{"results":[{"url":"https://a.example","title":"first"}],"results":[{"url":"https://a.example"}]}`, ""},
		{"invalid UTF-8", "{\"results\":[{\"url\":\"https://a.example\",\"title\":\"a\xffb\"}]}", "a\ufffdb"},
		{"lone surrogate", `{"results":[{"url":"https://a.example","title":"\ud800"}]}`, "\ufffd"},
		{"unknown members", `{"results":[{"url":"https://a.example","title":"t","x":[1,{}]}],"y":null}`, "t"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := search(t.Context(), newAnveshaFor(t, answer(tt.body)), "a")
			if err != nil || len(got) != 1 || got[0].Title != tt.title {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestU3_BadRequestNamesTheWord(t *testing.T) {
	failed(t, newAnveshaFor(t, always(400, `{"error":"missing_or_empty_query"}`)), "status 400, missing_or_empty_query")
	failed(t, newAnveshaFor(t, always(400, "Failed to deserialize")), "status 400")
	failed(t, newAnveshaFor(t, always(404, "")), "status 404")
}

func always(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestU3_UnauthorizedIsOneLoudLine(t *testing.T) {
	address, _ := serve(t, anveshaStub{key: "another"})
	for _, tt := range []struct {
		name, key, text, line string
	}{
		{"wrong key", testKey, "invalid_api_key", "refuses the key"},
		{"no key", "", "missing_authorization_header", "wants a key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, logged := config(address)
			cfg.Key = admission.NewSecret(tt.key)
			p := newAnvesha(t, cfg)
			for range 3 {
				failed(t, p, "status 401, "+tt.text)
			}
			got := logged.String()
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, `"level":"ERROR"`) ||
				!strings.Contains(got, "search.api_key_file") || !strings.Contains(got, tt.line) {
				t.Errorf("logged %q", got)
			}
		})
	}
}

func TestU3_InvalidQueryIsAskedOncePlainly(t *testing.T) {
	ask := func(t *testing.T, query string, badCalls int) ([]string, error) {
		t.Helper()
		var asked []string
		p := newAnveshaFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Query().Get("q"))
			if len(asked) <= badCalls {
				refuse(w, http.StatusInternalServerError, "invalid_query")
				return
			}
			anveshaStub{hits: 1}.ServeHTTP(w, r)
		}))
		_, err := search(t.Context(), p, query)
		return asked, err
	}
	tests := []struct {
		query, again string
	}{
		{`c++ site:foo "bar`, "c site foo bar"},
		{"cats AND (dogs OR NOT birds)", "cats and dogs or not birds"},
		{"ANDROID [a TO b] v1.2 go_mod", "ANDROID a TO b v1.2 go_mod"},
		{"«日本» -x^2 ~y*", "«日本» x 2 y"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			asked, err := ask(t, tt.query, 1)
			if err != nil || !slices.Equal(asked, []string{tt.query, tt.again}) {
				t.Errorf("asked %q, %v; want %q", asked, err, tt.again)
			}
		})
	}
	t.Run("twice refused is a failure", func(t *testing.T) {
		asked, err := ask(t, "c++", 5)
		if !errors.Is(err, ports.ErrSearchUnavailable) || !strings.Contains(err.Error(), "invalid_query") || len(asked) != 2 {
			t.Errorf("asked %q, %v", asked, err)
		}
	})
	t.Run("nothing left to ask", func(t *testing.T) {
		if asked, err := ask(t, "++", 1); err == nil || len(asked) != 1 {
			t.Errorf("asked %q, %v", asked, err)
		}
	})
}

func TestU3_RetryAfterIsHonoured(t *testing.T) {
	c := newClock()
	date := c.now().Add(90 * time.Second).Format(http.TimeFormat)
	tests := []struct {
		name, value string
		status      int
		wait        time.Duration
	}{
		{"429 in seconds", "30", 429, 30 * time.Second},
		{"503 at a date", date, 503, 90 * time.Second},
		{"500 without", "", 500, 0},
		{"date gone by", "Mon, 01 Jan 2024 00:00:00 GMT", 429, 0},
		{"nonsense", "-5", 429, 0},
		{"for ever", "99999999999999999999", 429, 10 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if calls.Add(1) > 1 {
					anveshaStub{hits: 1}.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Retry-After", tt.value)
				refuse(w, tt.status, "search_error")
			}))
			cfg, _ := config(address)
			c := newClock()
			cfg.Now = c.now
			p := newAnvesha(t, cfg)
			failed(t, p, "search_error")
			if tt.wait > 0 {
				c.advance(tt.wait - time.Second)
				failed(t, p, "1 s are left")
				if calls.Load() != 1 {
					t.Fatalf("%d calls during the pause", calls.Load())
				}
				c.advance(time.Second)
			}
			if got, err := search(t.Context(), p, "a"); err != nil || len(got) != 1 {
				t.Errorf("after the pause: %v, %v", got, err)
			}
		})
	}
}

func TestU3_NoConnection(t *testing.T) {
	cfg, _ := config("http://127.0.0.1:9")
	var dials atomic.Int32
	dialFails := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, err
		}
	}
	for name, tt := range map[string]struct {
		err  error
		text string
	}{
		"refused": {&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, "connection refused"},
		"DNS":     {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "search.example"}}, "name cannot be resolved"},
		"other":   {&net.OpError{Op: "dial", Err: errors.New("strange")}, "no connection"},
	} {
		t.Run(name, func(t *testing.T) {
			dials.Store(0)
			cfg.Dial = dialFails(tt.err)
			failed(t, newAnvesha(t, cfg), tt.text)
			if dials.Load() != 1 {
				t.Errorf("%d attempts; a refused connection is not retried", dials.Load())
			}
		})
	}
	t.Run("TLS", func(t *testing.T) {
		s := httptest.NewUnstartedServer(anveshaStub{})
		s.Config.ErrorLog = quiet()
		s.StartTLS()
		defer s.Close()
		cfg, _ := config(s.URL) // its certificate is nobody's
		failed(t, newAnvesha(t, cfg), "certificate is not trusted")
	})
	t.Run("TLS to a plain service", func(t *testing.T) {
		address, _ := serve(t, anveshaStub{})
		cfg, _ := config(strings.Replace(address, "http:", "https:", 1))
		failed(t, newAnvesha(t, cfg), "TLS failed")
	})
}

func TestU3_RedirectIsNotFollowedElsewhere(t *testing.T) {
	elsewhere, target := serve(t, anveshaStub{hits: 1})
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/search" {
				http.Redirect(w, r, to+"/moved/v1/search?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
				return
			}
			http.StripPrefix("/moved", anveshaStub{hits: 1}).ServeHTTP(w, r)
		}
	}
	for name, key := range map[string]string{"with a key": testKey, "without a key": ""} {
		t.Run("other host "+name, func(t *testing.T) {
			address, _ := serve(t, redirect(elsewhere))
			cfg, _ := config(address)
			cfg.Key = admission.NewSecret(key)
			failed(t, newAnvesha(t, cfg), "redirects (status 307)")
			if target.String() != "" {
				t.Errorf("the other host received %q", target)
			}
		})
	}
	t.Run("same host with a key", func(t *testing.T) {
		address, received := serve(t, redirect(""))
		cfg, _ := config(address)
		failed(t, newAnvesha(t, cfg), "search.url")
		if strings.Contains(received.String(), "/moved/") {
			t.Error("followed")
		}
	})
	t.Run("same host without a key", func(t *testing.T) {
		address, _ := serve(t, redirect(""))
		cfg, _ := config(address)
		cfg.Key = admission.Secret{}
		if got, err := search(t.Context(), newAnvesha(t, cfg), "a"); err != nil || len(got) != 1 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("in circles", func(t *testing.T) {
		var calls atomic.Int32
		address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		}))
		cfg, _ := config(address)
		cfg.Key = admission.Secret{}
		failed(t, newAnvesha(t, cfg), "redirects")
		if calls.Load() != 4 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}
