package searchapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"plexus/domain/framing"
	"plexus/ports"
)

const (
	braveBaseURL  = "https://api.search.brave.com"
	bravePage     = 20 // most results of one call
	braveRunes    = 400
	braveWords    = 50
	braveKeyFault = "SUBSCRIPTION_TOKEN_INVALID" // comes with a status 422
)

// Brave asks the Brave Search API. All methods may be called concurrently.
type Brave struct{ client *client }

var _ ports.SearchProvider = (*Brave)(nil)

// NewBrave checks the Config and sends nothing yet. A key is required; an empty
// BaseURL is Brave's own.
func NewBrave(cfg Config) (*Brave, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = braveBaseURL
	}
	if cfg.Key.Empty() {
		return nil, fmt.Errorf("%s: Brave needs a key", settingKey)
	}
	c, err := newClient("brave", cfg, "X-Subscription-Token", "")
	if err != nil {
		return nil, err
	}
	return &Brave{c}, nil
}

// Search implements ports.SearchProvider. Brave takes 400 characters and 50
// words; more is cut. Above a limit of 20 it makes one call for each 20, up to
// five, within the one time limit; a later call that fails takes nothing away
// from what was found. Brave gives no scores: they are 1, 1/2, 1/3 and so on.
func (b *Brave) Search(ctx context.Context, req ports.SearchRequest) ([]framing.Result, error) {
	return b.client.search(ctx, req, b.find)
}

// Warm connects ahead of the first search, without the key and without using
// up a query. An error wraps ports.ErrSearchUnavailable and means only that the
// first search connects.
func (b *Brave) Warm(ctx context.Context) error {
	_, err := b.client.warm(ctx, "")
	return err
}

// Close lets go of kept connections; searches that run are not touched.
func (b *Brave) Close() { b.client.close() }

func (b *Brave) find(ctx context.Context, query string, limit int) ([]framing.Result, error) {
	var found []framing.Result
	query = cutForBrave(query)
	for page := 0; page*bravePage < limit; page++ {
		hits, more, err := b.page(ctx, query, min(limit, bravePage), page)
		if err != nil {
			if len(found) == 0 {
				return nil, err
			}
			break
		}
		found = append(found, hits...)
		if !more {
			break
		}
	}
	for i := range found {
		found[i].Score = rankScore(i)
	}
	return found, nil
}

// page asks for one page; offset counts pages, not results.
func (b *Brave) page(ctx context.Context, query string, count, page int) (hits []framing.Result, more bool, err error) {
	params := url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "text_decorations": {"false"}}
	if page > 0 {
		params.Set("offset", strconv.Itoa(page))
	}
	r, err := b.client.get(ctx, "res/v1/web/search", params)
	switch {
	case err != nil:
		return nil, false, err
	case r.status == http.StatusUnprocessableEntity && braveCode(r.body) == braveKeyFault:
		b.client.reportKey(r.status)
		return nil, false, refused(r.status, braveKeyFault)
	case r.status != http.StatusOK:
		return nil, false, refused(r.status, "")
	}
	return decodeBrave(r.body)
}

func decodeBrave(body []byte) (hits []framing.Result, more bool, err error) {
	var answer struct {
		Type  string `json:"type"`
		Query struct {
			More bool `json:"more_results_available"`
		} `json:"query"`
		Web struct {
			Results list[struct {
				URL         string `json:"url"`
				Title       string `json:"title"`
				Description string `json:"description"`
			}] `json:"results"`
		} `json:"web"`
	}
	// The member "web" is left out when nothing was found; "type" never is.
	if json.Unmarshal(body, &answer) != nil || answer.Type != "search" {
		return nil, false, errUnusable
	}
	hits = make([]framing.Result, len(answer.Web.Results))
	for i, hit := range answer.Web.Results {
		hits[i] = framing.Result{URL: hit.URL, Title: plainText(hit.Title), Snippet: plainText(hit.Description)}
	}
	return hits, answer.Query.More, nil
}

func braveCode(body []byte) string {
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	return answer.Error.Code
}

func cutForBrave(query string) string {
	words := strings.Fields(query)
	query = strings.Join(words[:min(len(words), braveWords)], " ")
	for utf8.RuneCountInString(query) > braveRunes {
		_, last := utf8.DecodeLastRuneInString(query)
		query = query[:len(query)-last]
	}
	return strings.TrimSpace(query)
}
