package ask

import (
	"context"
	"strings"
	"time"

	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/recovery"
)

// search fills a.results and sends them. When the service has failed they are
// sent only if the page index has some: an empty list means "searched, nothing
// found" and must stay true.
func (a *pendingAnswer) search(ctx context.Context) error {
	if a.q.Query != "" {
		var err error
		a.results, a.searchFailed, err = a.service.find(ctx, lookup{
			text: a.q.Query, reader: a.asker, page: a.q.Context.URL, limit: a.q.MaxResults, service: true,
		})
		if err != nil {
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
	if err := a.callSink(ctx, func() error { return a.sink.Results(ctx, found) }); err != nil {
		return err
	}
	took := a.sinceBegan()
	a.service.updateHealth(func(hl *health) { hl.firstResults.add(took) })
	return nil
}

// sinceBegan is wall-clock time, which may have been set back.
func (a *pendingAnswer) sinceBegan() time.Duration { return max(a.service.deps.Now().Sub(a.began), 0) }

// Find looks for what may help to answer a text of the owner, on this machine alone
// (decision D16): in the page index, which the owner sees all of. excludeURL is the
// page that is at hand already; "" for none. There are at most limit results, best
// first, and none for a blank text. An error means that ctx has ended.
func (s *Service) Find(ctx context.Context, text, excludeURL string, limit int) ([]framing.Result, error) {
	return s.findForOwner(ctx, lookup{text: text, page: excludeURL, limit: limit})
}

// Search is Find with the search service before the page index, as for a question of
// the browser. A service that fails is logged and counts in Health.
func (s *Service) Search(ctx context.Context, text, excludeURL string, limit int) ([]framing.Result, error) {
	return s.findForOwner(ctx, lookup{text: text, page: excludeURL, limit: limit, service: true})
}

func (s *Service) findForOwner(ctx context.Context, q lookup) ([]framing.Result, error) {
	q.text, q.reader, q.limit = strings.TrimSpace(q.text), pages.Owner, min(q.limit, framing.MaxResults)
	if q.text == "" || q.limit < 1 {
		return nil, ctx.Err()
	}
	found, _, err := s.find(ctx, q)
	return found, err
}

// lookup is what is looked for, and on whose behalf.
type lookup struct {
	text   string // trimmed, not empty
	reader string // the extension's origin, or pages.Owner
	page   string // URL of the page at hand
	limit  int    // at most framing.MaxResults
	// service: the text may go to the search service.
	service bool
}

// find asks the service, if it may, then the page index for the room that is left. failed
// says that an empty list does not mean "nothing found". An error means that ctx
// has ended.
func (s *Service) find(ctx context.Context, q lookup) (found []framing.Result, failed bool, err error) {
	service, failed, err := s.askService(ctx, q)
	if err != nil {
		return nil, failed, err
	}
	q.page, _ = pages.CanonicalURL(q.page)
	var local []framing.Result
	if len(service) < q.limit {
		var indexFailed bool
		if local, indexFailed, err = s.askIndex(ctx, q); err != nil {
			return nil, failed, err
		}
		failed = failed || indexFailed && s.deps.Search == nil
	}
	return answers.Merge(service, local, q.page, q.limit), failed, nil
}

// askService gives an error only when ctx has ended.
func (s *Service) askService(ctx context.Context, q lookup) (found []framing.Result, failed bool, err error) {
	if s.deps.Search == nil || !q.service {
		return nil, false, nil
	}
	if err := s.searches.Acquire(ctx); err != nil {
		return nil, false, err
	}
	defer s.searches.Release()
	err = recovery.Call("search service", func() (err error) {
		found, err = s.deps.Search.Search(ctx, ports.SearchRequest{Query: q.text, Limit: q.limit})
		return err
	})
	switch {
	case ctx.Err() != nil && !recovery.Is(err):
		return nil, false, ctx.Err()
	case err != nil:
		s.updateHealth(func(hl *health) { hl.searchFailure.add(s.deps.Now(), err) })
		s.logFailure("the search service failed", err)
		return nil, true, nil
	}
	return found, false, nil
}

// askIndex gives an error only when ctx has ended. It asks for more than there
// is room for, because some may be in the list already.
func (s *Service) askIndex(ctx context.Context, q lookup) (found []framing.Result, failed bool, err error) {
	if s.deps.Index == nil {
		return nil, false, nil
	}
	err = recovery.Call("page index", func() (err error) {
		found, err = s.deps.Index.SearchPages(ctx, ports.PageQuery{
			Text: q.text, Reader: q.reader, Shared: s.opts.IndexShared, ExcludeURL: q.page, Limit: framing.MaxResults,
		})
		return err
	})
	switch {
	case ctx.Err() != nil && !recovery.Is(err):
		return nil, false, ctx.Err()
	case err != nil:
		s.logFailure("the page index could not be searched", err)
		return nil, true, nil
	}
	return found, false, nil
}
