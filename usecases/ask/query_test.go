package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/ports"
)

const (
	pageSentence    = `token "The bridge opened in 1921. [page] "`
	serviceSentence = `token "The Alder Bridge opened in 1921. [1] "`
)

func TestB6_ResultsThenTokensThenOneFinal(t *testing.T) {
	s := newStage()
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	s.expect(t, "results 1", `token "Hel"`, `token "lo"`, "kept", `final ""`)
	if prompts := s.model.Calls(); len(prompts) != 1 || !strings.Contains(prompts[0].User, "When did it open?") ||
		!strings.Contains(prompts[0].User, serviceHit().Snippet) || !strings.Contains(prompts[0].User, "secretextract") {
		t.Errorf("the prompt lacks question, result or page: %+v", prompts)
	}
}

func TestB7_WithoutSearchNoServiceIsAsked(t *testing.T) {
	s := newStage()
	q := bridgeQuestion()
	q.Query.Search = false
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	s.expect(t, `token "Hel"`, `token "lo"`, "kept", `final ""`)
	if len(s.search.Calls()) != 0 || len(s.index.queries) != 0 {
		t.Errorf("asked the service %d times and the index %d times", len(s.search.Calls()), len(s.index.queries))
	}
}

func TestB10_WhitespaceQueryIsAnEmptyResult(t *testing.T) {
	for _, query := range []string{" ", "\t\n", "\u3000\u00a0"} {
		s := newStage()
		q := bridgeQuestion()
		q.Query.Query = query
		s.service(t).AnswerQuery(t.Context(), q, s.tape)
		s.expect(t, "results 0", "kept", `final ""`)
		if s.tape.last.Results == nil || len(s.search.Calls())+len(s.model.Calls())+len(s.index.queries) != 0 {
			t.Errorf("query %q: results %v, or something was asked", query, s.tape.last)
		}
		s = newStage()
		q.Query.Search = false
		s.service(t).AnswerQuery(t.Context(), q, s.tape)
		s.expect(t, "kept", `final ""`)
	}
}

func TestU2_ContextNeverReachesTheSearchService(t *testing.T) {
	s := newStage()
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	calls := s.search.Calls()
	if len(calls) != 1 || calls[0] != (ports.SearchRequest{Query: "When did it open?", Limit: 10}) {
		t.Fatalf("the service was asked %+v", calls)
	}
	if sent := fmt.Sprintf("%+v", calls); strings.Contains(sent, "secret") {
		t.Errorf("the page reached the service: %s", sent)
	}
	s.expectSilentLog(t)
}

// errService and its kin wrap the port's errors as an adapter does.
var (
	errService     = fmt.Errorf("asking the service: status 502: %w", ports.ErrSearchUnavailable)
	errUnavailable = fmt.Errorf("asking the model: refused: %w", ports.ErrModelUnavailable)
	errInterrupted = fmt.Errorf("reading the answer: cut off: %w", ports.ErrModelInterrupted)
	errEmpty       = fmt.Errorf("reading the answer: %w", ports.ErrModelEmpty)
)

