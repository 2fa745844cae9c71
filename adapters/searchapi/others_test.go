package searchapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"plexus/adapters/searchapi"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/ports"
	"plexus/ports/portstest"
)

func TestSearXNGKeepsTheContract(t *testing.T) {
	portstest.SearchProvider(t, func(t *testing.T, s portstest.SearchScript) ports.SearchProvider {
		return newSearXNGFor(t, scripted(s, func(*http.Request) string {
			return fmt.Sprintf(`{"query":"q","results":[%s],"unresponsive_engines":[]}`, strings.Join(scriptedHits(s), ","))
		}))
	})
}

func newSearXNGFor(t *testing.T, h http.Handler) ports.SearchProvider {
	t.Helper()
	address, _ := serve(t, h)
	cfg, _ := config(address)
	cfg.Key = admission.Secret{}
	return newSearXNG(t, cfg)
}

func TestSearXNGRequestAndMapping(t *testing.T) {
	address, received := serve(t, answer(`{"results":[
		{"url":"https://a.example","title":"A","content":"about a","score":3.5,"engine":"x"},
		{"url":"https://b.example","title":"B","content":null,"score":1}],"unresponsive_engines":[["x","timeout"]]}`))
	cfg, _ := config(address)
	cfg.Key = admission.Secret{}
	got, err := search(t.Context(), newSearXNG(t, cfg), "a b")
	want := []framing.Result{
		{URL: "https://a.example", Title: "A", Snippet: "about a", Score: 3.5},
		{URL: "https://b.example", Title: "B", Score: 1},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if sent := received.String(); !strings.HasPrefix(sent, "GET /search?format=json&q=a+b HTTP/1.1\r\n") {
		t.Errorf("sent %q", sent)
	}
}

func TestSearXNGScoresFromRank(t *testing.T) {
	p := newSearXNGFor(t, answer(`{"results":[{"url":"https://a.example"},{"url":"https://b.example","score":9}]}`))
	got, err := search(t.Context(), p, "a")
	if err != nil || len(got) != 2 || got[0].Score != 1 || got[1].Score != 0.5 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSearXNGFailures(t *testing.T) {
	failed(t, newSearXNGFor(t, always(403, "Forbidden")), `add "json" to search.formats in SearXNG's settings.yml`)
	failed(t, newSearXNGFor(t, always(429, "")), "status 429")
	failed(t, newSearXNGFor(t, answer("<html>")), "not the JSON")
	failed(t, newSearXNGFor(t, answer(`{"results":[],"unresponsive_engines":[["x","timeout"]]}`)), "engines did not answer")
}

func TestSearXNGAndBraveWarm(t *testing.T) {
	address, received := serve(t, answer("OK"))
	cfg, _ := config(address)
	if err := newSearXNG(t, cfg).Warm(t.Context()); err != nil {
		t.Error(err)
	}
	if err := newBrave(t, cfg).Warm(t.Context()); err != nil {
		t.Error(err)
	}
	sent := received.String()
	if !strings.HasPrefix(sent, "GET /healthz ") || !strings.Contains(sent, "GET / ") || strings.Contains(sent, testKey) {
		t.Errorf("sent %q", sent)
	}
}

// bravePages answers as Brave does: count at most 20, offset in pages.
func bravePages(hits []string, w http.ResponseWriter, r *http.Request) string {
	query := r.URL.Query()
	count, _ := strconv.Atoi(query.Get("count"))
	offset, _ := strconv.Atoi(query.Get("offset"))
	if count < 1 || count > 20 || offset > 9 || r.Header.Get("X-Subscription-Token") != testKey {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return ""
	}
	from := min(offset*count, len(hits))
	to := min(from+count, len(hits))
	return fmt.Sprintf(`{"type":"search","query":{"more_results_available":%t},"web":{"results":[%s]}}`,
		to < len(hits), strings.Join(hits[from:to], ","))
}

func newBraveFor(t *testing.T, h http.Handler) ports.SearchProvider {
	t.Helper()
	address, _ := serve(t, h)
	cfg, _ := config(address)
	return newBrave(t, cfg)
}

func TestBraveKeepsTheContract(t *testing.T) {
	portstest.SearchProvider(t, func(t *testing.T, s portstest.SearchScript) ports.SearchProvider {
		return newBraveFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scripted(s, func(r *http.Request) string { return bravePages(scriptedHits(s), w, r) })(w, r)
		}))
	})
}

