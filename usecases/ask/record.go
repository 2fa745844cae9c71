package ask

import (
	"context"
	"strings"

	"plexus/domain/answers"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/recovery"
)

// record is what is kept of a question's answer. A nil one keeps nothing.
type record struct {
	text     strings.Builder
	full     bool   // the text has been cut
	complete bool   // see ports.Answered
	notice   string // how the model itself ended the answer
	keeper   ports.AnswerRecord
}

// beginRecord gives nil for what is not recorded: a question without a page that
// may be kept.
func (a *pendingAnswer) beginRecord() *record {
	address, ok := pages.CanonicalURL(a.q.Context.URL)
	if a.service.deps.Recorder == nil || !ok {
		return nil
	}
	asked := ports.AnsweredQuestion{Asker: a.asker, Question: a.q.Query, Page: a.q.Context}
	asked.Page.URL = address
	r := &record{}
	err := recovery.Call("recorder", func() error {
		r.keeper = a.service.deps.Recorder.BeginAnswer(asked)
		return nil
	})
	if err != nil {
		a.unkept("a question was not recorded", err)
	}
	if r.keeper == nil {
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

// says notes how the model ended the answer.
func (r *record) says(notice string) {
	if r != nil {
		r.notice = strings.TrimSpace(notice)
	}
}

// keep makes the answer durable, so that none that is seen whole is lost. An
// answer that cannot be kept, or not in time, is shown all the same. It gives an
// error only when ctx has ended.
func (a *pendingAnswer) keep(ctx context.Context, final string) error {
	if err := ctx.Err(); err != nil || a.record == nil {
		return err
	}
	a.record.complete = final == ""
	if a.kept {
		return nil // a sink that panicked is tried once more
	}
	a.kept = true
	err := recovery.Call("recorder", func() error { return a.record.keeper.Keep(ctx, a.answered()) })
	if ctx.Err() != nil && !recovery.Is(err) {
		return ctx.Err()
	}
	if err != nil {
		a.unkept("an answer is shown that is not kept", err)
	}
	return ctx.Err()
}

// endRecord says how the question has ended, also one whose ctx has.
func (a *pendingAnswer) endRecord(ctx context.Context) {
	if a.record == nil {
		return
	}
	a.record.complete = a.record.complete && a.ended
	err := recovery.Call("recorder", func() error {
		return a.record.keeper.End(context.WithoutCancel(ctx), a.answered())
	})
	if err != nil {
		a.unkept("an answer was not recorded", err)
	}
}

func (a *pendingAnswer) answered() ports.Answered {
	return ports.Answered{
		Text: answers.Spoken(a.record.text.String()), Ended: a.record.notice, Results: a.results, Complete: a.record.complete,
	}
}

// unkept logs and counts what is missing on the disk.
func (a *pendingAnswer) unkept(what string, err error) {
	a.service.updateHealth(func(hl *health) { hl.keepFailure.add(a.service.deps.Now(), err) })
	a.service.logFailure(what, err)
}
