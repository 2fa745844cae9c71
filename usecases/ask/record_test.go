package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/framing"
	"plexus/ports"
)

// tapedRecorder writes on the tape when it keeps an answer.
type tapedRecorder struct {
	tape   *tape
	asked  []ports.AnsweredQuestion
	kept   []ports.Answered
	ended  []ports.Answered
	ctxErr error // of the ctx of the last End

	onBegin, onKeep, onEnd func()
	keepErr, endErr        error
	refuse                 bool // to keep the question
}

func (r *tapedRecorder) BeginAnswer(q ports.AnsweredQuestion) ports.AnswerRecord {
	r.asked = append(r.asked, q)
	if r.onBegin != nil {
		r.onBegin()
	}
	if r.refuse {
		return nil
	}
	return r
}

func (r *tapedRecorder) Keep(ctx context.Context, a ports.Answered) error {
	r.kept = append(r.kept, a)
	if r.onKeep != nil {
		r.onKeep()
	}
	_ = r.tape.note(ctx, "kept")
	return cmp.Or(r.keepErr, ctx.Err())
}

func (r *tapedRecorder) End(ctx context.Context, a ports.Answered) error {
	r.ended, r.ctxErr = append(r.ended, a), ctx.Err()
	if r.onEnd != nil {
		r.onEnd()
	}
	return r.endErr
}

func TestAnswerIsKeptBeforeItsFinal(t *testing.T) {
	s := newStage()
	r := s.record
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	s.expect(t, "results 1", `token "Hel"`, `token "lo"`, "kept", `final ""`)
	q := bridgeQuestion()
	page := q.Query.Context
	page.URL = "https://page.test/secretpath"
	if want := (ports.AnsweredQuestion{Asker: q.Asker, Question: "When did it open?", Page: page}); len(r.asked) != 1 || r.asked[0] != want {
		t.Errorf("begun with %+v, want %+v", r.asked, want)
	}
	for _, got := range [][]ports.Answered{r.kept, r.ended} {
		if len(got) != 1 || got[0].Text != "Hello" || !got[0].Complete || !slices.Equal(got[0].Results, []framing.Result{serviceHit()}) {
			t.Errorf("kept and ended with %+v", got)
		}
	}
}

func TestWhatIsNotRecorded(t *testing.T) {
	for _, url := range []string{"", "about:blank", "file:///home/x"} {
		s := newStage()
		q := bridgeQuestion()
		q.Query.Context.URL = url
		s.service(t).AnswerQuery(t.Context(), q, s.tape)
		if len(s.record.asked) != 0 {
			t.Errorf("a question on %q was recorded", url)
		}
		s.expect(t, "results 1", `token "Hel"`, `token "lo"`, `final ""`)
	}
}

// Without words there is no question to record; the recorder still decides about
// the page.
func TestPageWithoutAQuestionIsTheRecordersToo(t *testing.T) {
	s := newStage()
	q := bridgeQuestion()
	q.Query.Query = " \t"
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	if len(s.record.asked) != 1 || s.record.asked[0].Question != "" || len(s.record.kept) != 1 {
		t.Errorf("asked %+v, kept %+v", s.record.asked, s.record.kept)
	}
}

