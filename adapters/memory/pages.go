package memory

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
)

// Pages is a page index that lives as long as the process. A search reads every
// page, so it is for tests and for small sets.
type Pages struct {
	now    func() time.Time
	bounds pages.Bounds
	days   RunDays

	mu   sync.Mutex
	rows []*storedPage // oldest seen first
}

var _ ports.PageIndex = (*Pages)(nil)

// NewPages gives an empty index with the given clock and bounds.
func NewPages(now func() time.Time, bounds pages.Bounds) *Pages {
	return &Pages{now: now, bounds: bounds}
}

type storedPage struct {
	pages.Page
	seen        time.Time
	day         int64          // of seen
	title, body map[string]int // how often each word stands there
	length      int            // words in all
}

// add keeps a page. Pages are written in a change of Personal.
func (p *Pages) add(page pages.Page) {
	row := &storedPage{Page: page, seen: p.now(), day: p.days.day(), title: map[string]int{}, body: map[string]int{}}
	row.length = count(row.title, page.Title) + count(row.body, page.Text)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = slices.DeleteFunc(p.rows, func(old *storedPage) bool {
		return old.URL == page.URL && old.Origin == page.Origin
	})
	p.rows = append(p.rows, row)
	for len(p.rows) > 1 && (len(p.rows) > p.bounds.Pages || p.bytes() > p.bounds.Bytes) {
		p.rows = slices.Delete(p.rows, 0, 1)
	}
}

func (p *Pages) bytes() (total int64) {
	for _, row := range p.rows {
		total += int64(len(row.Text))
	}
	return total
}

func count(into map[string]int, s string) int {
	words := text.Words(s)
	for _, w := range words {
		into[text.Stem(w)]++
	}
	return len(words)
}

// SearchPages implements ports.PageIndex.
func (p *Pages) SearchPages(ctx context.Context, q ports.PageQuery) ([]framing.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	words := answers.Keywords(q.Text)
	stems := map[string]bool{}
	for _, w := range words {
		stems[text.Stem(w)] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	rank := p.ranking(stems)
	best := map[string]framing.Result{} // by URL
	for _, row := range p.rows {
		visible := q.Shared || q.Reader == pages.Owner || row.Origin == q.Reader
		if !visible || row.URL == q.ExcludeURL {
			continue
		}
		if score := rank(row); score > float64(best[row.URL].Score) {
			best[row.URL] = framing.Result{URL: row.URL, Title: row.Title, Snippet: text.Snippet(row.Text, words, 200), Score: float32(score)}
		}
	}
	found := make([]framing.Result, 0, len(best))
	for _, r := range best {
		found = append(found, r)
	}
	slices.SortFunc(found, func(a, b framing.Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
	})
	return found[:min(len(found), max(q.Limit, 0))], nil
}

// ranking is BM25 with the usual constants over all pages, the title counting
// four times; 0 means that no word stands there.
func (p *Pages) ranking(stems map[string]bool) func(*storedPage) float64 {
	const saturation, lengthShare, titleWeight = 1.2, 0.75, 4.0
	holders := map[string]int{}
	total := 0
	for _, row := range p.rows {
		total += row.length
		for stem := range stems {
			if row.title[stem]+row.body[stem] > 0 {
				holders[stem]++
			}
		}
	}
	n := float64(len(p.rows))
	mean := max(1, float64(total)/max(1, n))
	return func(row *storedPage) (score float64) {
		for stem := range stems {
			often := titleWeight*float64(row.title[stem]) + float64(row.body[stem])
			rarity := max(1e-6, math.Log((n-float64(holders[stem])+0.5)/(float64(holders[stem])+0.5)))
			score += rarity * often * (saturation + 1) / (often + saturation*(1-lengthShare+lengthShare*float64(row.length)/mean))
		}
		return score
	}
}

// Pages implements ports.PageIndex.
func (p *Pages) Pages(ctx context.Context, q ports.PageList) (list []pages.Listing, total int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, row := range slices.Backward(p.rows) {
		if !row.wanted(strings.ToLower(strings.TrimSpace(q.Text))) {
			continue
		}
		if total++; total > q.Offset && len(list) < q.Limit {
			list = append(list, pages.Listing{URL: row.URL, Title: row.Title, Origin: row.Origin, Bytes: len(row.Text), LastSeen: row.seen})
		}
	}
	return list, total, nil
}

func (s *storedPage) wanted(asked string) bool {
	if strings.Contains(strings.ToLower(s.URL), asked) || strings.Contains(strings.ToLower(s.Title), asked) {
		return true
	}
	words := text.Stems(asked)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return s.title[w]+s.body[w] == 0 })
}

// ForgetPages implements ports.PageIndex.
func (p *Pages) ForgetPages(ctx context.Context, goes func(url string) bool) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.rows)
	p.rows = slices.DeleteFunc(p.rows, func(row *storedPage) bool { return goes(row.URL) })
	return before - len(p.rows), nil
}

// ForgetUnseen implements ports.AgingPages.
func (p *Pages) ForgetUnseen(ctx context.Context, before int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	there := len(p.rows)
	p.rows = slices.DeleteFunc(p.rows, func(row *storedPage) bool { return row.day < before })
	return there - len(p.rows), nil
}

// ClearPages implements ports.PageIndex.
func (p *Pages) ClearPages(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.rows)
	p.rows = nil
	return n, nil
}
