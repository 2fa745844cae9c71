package ports

import (
	"context"
	"errors"

	"plexus/domain/framing"
)

// SearchRequest is all that may leave this machine: the question's words and a
// limit. There is no room in it for the page context, on purpose.
type SearchRequest struct {
	Query string // trimmed, not empty
	Limit int    // 1..framing.MaxResults
}

// SearchProvider is a search service.
//
// Search makes one logical attempt and returns as soon as ctx ends. It never
// returns more than Limit results, none with an empty URL, best first, scores
// finite. Finding nothing is an empty slice and no error. Every fault wraps
// ErrSearchUnavailable; its text names the cause for the log and holds neither
// the key nor the query.
type SearchProvider interface {
	Search(ctx context.Context, req SearchRequest) ([]framing.Result, error)
}

// ErrSearchUnavailable is the service's failure, whatever the cause.
var ErrSearchUnavailable = errors.New("search service unavailable")