func TestD1b_WhatIsSaidWhenAServiceFails(t *testing.T) {
	tests := []struct {
		name  string
		set   func(*stage)
		q     Question
		want  []string
		logs  string // one line holds this; "": no line at all
		check func(Health) bool
	}{
		{"service failed, page answers", func(s *stage) { s.search.Err, s.model = errService, nil }, bridgeQuestion(),
			[]string{pageSentence, "kept", `final ""`}, "status 502", func(h Health) bool { return h.Search.Count == 1 }},
		{"service failed, local results are found", func(s *stage) {
			s.search.Err, s.model, s.index.found = errService, nil, []framing.Result{localHit()}
		}, emptyQuestion(),
			[]string{"results 1", `token "They opened the bridge on a Monday. [1] "`, `final ""`}, "status 502",
			func(h Health) bool { return h.Search.Count == 1 }},
		{"service failed, nothing else", func(s *stage) { s.search.Err, s.model = errService, nil }, emptyQuestion(),
			[]string{`final "[The search service did not answer.]"`}, "status 502", nil},
		{"service failed, model answers", func(s *stage) { s.search.Err = errService }, emptyQuestion(),
			[]string{`token "Hel"`, `token "lo"`, `final ""`}, "status 502", nil},
		{"service and index failed", func(s *stage) {
			s.search.Err, s.model, s.index.searchErr = errService, nil, errors.New("disk")
		}, emptyQuestion(), []string{`final "[The search service did not answer.]"`}, "disk", nil},
		{"no service, index failed", func(s *stage) { s.search, s.model, s.index.searchErr = nil, nil, errors.New("disk") }, emptyQuestion(),
			[]string{`final "[The search service did not answer.]"`}, "disk", nil},
		{"index failed, service answers", func(s *stage) { s.model, s.index.searchErr = nil, errors.New("disk") }, emptyQuestion(),
			[]string{"results 1", serviceSentence, `final ""`}, "disk", nil},
		{"index failed, service finds nothing", func(s *stage) { s.search.Results, s.model, s.index.searchErr = nil, nil, errors.New("disk") }, emptyQuestion(),
			[]string{"results 0", `final "[Nothing found. Open a page and ask about it, or set a search service.]"`}, "disk", nil},
		{"service panics", func(s *stage) { s.search.Wait, s.model = func(context.Context) error { panic("secret") }, nil }, emptyQuestion(),
			[]string{`final "[The search service did not answer.]"`}, "search service panicked with a string", nil},
		{"service breaks a rule of Go", func(s *stage) {
			s.model = nil
			s.search.Wait = func(context.Context) error { return [...]error{nil}[len(s.tape.events)+1] }
		}, emptyQuestion(), []string{`final "[The search service did not answer.]"`}, "index out of range [1] with length 1", nil},
		{"index panics while searching", func(s *stage) { s.model, s.index.onSearch = nil, func() { panic("secret") } }, emptyQuestion(),
			[]string{"results 1", serviceSentence, `final ""`}, "page index panicked", nil},
		{"nothing found", func(s *stage) { s.search.Results, s.model = nil, nil }, emptyQuestion(),
			[]string{"results 0", `final "[Nothing found. Open a page and ask about it, or set a search service.]"`}, "", nil},
		{"nothing configured", func(s *stage) { s.search, s.model, s.index = nil, nil, nil }, emptyQuestion(),
			[]string{"results 0", `final "[Nothing found. Open a page and ask about it, or set a search service.]"`}, "", nil},
		{"in Chinese", func(s *stage) { s.search.Err, s.model, s.opts.Language = errService, nil, answers.Chinese }, emptyQuestion(),
			[]string{`final "[搜索服务没有应答。]"`}, "status 502", nil},
		{"model kind none", func(s *stage) { s.opts.NoAnswers = true }, bridgeQuestion(),
			[]string{"results 1", "kept", `final ""`}, "", nil},
		{"no model found", func(s *stage) { s.model.Pieces, s.model.Err = nil, ports.ErrNoModel }, emptyQuestion(),
			[]string{"results 1", serviceSentence, `final ""`}, "", func(h Health) bool { return h.Model.Count == 0 }},
		{"model failed, page answers", func(s *stage) { s.model.Pieces, s.model.Err, s.search.Results = nil, errUnavailable, nil }, bridgeQuestion(),
			[]string{"results 0", pageSentence, "kept", `final "\n\n[The model did not answer.]"`}, "asking the model: refused",
			func(h Health) bool { return h.Model.Count == 1 && strings.Contains(h.Model.Cause, "refused") }},
		{"model failed, nothing else", func(s *stage) { s.model.Pieces, s.model.Err, s.search.Err = nil, errUnavailable, errService }, emptyQuestion(),
			[]string{`final "[The model did not answer.]"`}, "asking the model: refused", nil},
		{"model gave nothing", func(s *stage) { s.model.Pieces, s.model.Err = nil, errEmpty }, bridgeQuestion(),
			[]string{"results 1", "kept", `final "[The model gave no answer.]"`}, "reading the answer", nil},
		{"only reasoning was shown", func(s *stage) { s.model.Pieces, s.model.Err = []string{"hm", answers.ThoughtEnd}, errEmpty }, bridgeQuestion(),
			[]string{"results 1", `token "hm"`, `token "\n</think>\n\n"`, "kept", `final "\n\n[The model gave no answer.]"`}, "reading the answer", nil},
		{"model was cut", func(s *stage) { s.model.Err = ports.ErrModelCut }, bridgeQuestion(),
			[]string{"results 1", `token "Hel"`, `token "lo"`, "kept", `final "\n\n[The answer was cut at the model's limit.]"`}, "", nil},
		{"filter stopped it", func(s *stage) { s.model.Pieces, s.model.Err = nil, ports.ErrModelFiltered }, bridgeQuestion(),
			[]string{"results 1", "kept", `final "[A filter of the model's service stopped the answer.]"`}, "", nil},
		{"model refused", func(s *stage) { s.model.Err = ports.ErrModelRefused }, bridgeQuestion(),
			[]string{"results 1", `token "Hel"`, `token "lo"`, "kept", `final "\n\n[The model refused to answer.]"`}, "", nil},
		{"model panics first", func(s *stage) { s.model.Wait = func(context.Context, int) error { panic("secret") } }, emptyQuestion(),
			[]string{"results 1", serviceSentence, `final "\n\n[The model did not answer.]"`}, "model panicked with a string", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage()
			tt.set(s)
			h := s.service(t)
			h.AnswerQuery(t.Context(), tt.q, s.tape)
			s.expect(t, tt.want...)
			s.expectSilentLog(t)
			if tt.logs == "" && s.log.Len() != 0 || strings.Count(s.log.String(), tt.logs) != 1 && tt.logs != "" {
				t.Errorf("the log does not hold %q once:\n%s", tt.logs, s.log)
			}
			if health := h.Health(); health.Answered != 1 || tt.check != nil && !tt.check(health) {
				t.Errorf("health is %+v", health)
			}
		})
	}
}