// TestEndThatDoesNotGoOutIsCorrected: an answer that was kept as whole, and whose
// FINAL cannot be sent, is told to be none.
func TestEndThatDoesNotGoOutIsCorrected(t *testing.T) {
	for name, set := range map[string]func(*stage, context.CancelFunc){
		"cancelled while it is kept": func(s *stage, cancel context.CancelFunc) { s.record.onKeep = cancel },
		"sink panics at the end": func(s *stage, _ context.CancelFunc) {
			s.tape.onCall = func(event string) {
				if strings.HasPrefix(event, "final") {
					panic("gone")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newStage()
			set(s, cancel)
			s.service(t).AnswerQuery(ctx, bridgeQuestion(), s.tape)
			r := s.record
			if len(r.kept) != 1 || !r.kept[0].Complete || len(r.ended) != 1 || r.ended[0].Complete || r.ctxErr != nil {
				t.Errorf("kept %+v, ended %+v with a ctx that says %v", r.kept, r.ended, r.ctxErr)
			}
		})
	}
}

// TestAnswerThatIsNotWholeIsRecordedAsSuch: also where nobody waits any more.
func TestAnswerThatIsNotWholeIsRecordedAsSuch(t *testing.T) {
	tests := []struct {
		name string
		set  func(*stage, context.CancelFunc)
		text string
	}{
		{"cancelled before it begins", func(_ *stage, cancel context.CancelFunc) { cancel() }, ""},
		{"cancelled after a piece", func(s *stage, cancel context.CancelFunc) { s.tape.onCall = onToken(cancel) }, ""},
		{"cancelled between two pieces", func(s *stage, cancel context.CancelFunc) {
			s.model.Wait = func(_ context.Context, n int) error {
				if n == 1 {
					cancel()
				}
				return nil
			}
		}, "Hel"},
		{"broken off", func(s *stage, _ context.CancelFunc) { s.model.Err = errInterrupted }, "Hello"},
		{"model fails", func(s *stage, _ context.CancelFunc) { s.model.Pieces, s.model.Err, s.search = nil, errUnavailable, nil },
			"The bridge opened in 1921. [page] "},
		{"model says nothing", func(s *stage, _ context.CancelFunc) { s.model.Pieces = nil }, ""},
		{"sink is gone", func(s *stage, _ context.CancelFunc) { s.tape.err = fmt.Errorf("no room") }, ""},
		{"sink panics", func(s *stage, _ context.CancelFunc) { s.tape.onCall = func(string) { panic("secret") } }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newStage()
			r := s.record
			tt.set(s, cancel)
			s.service(t).AnswerQuery(ctx, bridgeQuestion(), s.tape)
			if len(r.ended) != 1 || r.ctxErr != nil {
				t.Fatalf("ended %d times, with a ctx that says %v", len(r.ended), r.ctxErr)
			}
			if a := r.ended[0]; a.Complete || a.Text != tt.text {
				t.Errorf("recorded %q, complete: %v; want %q", a.Text, a.Complete, tt.text)
			}
			s.expectSilentLog(t)
		})
	}
}

func TestExtractedAnswerIsRecordedAsWhole(t *testing.T) {
	s := newStage()
	r := s.record
	s.model, s.search = nil, nil
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	if a := r.ended[0]; !a.Complete || a.Text != "The bridge opened in 1921. [page] " {
		t.Errorf("recorded %+v", a)
	}
}

func TestRecorderThatFailsSpoilsNothing(t *testing.T) {
	plain := []string{"results 1", `token "Hel"`, `token "lo"`, `final ""`}
	kept := []string{"results 1", `token "Hel"`, `token "lo"`, "kept", `final ""`}
	tests := []struct {
		name  string
		set   func(*tapedRecorder)
		want  []string
		logs  string
		count int64 // of failures
	}{
		{"begin panics", func(r *tapedRecorder) { r.onBegin = func() { panic("secret") } }, plain, "was not recorded", 1},
		{"keep panics", func(r *tapedRecorder) { r.onKeep = func() { panic("secret") } }, plain, "recorder panicked", 1},
		{"keep fails", func(r *tapedRecorder) { r.keepErr = errors.New("disk full") }, kept, "disk full", 1},
		{"end panics", func(r *tapedRecorder) { r.onEnd = func() { panic("secret") } }, kept, "was not recorded", 1},
		{"end fails", func(r *tapedRecorder) { r.endErr = errors.New("disk full") }, kept, "disk full", 1},
		{"it does not keep this one", func(r *tapedRecorder) { r.refuse = true }, plain, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage()
			tt.set(s.record)
			h := s.service(t)
			h.AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
			s.expect(t, tt.want...)
			s.expectSilentLog(t)
			if logged := s.log.String(); tt.logs == "" && logged != "" || !strings.Contains(logged, tt.logs) {
				t.Errorf("the log is %q, want %q in it", logged, tt.logs)
			}
			if got := h.Health(); got.Answered != 1 || got.Canceled != 0 || got.Keep.Count != tt.count {
				t.Errorf("health is %+v", got)
			}
		})
	}
}

func TestRecordedTextIsBounded(t *testing.T) {
	s := newStage()
	r := s.record
	s.model.Pieces, s.model.Count = []string{strings.Repeat("桥", 1000), "a"}, 100
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	a := r.ended[0]
	whole := strings.Repeat(strings.Join(s.model.Pieces, ""), 50)
	if len(a.Text) > ports.MaxAnswered || len(a.Text) < ports.MaxAnswered-utf8.UTFMax || !strings.HasPrefix(whole, a.Text) || !a.Complete {
		t.Errorf("recorded %d bytes, complete: %v", len(a.Text), a.Complete)
	}
}

func TestAllocs_NothingIsKeptWithoutARecorder(t *testing.T) {
	var none *record
	if n := testing.AllocsPerRun(100, func() { none.add("piece") }); n != 0 {
		t.Errorf("%v allocations for each piece", n)
	}
	s := newStage()
	s.record = nil
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	s.expect(t, "results 1", `token "Hel"`, `token "lo"`, `final ""`)
}
