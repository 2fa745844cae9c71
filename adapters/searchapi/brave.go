package searchapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"plexus/domain/framing"
	"plexus/domain/text"
)

const (
	braveBaseURL  = "https://api.search.brave.com"
	bravePage     = 20 // most results of one call
	braveRunes    = 400
	braveWords    = 50
	braveKeyFault = "SUBSCRIPTION_TOKEN_INVALID" // comes with a status 422
)

// NewBrave asks the Brave Search API. It checks the Config and sends nothing yet.
// A key is required; an empty BaseURL is Brave's own. Brave takes 400 characters
// and 50 words; more is cut. Above a limit of 20 there is one call for each 20, up
// to five, within the one time limit; a later call that fails takes nothing away
// from what was found. Brave gives no scores: they are 1, 1/2, 1/3 and so on.
func NewBrave(cfg Config) (*Service, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = braveBaseURL
	}
	if cfg.Key.Empty() {
		return nil, fmt.Errorf("%s: Brave needs a key", settingKey)
	}
	s, err := newService("brave", cfg, "X-Subscription-Token", "")
	if err != nil {
		return nil, err
	}
	s.find = brave{s}.find
	return s, nil
}

type brave struct{ *Service }

func (b brave) find(ctx context.Context, query string, limit int) ([]framing.Result, error) {
	words := strings.Fields(query)
	query = strings.Join(words[:min(len(words), braveWords)], " ")
	query = strings.TrimSpace(text.TruncateRunes(query, braveRunes))
	var found []framing.Result
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
func (b brave) page(ctx context.Context, query string, count, page int) (hits []framing.Result, more bool, err error) {
	params := url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "text_decorations": {"false"}}
	if page > 0 {
		params.Set("offset", strconv.Itoa(page))
	}
	r, err := b.get(ctx, "res/v1/web/search", params)
	switch {
	case err != nil:
		return nil, false, err
	case r.status == http.StatusUnprocessableEntity:
		var answer struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		if json.Unmarshal(r.body, &answer) == nil && answer.Error.Code == braveKeyFault {
			b.reportKey(r.status)
			return nil, false, statusError(r.status, braveKeyFault)
		}
	}
	if r.status != http.StatusOK {
		return nil, false, statusError(r.status, "")
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