func TestD1c_ACutAnswerDoesNotLookComplete(t *testing.T) {
	tests := []struct {
		name string
		set  func(*stage)
	}{
		{"stream broke off", func(s *stage) { s.model.Err = errInterrupted }},
		{"panic after text", func(s *stage) {
			s.model.Wait = func(_ context.Context, n int) error {
				if n == 2 {
					panic("secret")
				}
				return nil
			}
		}},
		{"an error the port does not know", func(s *stage) { s.model.Err = errors.New("odd") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage()
			tt.set(s)
			s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
			s.expect(t, "results 1", `token "Hel"`, `token "lo"`, "kept", `final "\n\n[The answer was interrupted.]"`)
			s.expectSilentLog(t)
		})
	}
}

func TestLocalResultsFillTheRoomThatIsLeft(t *testing.T) {
	s := newStage()
	again, current := serviceHit(), localHit()
	again.URL, current.URL = "https://SERVICE.test#part", "https://page.test/secretpath"
	s.index.found = []framing.Result{again, current, localHit(), {URL: "https://third.test/"}}
	q := bridgeQuestion()
	q.Query.MaxResults = 2
	s.opts.IndexShared = true
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	if got := s.tape.last.Results; len(got) != 2 || got[0] != serviceHit() || got[1] != localHit() {
		t.Errorf("results are %+v", got)
	}
	want := ports.PageQuery{Text: "When did it open?", Reader: q.Asker, Shared: true, ExcludeURL: "https://page.test/secretpath", Limit: framing.MaxResults}
	if len(s.index.queries) != 1 || s.index.queries[0] != want {
		t.Errorf("the index was asked %+v, want %+v", s.index.queries, want)
	}

	s = newStage()
	q.Query.MaxResults = 1
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	if len(s.index.queries) != 0 {
		t.Error("the index was asked though there is no room")
	}
}

func TestSinkThatPanicsIsLeftAlone(t *testing.T) {
	s := newStage()
	s.model = nil
	s.tape.onCall = func(string) { panic("secret") }
	s.service(t).AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	s.expect(t, "results 1", "kept", `final "[The answer was interrupted.]"`)
	s.expectSilentLog(t)
}

func TestSinkThatFailsIsCalledNoMore(t *testing.T) {
	s := newStage()
	s.tape.err = errors.New("no room")
	h := s.service(t)
	h.AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	s.expect(t, "results 1")
	if got := h.Health(); got.Answered != 0 || got.Canceled != 1 {
		t.Errorf("health is %+v", got)
	}
}

func TestAnswerIsCountedBeforeItsEndIsSent(t *testing.T) {
	s := newStage()
	h := s.service(t)
	counted := int64(-1)
	s.tape.onCall = func(event string) {
		if strings.HasPrefix(event, "final") {
			counted = h.Health().Answered
		}
	}
	h.AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	if counted != 1 || h.Health().Answered != 1 {
		t.Errorf("%d answers were counted as the final token came, %d in the end; want 1", counted, h.Health().Answered)
	}
}

func TestAnswerWhoseEndCannotBeSentIsNoAnswer(t *testing.T) {
	s := newStage()
	s.tape.onCall = func(event string) {
		if strings.HasPrefix(event, "final") {
			panic("gone")
		}
	}
	h := s.service(t)
	h.AnswerQuery(t.Context(), bridgeQuestion(), s.tape)
	if got := h.Health(); got.Answered != 0 || got.Canceled != 1 {
		t.Errorf("health is %+v", got)
	}
}

func TestPromptIsNoLongerThanItMayBe(t *testing.T) {
	s := newStage()
	s.opts.MaxPrompt = answers.MinPrompt
	q := bridgeQuestion()
	q.Query.Context.Extract = strings.Repeat("The bridge is old. ", 1000)
	s.service(t).AnswerQuery(t.Context(), q, s.tape)
	for _, p := range s.model.Calls() {
		if n := len(p.System) + len(p.User); n > answers.MinPrompt {
			t.Errorf("the model was sent %d bytes", n)
		}
	}
	if len(s.model.Calls()) != 1 {
		t.Error("the model was not asked once")
	}
}
