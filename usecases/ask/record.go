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
	kept     ports.AnswerRecord
}

// beginRecord gives nil for what is not recorded: a question without a page that
// may be kept.
func (s *Service) beginRecord(q framing.SearchQuery) *record {
	address, ok := pages.CanonicalURL(q.Context.URL)
	if s.deps.Recorder == nil || !ok {
		return nil
	}
	q.Context.URL = address
	r := &record{}
	err := recovery.Call("recorder", func() error {
		r.kept = s.deps.Recorder.BeginAnswer(ports.AnsweredQuestion{Question: q.Query, Page: q.Context})
		return nil
	})
	if err != nil {
		s.logFailure("a question was not recorded", err)
	}
	if r.kept == nil {
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

// keepsPage says, when asked, whether the question's page may be kept; nil: no
// recorder decides that, and it may.
func (a *pendingAnswer) keepsPage() func() bool {
	switch {
	case a.service.deps.Recorder == nil:
		return nil
	case a.record == nil:
		return func() bool { return false }
	}
	return a.record.kept.KeepsPage
}

// endRecord keeps the answer, also that of a question whose ctx has ended.
func (a *pendingAnswer) endRecord(ctx context.Context) {
	if a.record == nil {
		return
	}
	answered := ports.Answered{Text: a.record.text.String(), Results: a.results, Complete: a.record.complete}
	err := recovery.Call("recorder", func() error {
		a.record.kept.End(context.WithoutCancel(ctx), answered)
		return nil
	})
	if err != nil {
		a.service.logFailure("an answer was not recorded", err)
	}
}
