package ask

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/framing"
	"plexus/ports"
)

// tapedRecorder writes on the tape when it is called.
type tapedRecorder struct {
	tape     *tape
	asked    []ports.AnsweredQuestion
	answered []ports.Answered
	ctxErr   error // of the ctx of the last end
	onBegin  func()
	onEnd    func()
	refuse   bool // to keep the question
	forgot   bool // the page, meanwhile
}

func (r *tapedRecorder) BeginAnswer(q ports.AnsweredQuestion) ports.AnswerRecord {
	r.asked = append(r.asked, q)
	r.tape.events = append(r.tape.events, "begun")
	if r.onBegin != nil {
		r.onBegin()
	}
	if r.refuse {
		return nil
	}
	return r
}

func (r *tapedRecorder) KeepsPage() bool { return !r.forgot }

func (r *tapedRecorder) End(ctx context.Context, a ports.Answered) {
	r.answered = append(r.answered, a)
	r.ctxErr = ctx.Err()
	r.tape.events = append(r.tape.events, "recorded")
	if r.onEnd != nil {
		r.onEnd()
	}
}

func recordedStage() (*stage, *tapedRecorder) {
	s := newStage()
	r := &tapedRecorder{tape: s.tape}
	s.record = r
	return s, r
}

func TestAnswerIsRecordedAfterItsFinal(t *testing.T) {
	s, r := recordedStage()
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	s.expect(t, "begun", "results 1", `token "Hel"`, `token "lo"`, "indexed", `final ""`, "recorded")
	page := bridgeQuestion().Query.Context
	page.URL = "https://page.test/secretpath"
	if want := (ports.AnsweredQuestion{Question: "When did it open?", Page: page}); len(r.asked) != 1 || r.asked[0] != want {
		t.Errorf("begun with %+v, want %+v", r.asked, want)
	}
	if a := r.answered[0]; a.Text != "Hello" || !a.Complete || !slices.Equal(a.Results, []framing.Result{serviceHit()}) {
		t.Errorf("recorded %+v", a)
	}
}

func TestWhatIsNotRecorded(t *testing.T) {
	for _, url := range []string{"", "about:blank", "file:///home/x"} {
		s, r := recordedStage()
		q := bridgeQuestion()
		q.Query.Context.URL = url
		s.service(t).AnswerQuery(t.Context(), q, s.tape)
		if len(r.asked) != 0 {
			t.Errorf("a question on %q was recorded", url)
		}
	}
}

// Without words there is no question to record; the recorder still decides about
// the page.
func TestPageWithoutAQuestionIsTheRecordersToo(t *testing.T) {
	s, r := recordedStage()
	q := bridgeQuestion()
	q.Query.Query = " \t"
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	if len(r.asked) != 1 || r.asked[0].Question != "" || len(s.index.kept) != 1 {
		t.Errorf("asked %+v, kept %d pages", r.asked, len(s.index.kept))
	}
}

func TestPageOfWhatIsNotRecordedIsNotIndexed(t *testing.T) {
	for _, words := range []string{"When did it open?", ""} {
		for name, set := range map[string]func(*tapedRecorder){
			"refused from the start": func(r *tapedRecorder) { r.refuse = true },
			"forgotten meanwhile":    func(r *tapedRecorder) { r.forgot = true },
			"the recorder is broken": func(r *tapedRecorder) { r.onBegin = func() { panic("secret") } },
		} {
			s, r := recordedStage()
			set(r)
			q := bridgeQuestion()
			q.Query.Query = words
			s.service(t).AnswerQuery(t.Context(), q, s.tape)
			if len(s.index.kept) != 0 || s.tape.events[len(s.tape.events)-1] == "indexed" {
				t.Errorf("%q, %s: %d pages are kept: %q", words, name, len(s.index.kept), s.tape.events)
			}
		}
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
			s, r := recordedStage()
			tt.set(s, cancel)
			s.service(t).AnswerQuery(ctx, bridgeQuestion(), s.tape)
			if len(r.answered) != 1 || r.ctxErr != nil {
				t.Fatalf("ended %d times, with a ctx that says %v", len(r.answered), r.ctxErr)
			}
			if a := r.answered[0]; a.Complete || a.Text != tt.text {
				t.Errorf("recorded %q, complete: %v; want %q", a.Text, a.Complete, tt.text)
			}
			if last := s.tape.events[len(s.tape.events)-1]; last != "recorded" {
				t.Errorf("%s came after it was recorded", last)
			}
			s.expectSilentLog(t)
		})
	}
}

func TestExtractedAnswerIsRecordedAsWhole(t *testing.T) {
	s, r := recordedStage()
	s.model, s.search = nil, nil
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	if a := r.answered[0]; !a.Complete || a.Text != "The bridge opened in 1921. [page] " {
		t.Errorf("recorded %+v", a)
	}
}

func TestRecorderThatFailsSpoilsNothing(t *testing.T) {
	answered := []string{"results 1", `token "Hel"`, `token "lo"`, "indexed", `final ""`}
	unindexed := []string{"results 1", `token "Hel"`, `token "lo"`, `final ""`}
	tests := []struct {
		name string
		set  func(*tapedRecorder)
		want []string
		logs string
	}{
		{"begin panics", func(r *tapedRecorder) { r.onBegin = func() { panic("secret") } }, slices.Concat([]string{"begun"}, unindexed), "was not recorded"},
		{"end panics", func(r *tapedRecorder) { r.onEnd = func() { panic("secret") } }, slices.Concat([]string{"begun"}, answered, []string{"recorded"}), "was not recorded"},
		{"it does not keep this one", func(r *tapedRecorder) { r.refuse = true }, slices.Concat([]string{"begun"}, unindexed), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, r := recordedStage()
			tt.set(r)
			h := s.service(t)
			h.AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
			s.expect(t, tt.want...)
			s.expectSilentLog(t)
			if logged := s.log.String(); tt.logs == "" && logged != "" || !strings.Contains(logged, tt.logs) {
				t.Errorf("the log is %q, want %q in it", logged, tt.logs)
			}
			if got := h.Health(); got.Answered != 1 || got.Canceled != 0 {
				t.Errorf("health is %+v", got)
			}
		})
	}
}

func TestRecordedTextIsBounded(t *testing.T) {
	s, r := recordedStage()
	s.model.Pieces, s.model.Count = []string{strings.Repeat("桥", 1000), "a"}, 100
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	a := r.answered[0]
	whole := strings.Repeat(strings.Join(s.model.Pieces, ""), 50)
	if len(a.Text) > ports.MaxAnswered || len(a.Text) < ports.MaxAnswered-utf8.UTFMax || !strings.HasPrefix(whole, a.Text) || !a.Complete {
		t.Errorf("recorded %d bytes, complete: %v", len(a.Text), a.Complete)
	}
}

func TestAllocs_NothingIsKeptWithoutARecorder(t *testing.T) {
	var none *record
	if n := testing.AllocsPerRun(100, func() { none.add("piece"); none.ended(true) }); n != 0 {
		t.Errorf("%v allocations for each piece", n)
	}
	s := newStage()
	if s.service(t).beginRecord(bridgeQuestion().Query) != nil {
		t.Error("a record was begun")
	}
}
