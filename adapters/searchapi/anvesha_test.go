package searchapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/ports"
	"plexus/ports/portstest"
)

func TestAnveshaKeepsTheContract(t *testing.T) {
	portstest.SearchProvider(t, func(t *testing.T, s portstest.SearchScript) ports.SearchProvider {
		return newAnveshaFor(t, scripted(s, func(r *http.Request) string {
			return fmt.Sprintf(`{"results":[%s],"took_ms":1}`, strings.Join(scriptedHits(s), ","))
		}))
	})
}

func newAnveshaFor(t *testing.T, h http.Handler) ports.SearchProvider {
	t.Helper()
	address, _ := serve(t, h)
	cfg, _ := config(address)
	return newAnvesha(t, cfg)
}

// scripted follows a script of the contract suite.
func scripted(s portstest.SearchScript, body func(*http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Hang:
			<-r.Context().Done()
		case s.Fault:
			refuse(w, http.StatusInternalServerError, "search_error")
		default:
			_, _ = io.WriteString(w, body(r))
		}
	}
}

func scriptedHits(s portstest.SearchScript) []string {
	hits := make([]string, len(s.Results))
	for i, r := range s.Results {
		hits[i] = fmt.Sprintf(`{"url":%q,"title":%q,"snippet":%q,"content":%[3]q,"description":%[3]q,"score":%g}`,
			r.URL, r.Title, r.Snippet, r.Score)
	}
	return hits
}

func TestU1_RequestLineEncodingAndHeaders(t *testing.T) {
	long := strings.Repeat("é", 1500) // 3,000 bytes
	tests := []struct {
		name, query string
		limit       int
		line        string
	}{
		{"plain", "go context cancel", 10, "limit=10&q=go+context+cancel"},
		{"reserved characters", "a&b=c#d?e/f+g%h", 1, "limit=1&q=a%26b%3Dc%23d%3Fe%2Ff%2Bg%25h"},
		{"other scripts", "日本 🙂", 100, "limit=100&q=%E6%97%A5%E6%9C%AC+%F0%9F%99%82"},
		{"trimmed and cleaned", " \t a\x00b\u0085c\r\n ", 5, "limit=5&q=abc"},
		{"no header or line break gets in", "a HTTP/1.1\r\nX-Evil: 1", 5, "limit=5&q=a+HTTP%2F1.1X-Evil%3A+1"},
		{"broken UTF-8", "a\xffb", 5, "limit=5&q=ab"},
		{"cut at a code point", "x" + long, 5, "limit=5&q=x" + strings.Repeat("%C3%A9", 1023)},
		{"limit too large", "a", 1000, "limit=100&q=a"},
		{"limit too small", "a", 0, "limit=1&q=a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			address, received := serve(t, anveshaStub{key: testKey, hits: 3})
			cfg, _ := config(address)
			p := newAnvesha(t, cfg)
			if _, err := p.Search(t.Context(), ports.SearchRequest{Query: tt.query, Limit: tt.limit}); err != nil {
				t.Fatal(err)
			}
			line, rest, _ := strings.Cut(received.String(), "\r\n")
			if want := "GET /v1/search?" + tt.line + " HTTP/1.1"; line != want {
				t.Errorf("request line %q\nwant %q", line, want)
			}
			want := map[string]string{
				"Host": strings.TrimPrefix(address, "http://"), "Authorization": "Bearer " + testKey,
				"Accept": "application/json", "User-Agent": "plexus", "Accept-Encoding": "gzip",
			}
			if got := headers(t, rest); !reflect.DeepEqual(got, want) {
				t.Errorf("headers %v\nwant %v", got, want)
			}
		})
	}
	t.Run("open service, path before its own", func(t *testing.T) {
		address, received := serve(t, http.StripPrefix("/sub", anveshaStub{hits: 1}))
		cfg, _ := config(address + "/sub/")
		cfg.Key = admission.Secret{}
		if _, err := search(t.Context(), newAnvesha(t, cfg), "a"); err != nil {
			t.Fatal(err)
		}
		if got := received.String(); !strings.HasPrefix(got, "GET /sub/v1/search?") || strings.Contains(got, "Authorization") {
			t.Errorf("sent %q", got)
		}
	})
	t.Run("an empty query is not sent", func(t *testing.T) {
		address, received := serve(t, anveshaStub{})
		cfg, _ := config(address)
		got, err := search(t.Context(), newAnvesha(t, cfg), " \x00\t")
		if err != nil || got == nil || len(got) != 0 || received.String() != "" {
			t.Errorf("got %v, %v after sending %q", got, err, received)
		}
	})
}

func headers(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() && lines.Text() != "" {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		all[name] = value
	}
	return all
}

