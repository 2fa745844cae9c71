package host

import (
	"context"
	"time"

	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/ports"
)

// search fills a.results and sends them. When the service has failed they are
// sent only if the page index has some: an empty list means "searched, nothing
// found" and must stay true.
func (a *answering) search(ctx context.Context) error {
	if a.q.Query != "" {
		if err := a.find(ctx); err != nil {
			return err
		}
	}
	if a.searchFailed && len(a.results) == 0 {
		return nil
	}
	found := framing.SearchResult{Results: a.results, TookMS: a.sinceBegan().Milliseconds()}
	if found.Results == nil {
		found.Results = []framing.Result{}
	}
	if err := a.send(ctx, func() error { return a.sink.Results(ctx, found) }); err != nil {
		return err
	}
	took := a.sinceBegan()
	a.host.note(func(hl *health) { hl.firstResults.add(took) })
	return nil
}

// sinceBegan is wall-clock time, which may have been set back.
func (a *answering) sinceBegan() time.Duration { return max(a.host.deps.Now().Sub(a.began), 0) }

// find asks the service, then the page index for the room that is left.
func (a *answering) find(ctx context.Context) error {
	service, err := a.askService(ctx)
	if err != nil {
		return err
	}
	current, _ := pages.CanonicalURL(a.q.Context.URL)
	var local []framing.Result
	if len(service) < a.q.MaxResults {
		if local, err = a.askIndex(ctx, current); err != nil {
			return err
		}
	}
	a.results = answers.Merge(service, local, current, a.q.MaxResults)
	return nil
}

// askService gives an error only when ctx has ended.
func (a *answering) askService(ctx context.Context) (found []framing.Result, err error) {
	if a.host.deps.Search == nil {
		return nil, nil
	}
	if err := a.host.searches.enter(ctx); err != nil {
		return nil, err
	}
	defer a.host.searches.leave()
	err = guard("search service", func() (err error) {
		found, err = a.host.deps.Search.Search(ctx, ports.SearchRequest{Query: a.q.Query, Limit: a.q.MaxResults})
		return err
	})
	switch {
	case ctx.Err() != nil && !panicked(err):
		return nil, ctx.Err()
	case err != nil:
		a.searchFailed = true
		a.host.note(func(hl *health) { hl.searchFailure.add(a.host.deps.Now(), err) })
		a.host.logFailure("the search service failed", err)
		return nil, nil
	}
	return found, nil
}

// askIndex gives an error only when ctx has ended. It asks for more than there
// is room for, because some may be in the list already.
func (a *answering) askIndex(ctx context.Context, current string) (found []framing.Result, err error) {
	if a.host.deps.Index == nil {
		return nil, nil
	}
	err = guard("page index", func() (err error) {
		found, err = a.host.deps.Index.SearchPages(ctx, ports.PageQuery{
			Text: a.q.Query, Reader: a.asker, Shared: a.host.opts.IndexShared, ExcludeURL: current, Limit: framing.MaxResults,
		})
		return err
	})
	switch {
	case ctx.Err() != nil && !panicked(err):
		return nil, ctx.Err()
	case err != nil:
		a.searchFailed = a.searchFailed || a.host.deps.Search == nil
		a.host.logFailure("the page index could not be searched", err)
		return nil, nil
	}
	return found, nil
}
