package searchapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"plexus/domain/framing"
)

var (
	errFormatOff = errors.New(`status 403: its JSON format is most likely off; add "json" to search.formats in SearXNG's settings.yml`)
	errEngines   = errors.New("its engines did not answer")
)

// NewSearXNG asks an instance of SearXNG in its JSON format. It checks the Config
// and sends nothing yet. SearXNG itself knows no keys; one that is set goes as a
// Bearer token to the proxy in front of it. An instance chooses the length of its
// page itself, about 20 results; only the first page is asked for.
func NewSearXNG(cfg Config) (*Service, error) {
	s, err := newService("searxng", cfg, "Authorization", "Bearer ")
	if err != nil {
		return nil, err
	}
	s.find, s.health = searXNG{s}.find, "healthz"
	return s, nil
}

type searXNG struct{ *Service }

func (s searXNG) find(ctx context.Context, query string, _ int) ([]framing.Result, error) {
	r, err := s.get(ctx, "search", url.Values{"q": {query}, "format": {"json"}})
	switch {
	case err != nil:
		return nil, err
	case r.status == http.StatusForbidden:
		return nil, errFormatOff
	case r.status != http.StatusOK:
		return nil, statusError(r.status, "")
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