func TestBraveRequestAndMapping(t *testing.T) {
	address, received := serve(t, answer(`{"type":"search","web":{"results":[
		{"url":"https://a.example","title":"A &amp; <strong>B</strong>","description":"1 &lt;b&gt; <strong>go</strong> 3 < 4 <"},
		{"url":"https://b.example","title":"C","description":""}]}}`))
	cfg, _ := config(address)
	got, err := search(t.Context(), newBrave(t, cfg), "a b")
	want := []framing.Result{
		{URL: "https://a.example", Title: "A & B", Snippet: "1 <b> go 3 < 4 <", Score: 1},
		{URL: "https://b.example", Title: "C", Score: 0.5},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	sent := received.String()
	if !strings.HasPrefix(sent, "GET /res/v1/web/search?count=10&q=a+b&text_decorations=false HTTP/1.1\r\n") ||
		!strings.Contains(sent, "\r\nX-Subscription-Token: "+testKey+"\r\n") || strings.Contains(sent, "Authorization") {
		t.Errorf("sent %q", sent)
	}
}

func TestBravePagesUntilTheLimit(t *testing.T) {
	tests := []struct {
		name                 string
		known, limit, failAt int
		wantHits, wantCalls  int
	}{
		{name: "one page", known: 90, limit: 20, wantHits: 20, wantCalls: 1},
		{name: "two pages, cut", known: 90, limit: 30, wantHits: 30, wantCalls: 2},
		{name: "no more to be had", known: 45, limit: 100, wantHits: 45, wantCalls: 3},
		{name: "nothing found", known: 0, limit: 100, wantHits: 0, wantCalls: 1},
		{name: "a later page fails", known: 90, limit: 100, failAt: 3, wantHits: 40, wantCalls: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hits := make([]string, tt.known)
			for i := range hits {
				hits[i] = fmt.Sprintf(`{"url":"https://example.org/%d"}`, i)
			}
			var calls atomic.Int32
			p := newBraveFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if int(calls.Add(1)) == tt.failAt {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				_, _ = w.Write([]byte(bravePages(hits, w, r)))
			}))
			got, err := p.Search(t.Context(), ports.SearchRequest{Query: "q", Limit: tt.limit})
			if err != nil || len(got) != tt.wantHits || int(calls.Load()) != tt.wantCalls {
				t.Errorf("%d results in %d calls, %v", len(got), calls.Load(), err)
			}
		})
	}
}

func TestBraveCutsTheQuery(t *testing.T) {
	var asked string
	p := newBraveFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query().Get("q")
		_ = json.NewEncoder(w).Encode(map[string]string{"type": "search"})
	}))
	for _, query := range []string{strings.Repeat("ab ", 60), strings.Repeat("日", 500)} {
		if _, err := search(t.Context(), p, query); err != nil {
			t.Fatal(err)
		}
		if len(strings.Fields(asked)) > 50 || utf8.RuneCountInString(asked) > 400 || !strings.HasPrefix(query, asked) || len(asked) < 100 {
			t.Errorf("asked %q", asked)
		}
	}
}

func TestBraveFailures(t *testing.T) {
	address, _ := serve(t, always(422, `{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}`))
	cfg, logged := config(address)
	p := newBrave(t, cfg)
	failed(t, p, "status 422, SUBSCRIPTION_TOKEN_INVALID")
	failed(t, p, "status 422")
	if got := logged.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "search.api_key_file") {
		t.Errorf("logged %q", got)
	}
	failed(t, newBraveFor(t, always(422, `{}`)), "status 422")
	failed(t, newBraveFor(t, answer(`{"type":"ErrorResponse"}`)), "not the JSON")
	failed(t, newBraveFor(t, answer(`{"results":[]}`)), "not the JSON")
}

func TestBraveNeedsAKeyAndKnowsItsAddress(t *testing.T) {
	cfg, _ := config("")
	newBrave(t, cfg)
	cfg.Key = admission.Secret{}
	if _, err := searchapi.NewBrave(cfg); err == nil || !strings.Contains(err.Error(), "search.api_key_file") {
		t.Errorf("got %v", err)
	}
}
