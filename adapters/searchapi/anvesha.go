package searchapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"plexus/domain/framing"
)

const (
	anveshaSearch = "v1/search"
	anveshaHealth = "healthz"

	// wordInvalidQuery comes with status 500 when the service refuses the query's
	// syntax.
	wordInvalidQuery = "invalid_query"
)

// NewAnvesha asks the Anvesha search API. It checks the Config and sends nothing
// yet; its errors name the setting to change. A query is cut at 2,048 bytes; one
// whose syntax the service refuses is asked once more as plain words. Scores are
// the service's own and not limited to 0..1.
func NewAnvesha(cfg Config) (*Service, error) {
	s, err := newService("anvesha", cfg, "Authorization", "Bearer ")
	if err != nil {
		return nil, err
	}
	s.find, s.health, s.healthy = anvesha{s}.find, anveshaHealth, anveshaHealthy
	return s, nil
}

// anveshaHealthy checks the body, so that the sign-in page of a network is not
// taken for the service.
func anveshaHealthy(r reply) error {
	if r.status != http.StatusOK {
		return statusError(r.status, "")
	}
	var answer struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(r.body, &answer) != nil || answer.Status != "ok" {
		return errUnusable
	}
	return nil
}

type anvesha struct{ *Service }

func (a anvesha) find(ctx context.Context, query string, limit int) ([]framing.Result, error) {
	r, err := a.ask(ctx, query, limit)
	if err != nil {
		return nil, err
	}
	if r.status == http.StatusInternalServerError && errorWord(r.body) == wordInvalidQuery {
		if plain := blankSyntax(query); plain != "" && plain != query {
			if r, err = a.ask(ctx, plain, limit); err != nil {
				return nil, err
			}
		}
	}
	if r.status != http.StatusOK {
		return nil, statusError(r.status, errorWord(r.body))
	}
	return decodeAnvesha(r.body)
}

func (a anvesha) ask(ctx context.Context, query string, limit int) (reply, error) {
	return a.get(ctx, anveshaSearch, url.Values{"q": {query}, "limit": {strconv.Itoa(limit)}})
}

func decodeAnvesha(body []byte) ([]framing.Result, error) {
	var answer struct {
		Results list[struct {
			URL     string `json:"url"`
			Title   string `json:"title"`
			Snippet string `json:"snippet"`
			Score   score  `json:"score"`
		}] `json:"results"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Results == nil {
		return nil, errUnusable
	}
	found := make([]framing.Result, len(answer.Results))
	for i, hit := range answer.Results {
		found[i] = framing.Result{URL: hit.URL, Title: hit.Title, Snippet: hit.Snippet, Score: float32(hit.Score)}
	}
	return found, nil
}