func TestAnveshaMapsResults(t *testing.T) {
	p := newAnveshaFor(t, answer(`{"results":[
		{"url":"https://a.example/","title":"A","snippet":"...s...","score":0.9700000286102295},
		{"url":"","title":"no address","snippet":"","score":1},
		{"url":"javascript:alert(1)","title":"x","snippet":"","score":1},
		{"url":"file:///etc/passwd","title":"x","snippet":"","score":1},
		{"url":"https:///nohost","title":"x","snippet":"","score":1},
		{"url":"HTTP://b.example","title":"","snippet":"","score":41.5},
		{"url":"https://c.example","title":null,"snippet":null,"score":null},
		{"url":"https://d.example","title":"D","snippet":"","score":1e39},
		{"url":"https://e.example","title":"E","snippet":"","score":-1e400}],"took_ms":1}`))
	got, err := search(t.Context(), p, "a")
	want := []framing.Result{
		{URL: "https://a.example/", Title: "A", Snippet: "...s...", Score: 0.97},
		{URL: "HTTP://b.example", Score: 41.5},
		{URL: "https://c.example"},
		{URL: "https://d.example", Title: "D"},
		{URL: "https://e.example", Title: "E"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// answer replies the same to everything.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func TestCacheAnswersAgainForAMinute(t *testing.T) {
	var calls atomic.Int32
	address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		anveshaStub{hits: 100}.ServeHTTP(w, r)
	}))
	cfg, _ := config(address)
	c := newClock()
	cfg.Cache, cfg.Now = true, c.now
	p := newAnvesha(t, cfg)
	ask := func(query string, limit int, wantCalls int32) {
		t.Helper()
		got, err := p.Search(t.Context(), ports.SearchRequest{Query: query, Limit: limit})
		if err != nil || len(got) != limit || calls.Load() != wantCalls {
			t.Fatalf("%d results, %v, %d calls; want %d calls", len(got), err, calls.Load(), wantCalls)
		}
		got[0].Title = "the caller's own"
	}
	ask("q", 5, 1)
	ask(" q\x00", 5, 1) // the key is the cleaned query
	ask("q", 6, 2)      // and the limit
	if got, _ := p.Search(t.Context(), ports.SearchRequest{Query: "q", Limit: 5}); got[0].Title != "Title 0" {
		t.Error("a caller can change what is remembered")
	}
	c.advance(61 * time.Second)
	ask("q", 5, 3)
	for i := range 64 {
		ask(fmt.Sprint("other ", i), 1, int32(4+i))
	}
	ask("other 0", 1, 67)
	ask("q", 5, 68) // the oldest of 65 has gone
}

func TestFaultsAreNotCached(t *testing.T) {
	var calls atomic.Int32
	address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			refuse(w, http.StatusInternalServerError, "search_error")
			return
		}
		anveshaStub{hits: 1}.ServeHTTP(w, r)
	}))
	cfg, _ := config(address)
	cfg.Cache = true
	p := newAnvesha(t, cfg)
	if _, err := search(t.Context(), p, "a"); !errors.Is(err, ports.ErrSearchUnavailable) {
		t.Fatalf("got %v", err)
	}
	if got, err := search(t.Context(), p, "a"); err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestWarmConnectsWithoutTheKey(t *testing.T) {
	var conns atomic.Int32
	address, received := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		anveshaStub{key: testKey, hits: 1}.ServeHTTP(w, r)
	}))
	cfg, _ := config(address)
	cfg.Dial = countDials(&conns)
	p := newAnvesha(t, cfg)
	if err := p.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := received.String(); !strings.HasPrefix(got, "GET /healthz HTTP/1.1\r\n") || strings.Contains(got, testKey) {
		t.Errorf("sent %q", got)
	}
	if _, err := search(t.Context(), p, "a"); err != nil {
		t.Fatal(err)
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections; the search must use the warm one", conns.Load())
	}
}

func TestWarmTellsWhetherTheServiceAnswers(t *testing.T) {
	var asked atomic.Int32
	var down atomic.Bool
	address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			asked.Add(1)
		}
		if down.Load() {
			refuse(w, http.StatusInternalServerError, "index_unavailable")
			return
		}
		anveshaStub{key: testKey, hits: 1}.ServeHTTP(w, r)
	}))
	cfg, _ := config(address)
	p := newAnvesha(t, cfg)
	for n, healthy := range []bool{true, false, true} {
		down.Store(!healthy)
		err := p.Warm(t.Context())
		if (err == nil) != healthy || err != nil && !errors.Is(err, ports.ErrSearchUnavailable) || int(asked.Load()) != n+1 {
			t.Fatalf("%v after %d questions; want healthy=%t after %d", err, asked.Load(), healthy, n+1)
		}
	}
}

func TestWarmRefusesAForeignPage(t *testing.T) {
	address, _ := serve(t, answer("<html>Please sign in</html>"))
	cfg, _ := config(address)
	if err := newAnvesha(t, cfg).Warm(t.Context()); !errors.Is(err, ports.ErrSearchUnavailable) {
		t.Errorf("got %v", err)
	}
}
