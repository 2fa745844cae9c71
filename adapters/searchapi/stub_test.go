package searchapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// anveshaStub behaves as the Anvesha API does over HTTP.
type anveshaStub struct {
	key  string // "": open
	hits int    // how many results it knows
}

type hit struct {
	URL     string  `json:"url"`
	Title   string  `json:"title"`
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"`
}

func (s anveshaStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path != "/healthz" && r.URL.Path != "/v1/search":
		w.WriteHeader(http.StatusNotFound)
	case r.Method != http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.URL.Path == "/healthz":
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	default:
		s.search(w, r)
	}
}

func (s anveshaStub) search(w http.ResponseWriter, r *http.Request) {
	if word := s.keyFault(r.Header.Get("Authorization")); word != "" {
		refuse(w, http.StatusUnauthorized, word)
		return
	}
	limit := 10
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			http.Error(w, "Failed to deserialize query string", http.StatusBadRequest)
			return
		}
		limit = int(n)
	}
	switch {
	case r.URL.Query().Get("q") == "":
		refuse(w, http.StatusBadRequest, "missing_or_empty_query")
	case limit < 1:
		refuse(w, http.StatusBadRequest, "limit_must_be_at_least_1")
	case limit > 100:
		refuse(w, http.StatusBadRequest, "limit_exceeds_maximum_of_100")
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"results": someHits(min(limit, s.hits)), "took_ms": 3})
	}
}

func (s anveshaStub) keyFault(header string) string {
	given, bearer := strings.CutPrefix(header, "Bearer ")
	switch {
	case s.key == "":
		return ""
	case header == "":
		return "missing_authorization_header"
	case !bearer:
		return "malformed_authorization_header"
	case given != s.key:
		return "invalid_api_key"
	default:
		return ""
	}
}

func refuse(w http.ResponseWriter, status int, word string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":%q}`, word)
}

func someHits(n int) []hit {
	hits := make([]hit, n)
	for i := range hits {
		hits[i] = hit{
			URL:     fmt.Sprintf("https://example.org/%d", i),
			Title:   fmt.Sprintf("Title %d", i),
			Snippet: "...a snippet...",
			Score:   float64(float32(n-i) + 0.97),
		}
	}
	return hits
}

// The stub is only worth what it knows of the API: its facts, pinned.
func TestStubSpeaksAnvesha(t *testing.T) {
	open, keyed, empty := anveshaStub{hits: 120}, anveshaStub{key: "k", hits: 120}, anveshaStub{}
	tests := []struct {
		name, target, auth string
		stub               anveshaStub
		status, hits       int
		body               string // contained
	}{
		{"health", "/healthz", "", open, 200, 0, `{"status":"ok"}`},
		{"health needs no key", "/healthz", "", keyed, 200, 0, `{"status":"ok"}`},
		{"ten by default", "/v1/search?q=a", "", open, 200, 10, `"took_ms":`},
		{"none found", "/v1/search?q=a", "", empty, 200, 0, `"results":[]`},
		{"limit 1", "/v1/search?q=a&limit=1", "", open, 200, 1, ""},
		{"limit 100", "/v1/search?q=a&limit=100", "", open, 200, 100, ""},
		{"limit 0", "/v1/search?q=a&limit=0", "", open, 400, 0, "limit_must_be_at_least_1"},
		{"limit 101", "/v1/search?q=a&limit=101", "", open, 400, 0, "limit_exceeds_maximum_of_100"},
		{"limit is no number", "/v1/search?q=a&limit=abc", "", open, 400, 0, "deserialize"},
		{"no query", "/v1/search", "", open, 400, 0, "missing_or_empty_query"},
		{"empty query", "/v1/search?q=", "", open, 400, 0, "missing_or_empty_query"},
		{"right key", "/v1/search?q=a", "Bearer k", keyed, 200, 10, ""},
		{"no key", "/v1/search?q=a", "", keyed, 401, 0, "missing_authorization_header"},
		{"scheme in lower case", "/v1/search?q=a", "bearer k", keyed, 401, 0, "malformed_authorization_header"},
		{"wrong key", "/v1/search?q=a", "Bearer x", keyed, 401, 0, "invalid_api_key"},
		{"key with a blank", "/v1/search?q=a", "Bearer k ", keyed, 401, 0, "invalid_api_key"},
		{"unknown path", "/v2", "", open, 404, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, tt.target, nil)
			if tt.auth != "" {
				r.Header["Authorization"] = []string{tt.auth}
			}
			w := httptest.NewRecorder()
			tt.stub.ServeHTTP(w, r)
			if w.Code != tt.status || strings.Count(w.Body.String(), `"url":`) != tt.hits || !strings.Contains(w.Body.String(), tt.body) {
				t.Errorf("got %d with %d results: %.80s", w.Code, strings.Count(w.Body.String(), `"url":`), w.Body)
			}
		})
	}
}
