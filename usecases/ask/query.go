package ask

import (
	"context"
	"errors"
	"strings"
	"time"

	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/recovery"
)

// Question is a query with who asks it.
type Question struct {
	Asker string // the extension's origin, or pages.Owner
	Query framing.SearchQuery
}

// AnswerQuery answers a question through its sink: the results if they were
// asked for, then the answer in pieces, then exactly one final token, also when
// a service fails or panics. Before the final token page, question and answer are
// on disk, where they are kept at all; that is waited for a few seconds at most.
// When ctx ends (a Cancel, a lost connection) it returns as soon as the call to
// the service in use has returned, and does not call the sink any more. It waits
// for its turn where too many searches or generations are running.
func (s *Service) AnswerQuery(ctx context.Context, q Question, sink ports.AnswerSink) {
	q.Query.Query = strings.TrimSpace(q.Query.Query)
	a := &pendingAnswer{service: s, q: q.Query, asker: q.Asker, sink: sink, began: s.deps.Now()}
	a.record = a.beginRecord()
	if err := recovery.Call("answering", func() error { return a.run(ctx) }); err != nil {
		a.fail(ctx, err)
	}
	s.updateHealth(func(hl *health) {
		switch {
		case a.ended: // counted before it was sent
		case a.counted:
			hl.answered--
			hl.canceled++
		default:
			hl.canceled++
		}
	})
	a.endRecord(ctx)
}

// pendingAnswer is one question while it is being answered.
type pendingAnswer struct {
	service *Service
	q       framing.SearchQuery // its Query trimmed
	asker   string
	sink    ports.AnswerSink
	began   time.Time

	results      []framing.Result // what the reader sees, numbered from 1
	searchFailed bool
	emitted      bool  // a piece of the answer has gone out
	sinkErr      error // the sink refused; nothing more may be sent
	counted      bool  // as answered, which holds once it has ended too
	ended        bool  // the final token has gone out

	record *record // nil: not recorded
	kept   bool    // the recorder was asked to
}

// run gives an error only when nothing more may or can be sent.
func (a *pendingAnswer) run(ctx context.Context) error {
	if a.q.Search {
		if err := a.search(ctx); err != nil {
			return err
		}
	}
	final, err := a.answer(ctx)
	if err != nil {
		return err
	}
	return a.end(ctx, final)
}

// fail ends a question that our own code or the sink has broken. An error with
// ctx ended is the normal end of a cancelled question.
func (a *pendingAnswer) fail(ctx context.Context, err error) {
	if ctx.Err() != nil && !recovery.Is(err) {
		return
	}
	a.service.logFailure("a question could not be answered", err)
	if a.ended || a.sinkErr != nil || ctx.Err() != nil {
		return
	}
	final := a.notice(answers.Interrupted)
	if err := recovery.Call("sink", func() error { return a.end(ctx, final) }); err != nil && ctx.Err() == nil {
		a.service.logFailure("a question could not be ended", err)
	}
}

// answer sends the pieces of the answer and gives the text of the final token.
func (a *pendingAnswer) answer(ctx context.Context) (final string, err error) {
	if a.q.Query == "" || a.service.opts.NoAnswers {
		return "", nil
	}
	prompt := answers.BuildPrompt(a.q.Query, a.q.Context, a.results, a.service.opts.Language, a.service.opts.MaxPrompt)
	err = a.service.Generate(ctx, ports.Prompt{System: prompt.System, User: prompt.User},
		func(piece string) error { return a.token(ctx, piece) })
	switch {
	case err == nil:
		return "", nil
	case a.sinkErr != nil:
		return "", a.sinkErr
	case ctx.Err() != nil && !recovery.Is(err):
		return "", ctx.Err()
	case errors.Is(err, ports.ErrNoModel) && !a.emitted:
		return a.extract(ctx, answers.NothingFound)
	case errors.Is(err, ports.ErrModelEmpty):
		return a.notice(answers.ModelEmpty), nil
	case ports.EndNotice(err) != 0:
		final = a.notice(ports.EndNotice(err))
		a.record.says(final)
		return final, nil
	case a.emitted:
		return a.notice(answers.Interrupted), nil
	}
	return a.extract(ctx, answers.ModelFailed)
}

// extract sends the extractive answer. Where a model has failed the final token
// says so in any case; otherwise only when no sentence matches.
func (a *pendingAnswer) extract(ctx context.Context, kind answers.NoticeKind) (final string, err error) {
	for _, s := range answers.Extract(a.q.Query, a.q.Context, a.results) {
		if err := a.token(ctx, s.Shown()); err != nil {
			return "", err
		}
	}
	if kind == answers.NothingFound && a.emitted {
		return "", nil
	}
	if kind == answers.NothingFound && a.searchFailed {
		kind = answers.SearchFailed
	}
	return a.notice(kind), nil
}

// notice is a fixed sentence, separated by a blank line from text that was sent
// before it.
func (a *pendingAnswer) notice(kind answers.NoticeKind) string {
	sentence := answers.Notice(kind, a.service.opts.Language)
	if a.emitted {
		return "\n\n" + sentence
	}
	return sentence
}

func (a *pendingAnswer) token(ctx context.Context, piece string) error {
	if err := a.callSink(ctx, func() error { return a.sink.Token(ctx, piece, false) }); err != nil {
		return err
	}
	a.emitted = true
	a.record.add(piece)
	return nil
}

// end keeps the answer and sends the final token.
func (a *pendingAnswer) end(ctx context.Context, final string) error {
	if err := a.keep(ctx, final); err != nil {
		return err
	}
	err := a.callSink(ctx, func() error {
		a.countAnswered()
		return a.sink.Token(ctx, final, true)
	})
	a.ended = err == nil
	return err
}

// countAnswered comes before the final token, so that whoever has read the whole
// answer finds it in the figures.
func (a *pendingAnswer) countAnswered() {
	if a.counted {
		return // a sink that panicked is tried once more
	}
	took := a.service.deps.Now().Sub(a.began)
	a.service.updateHealth(func(hl *health) {
		hl.answered++
		hl.finals.add(took)
	})
	a.counted = true
}

// callSink calls the sink unless the question has ended.
func (a *pendingAnswer) callSink(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.sinkErr == nil {
		a.sinkErr = call()
	}
	return a.sinkErr
}

func (s *Service) logFailure(what string, err error) { s.deps.Log.Warn(what, "cause", err) }
