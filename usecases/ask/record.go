package ask

import (
	"context"
	"strings"

	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/recovery"
)

// record is what is kept of a question's answer. A nil one keeps nothing.
type record struct {
	text     strings.Builder
	full     bool // the text has been cut
	complete bool // the final token went out and held no notice
	end      func(context.Context, ports.Answered)
}

// beginRecord gives nil for what is not recorded: a question without words or
// without a page that may be kept.
func (s *Service) beginRecord(q framing.SearchQuery) *record {
	address, ok := pages.CanonicalURL(q.Context.URL)
	if s.deps.Recorder == nil || q.Query == "" || !ok {
		return nil
	}
	q.Context.URL = address
	r := &record{}
	err := recovery.Call("recorder", func() error {
		r.end = s.deps.Recorder.BeginAnswer(ports.AnsweredQuestion{Question: q.Query, Page: q.Context})
		return nil
	})
	if err != nil {
		s.logFailure("a question was not recorded", err)
	}
	if r.end == nil {
		return nil
	}
	return r
}

func (r *record) add(piece string) {
	if r == nil || r.full {
		return
	}
	kept := text.Truncate(piece, ports.MaxAnswered-r.text.Len())
	r.full = kept != piece
	r.text.WriteString(kept)
}

func (r *record) ended(complete bool) {
	if r != nil {
		r.complete = complete
	}
}

// endRecord keeps the answer, also that of a question whose ctx has ended.
func (a *pendingAnswer) endRecord(ctx context.Context) {
	if a.record == nil {
		return
	}
	answered := ports.Answered{Text: a.record.text.String(), Results: a.results, Complete: a.record.complete}
	err := recovery.Call("recorder", func() error {
		a.record.end(context.WithoutCancel(ctx), answered)
		return nil
	})
	if err != nil {
		a.service.logFailure("an answer was not recorded", err)
	}
}
