package searchapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
)

const (
	anveshaSearch = "v1/search"
	anveshaHealth = "healthz"

	// wordInvalidQuery comes with a status 500 when the query's syntax displeases.
	wordInvalidQuery = "invalid_query"

	// healthLife is how long a good answer vouches for the service.
	healthLife = 30 * time.Second
)

// Anvesha asks the Anvesha search API. All methods may be called concurrently.
type Anvesha struct{ client *client }

var _ ports.SearchProvider = (*Anvesha)(nil)

// NewAnvesha checks the Config and sends nothing yet. Its errors name the
// setting to change.
func NewAnvesha(cfg Config) (*Anvesha, error) {
	c, err := newClient("anvesha", cfg, "Authorization", "Bearer ")
	if err != nil {
		return nil, err
	}
	return &Anvesha{c}, nil
}

// Search implements ports.SearchProvider. The query is cut at 2,048 bytes; one
// whose syntax the service refuses is asked once more as plain words. Scores
// are the service's own and not limited to 0..1.
func (a *Anvesha) Search(ctx context.Context, req ports.SearchRequest) ([]framing.Result, error) {
	return a.client.search(ctx, req, a.find)
}

// Warm connects ahead of the first search, without the key. An error wraps
// ports.ErrSearchUnavailable and means only that the first search connects.
func (a *Anvesha) Warm(ctx context.Context) error {
	r, err := a.client.warm(ctx, anveshaHealth)
	if err == nil && r.status != http.StatusOK {
		err = a.client.fault(refused(r.status, ""))
	}
	if err == nil && !saysOK(r.body) {
		err = a.client.fault(errUnusable)
	}
	if err != nil {
		a.client.standing.doubt()
		return err
	}
	a.client.standing.vouch(a.client.now())
	return nil
}

// saysOK keeps the sign-in page of a network from passing for the service.
func saysOK(body []byte) bool {
	var answer struct {
		Status string `json:"status"`
	}
	return json.Unmarshal(body, &answer) == nil && answer.Status == "ok"
}

// Health is nil when the service answers well. It asks only when no answer of
// the last 30 s vouches for it.
func (a *Anvesha) Health(ctx context.Context) error {
	if a.client.standing.goodSince(a.client.now().Add(-healthLife)) {
		return nil
	}
	return a.Warm(ctx)
}

// Close lets go of kept connections; searches that run are not touched.
func (a *Anvesha) Close() { a.client.close() }

func (a *Anvesha) find(ctx context.Context, query string, limit int) ([]framing.Result, error) {
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
		return nil, refused(r.status, errorWord(r.body))
	}
	return decodeAnvesha(r.body)
}

func (a *Anvesha) ask(ctx context.Context, query string, limit int) (reply, error) {
	return a.client.get(ctx, anveshaSearch, url.Values{"q": {query}, "limit": {strconv.Itoa(limit)}})
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
