package searchapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"plexus/domain/framing"
	"plexus/ports"
)

var (
	errFormatOff = errors.New(`status 403: its JSON format is most likely off; add "json" to search.formats in SearXNG's settings.yml`)
	errEngines   = errors.New("its engines did not answer")
)

// SearXNG asks an instance of SearXNG in its JSON format. All methods may be
// called concurrently.
type SearXNG struct{ client *client }

var _ ports.SearchProvider = (*SearXNG)(nil)

// NewSearXNG checks the Config and sends nothing yet. SearXNG itself knows no
// keys; one that is set goes as a Bearer token to the proxy in front of it.
func NewSearXNG(cfg Config) (*SearXNG, error) {
	c, err := newClient("searxng", cfg, "Authorization", "Bearer ")
	if err != nil {
		return nil, err
	}
	return &SearXNG{c}, nil
}

// Search implements ports.SearchProvider. An instance chooses the length of its
// page itself, about 20 results; only the first page is asked for.
func (s *SearXNG) Search(ctx context.Context, req ports.SearchRequest) ([]framing.Result, error) {
	return s.client.search(ctx, req, s.find)
}

// Warm connects ahead of the first search, without the key. An error wraps
// ports.ErrSearchUnavailable and means only that the first search connects.
func (s *SearXNG) Warm(ctx context.Context) error {
	_, err := s.client.warm(ctx, "healthz")
	return err
}

// Close lets go of kept connections; searches that run are not touched.
func (s *SearXNG) Close() { s.client.close() }

func (s *SearXNG) find(ctx context.Context, query string, _ int) ([]framing.Result, error) {
	r, err := s.client.get(ctx, "search", url.Values{"q": {query}, "format": {"json"}})
	switch {
	case err != nil:
		return nil, err
	case r.status == http.StatusForbidden:
		return nil, errFormatOff
	case r.status != http.StatusOK:
		return nil, refused(r.status, "")
	}
	return decodeSearXNG(r.body)
}

func decodeSearXNG(body []byte) ([]framing.Result, error) {
	var answer struct {
		Results list[struct {
			URL     string `json:"url"`
			Title   string `json:"title"`
			Content string `json:"content"`
			Score   *score `json:"score"`
		}] `json:"results"`
		Unresponsive list[json.RawMessage] `json:"unresponsive_engines"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Results == nil {
		return nil, errUnusable
	}
	// An empty list from engines that were cut off must not read as "nothing found".
	if len(answer.Results) == 0 && len(answer.Unresponsive) > 0 {
		return nil, errEngines
	}
	found := make([]framing.Result, len(answer.Results))
	scored := true
	for i, hit := range answer.Results {
		found[i] = framing.Result{URL: hit.URL, Title: hit.Title, Snippet: hit.Content}
		if hit.Score == nil {
			scored = false
			continue
		}
		found[i].Score = float32(*hit.Score)
	}
	if !scored { // ranks and scores have different scales
		for i := range found {
			found[i].Score = rankScore(i)
		}
	}
	return found, nil
}
