package searchapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"plexus/domain/admission"
	"plexus/ports"
)

// countDials counts connections.
func countDials(n *atomic.Int32) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		n.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// The request has no room for the page; here is proof that nothing else of the
// call, such as values of its context, reaches a service either.
func TestU2_ContextNeverLeaves(t *testing.T) {
	type pageKey struct{}
	const marker = "MARKER-page-4711"
	address, received := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"type":"search","results":[]}`)
	}))
	cfg, _ := config(address)
	ctx := context.WithValue(t.Context(), pageKey{}, "https://"+marker+".example/?selection="+marker)
	for _, p := range []ports.SearchProvider{newAnvesha(t, cfg), newSearXNG(t, cfg), newBrave(t, cfg)} {
		if _, err := search(ctx, p, "plain words"); err != nil {
			t.Fatal(err)
		}
	}
	got := received.String()
	if strings.Count(got, "plain+words") != 3 {
		t.Fatalf("the capture misses queries: %q", got)
	}
	for _, form := range []string{marker, base64.StdEncoding.EncodeToString([]byte(marker)), "Referer", "Cookie"} {
		if strings.Contains(strings.ToLower(got), strings.ToLower(form)) {
			t.Errorf("%q left the machine", form)
		}
	}
}

func TestU4_CancelAbortsTheCall(t *testing.T) {
	midBody := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"results":[`)
		_ = http.NewResponseController(w).Flush()
	}
	for name, begin := range map[string]func(http.ResponseWriter){
		"before headers": func(http.ResponseWriter) {},
		"in mid-body":    midBody,
	} {
		t.Run(name, func(t *testing.T) {
			reached, ended := make(chan struct{}), make(chan struct{})
			address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begin(w)
				close(reached)
				<-r.Context().Done()
				close(ended)
			}))
			cfg, _ := config(address)
			p := newAnvesha(t, cfg)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error, 1)
			go func() {
				_, err := search(ctx, p, "a")
				result <- err
			}()
			<-reached
			cancel()
			if err := <-result; !errors.Is(err, context.Canceled) || !errors.Is(err, ports.ErrSearchUnavailable) {
				t.Errorf("got %v", err)
			}
			<-ended
		})
	}
	t.Run("in the retry", func(t *testing.T) {
		var calls atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := newAnveshaFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 2 {
				cancel()
				<-r.Context().Done()
				return
			}
			refuse(w, http.StatusInternalServerError, "invalid_query")
		}))
		if _, err := search(ctx, p, "c++"); !errors.Is(err, context.Canceled) || calls.Load() != 2 {
			t.Errorf("got %v after %d calls", err, calls.Load())
		}
	})
}

// The service mirrors the key in every way it can, and no text of ours has it.
func TestU5_KeyNeverInLogsErrors(t *testing.T) {
	mirror := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://elsewhere.example/?key="+testKey)
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error":%q,"query":%q}`, testKey, r.URL.RawQuery)
		}
	}
	services := map[string]http.HandlerFunc{
		"200": mirror(200), "302": mirror(302), "400": mirror(400), "401": mirror(401), "403": mirror(403),
		"422": mirror(422), "429": mirror(429), "500": mirror(500),
		"raw bytes": func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = fmt.Fprintf(conn, "%s %s\r\n\r\n", r.Header, r.URL)
				_ = conn.Close()
			}
		},
	}
	for name, service := range services {
		t.Run(name, func(t *testing.T) {
			address, _ := serve(t, service)
			cfg, logged := config(address)
			var texts strings.Builder
			for _, p := range []ports.SearchProvider{newAnvesha(t, cfg), newSearXNG(t, cfg), newBrave(t, cfg)} {
				_, err := search(t.Context(), p, "QueryMarker c++")
				if !errors.Is(err, ports.ErrSearchUnavailable) {
					t.Errorf("got %v", err)
				}
				for wrapped := range tree(err) {
					_, _ = fmt.Fprintf(&texts, "%v|%+v|%#v\n", wrapped, wrapped, wrapped)
				}
				_, _ = fmt.Fprintf(&texts, "%+v %+v\n", p, cfg)
			}
			checkSecret(t, texts.String()+logged.String())
		})
	}
	t.Run("configuration", func(t *testing.T) {
		for _, bad := range []string{"http://u:" + testKey + "@127.0.0.1", "https://h/?k=" + testKey, "https://h/%zz" + testKey} {
			cfg, _ := config(bad)
			cfg.Key = admission.NewSecret(testKey + "\n")
			checkSecret(t, mustFail(t, cfg).Error())
		}
	})
}

// tree walks through everything an error wraps.
func tree(err error) func(func(error) bool) {
	return func(yield func(error) bool) { walk(err, yield) }
}

func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	switch e := err.(type) { //nolint:errorlint // the tree itself is wanted
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if !walk(inner, yield) {
				return false
			}
		}
	}
	return true
}

func checkSecret(t *testing.T, text string) {
	t.Helper()
	low := strings.ToLower(text)
	for _, form := range []string{testKey, base64.StdEncoding.EncodeToString([]byte(testKey)), "QueryMarker", "/search?"} {
		if strings.Contains(low, strings.ToLower(form)) {
			t.Errorf("%q shows up in %q", form, text)
		}
	}
}
