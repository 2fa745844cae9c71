package ports

import (
	"context"

	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/retention"
)

// PageQuery asks the local page index.
type PageQuery struct {
	Text       string // the question
	Reader     string // origin that asks; pages.Owner finds every page
	Shared     bool   // true: pages of all origins are found by all (index.shared)
	ExcludeURL string // canonical URL of the page in front of the reader, or ""
	Limit      int    // 1..framing.MaxResults
}

// PageList asks for a part of the list of pages, newest seen first.
type PageList struct {
	Text   string // only those with all its words, or with it in address or title; "": all
	Offset int
	Limit  int
}

// PageWriter keeps pages, as a part of the change of a PersonalTx. The same origin
// and URL is replaced, and the bounds of package pages are kept (oldest seen go
// first).
type PageWriter interface {
	IndexPage(page pages.Page) error
}

// PageIndex remembers the pages that were asked about. SearchPages
// gives at most Limit results, best first, one per URL, score = −bm25, and
// never ExcludeURL. Pages gives a part of
// the list and says how many there are in all. ForgetPages removes the pages whose
// URL is to go, of every origin, and says how many; their texts and words are then
// out of the store's files too. What cannot be taken out at once for somebody who
// reads just then goes with the next removal or start. ClearPages removes all and
// says how many.
type PageIndex interface {
	SearchPages(ctx context.Context, q PageQuery) ([]framing.Result, error)
	Pages(ctx context.Context, q PageList) (list []pages.Listing, total int, err error)
	ForgetPages(ctx context.Context, goes func(url string) bool) (int, error)
	ClearPages(ctx context.Context) (int, error)
}

// RunDays keeps the calendar of run-days, which is empty at first. The pages and
// conversations of the same store are of its Day when they are indexed, or stored
// with another UpdatedAt. SetRunDays is durable before it returns.
type RunDays interface {
	RunDays(ctx context.Context) (retention.Calendar, error)
	SetRunDays(ctx context.Context, c retention.Calendar) error
}

// AgingPages removes pages for their age: those that were last seen before a
// run-day, as PageIndex.ForgetPages does.
type AgingPages interface {
	ForgetUnseen(ctx context.Context, before int64) (n int, err error)
}
