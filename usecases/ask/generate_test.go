package ask

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"plexus/adapters/memory"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/ports"
)

// turnPrompt holds words that nothing else may repeat.
func turnPrompt() ports.Prompt {
	return ports.Prompt{System: "s", User: "Did it open?", History: []ports.Exchange{{User: "secret", Assistant: "secret"}}}
}

func TestGenerateStreamsWhatTheModelSays(t *testing.T) {
	s := newStage()
	s.model.Pieces = []string{"Hel", "", "lo"}
	var got []string
	err := s.service(t).Generate(t.Context(), turnPrompt(), func(piece string) error { got = append(got, piece); return nil })
	if err != nil || strings.Join(got, "|") != "Hel|lo" {
		t.Fatalf("got %q, %v", got, err)
	}
	if calls := s.model.Calls(); len(calls) != 1 || calls[0].User != "Did it open?" || len(calls[0].History) != 1 {
		t.Errorf("the model was asked %+v", calls)
	}
}

func TestGenerateNotesWhatTheModelDidWrong(t *testing.T) {
	full := errors.New("full")
	tests := []struct {
		name  string
		set   func(*stage)
		emit  error
		want  error // nil: an error that no port knows
		noted bool
	}{
		{"no model", func(s *stage) { s.model = nil }, nil, ports.ErrNoModel, false},
		{"answers are switched off", func(s *stage) { s.opts.NoAnswers = true }, nil, ports.ErrNoModel, false},
		{"none was found", func(s *stage) { s.model.Pieces, s.model.Err = nil, ports.ErrNoModel }, nil, ports.ErrNoModel, false},
		{"unavailable", func(s *stage) { s.model.Pieces, s.model.Err = nil, errUnavailable }, nil, ports.ErrModelUnavailable, true},
		{"broken off", func(s *stage) { s.model.Err = errInterrupted }, nil, ports.ErrModelInterrupted, true},
		{"nothing said", func(s *stage) { s.model.Pieces = nil }, nil, ports.ErrModelEmpty, true},
		{"cut at its limit", func(s *stage) { s.model.Err = ports.ErrModelCut }, nil, ports.ErrModelCut, false},
		{"stopped by a filter", func(s *stage) { s.model.Pieces, s.model.Err = nil, ports.ErrModelFiltered }, nil, ports.ErrModelFiltered, false},
		{"refused", func(s *stage) { s.model.Pieces, s.model.Err = nil, ports.ErrModelRefused }, nil, ports.ErrModelRefused, false},
		{"empty pieces", func(s *stage) { s.model.Pieces = []string{""} }, nil, ports.ErrModelEmpty, true},
		{"panic", func(s *stage) { s.model.Wait = func(context.Context, int) error { panic("secret") } }, nil, nil, true},
		{"emit refuses", func(*stage) {}, full, full, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage()
			tt.set(s)
			h := s.service(t)
			err := h.Generate(t.Context(), turnPrompt(), func(string) error { return tt.emit })
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got := h.Health().Model.Count; got != 0 != tt.noted || s.log.Len() != 0 != tt.noted {
				t.Errorf("%d failures of the model, log %q", got, s.log)
			}
			s.expectSilentLog(t)
		})
	}
}

// TestGenerateWaitsForItsTurn: turns and questions share the places.
func TestGenerateWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.opts.MaxGenerations = 1
		s.model.Wait = func(ctx context.Context, _ int) error { return memory.UntilCanceled(ctx) }
		h := s.service(t)
		first, stopFirst := context.WithCancel(t.Context())
		second, stopSecond := context.WithCancel(t.Context())
		go h.AnswerQuery(first, emptyQuestion(), s.tape)
		synctest.Wait()
		var err error
		go func() { err = h.Generate(second, turnPrompt(), func(string) error { return nil }) }()
		synctest.Wait()
		if got := len(s.model.Calls()); got != 1 {
			t.Errorf("the model was asked %d times at once", got)
		}
		stopFirst()
		synctest.Wait()
		if got := len(s.model.Calls()); got != 2 {
			t.Errorf("the model was asked %d times, want the turn to be let in", got)
		}
		stopSecond()
		synctest.Wait()
		if !errors.Is(err, context.Canceled) || h.Health().Model.Count != 0 || s.log.Len() != 0 {
			t.Errorf("a cancelled turn gives %v, log %q", err, s.log)
		}
	})
}

// TestFindAsksNobodyElse: what is said in a conversation stays on this machine.
func TestFindAsksNobodyElse(t *testing.T) {
	s := newStage()
	s.index.found = []framing.Result{localHit()}
	got, err := s.service(t).Find(t.Context(), "When?", "", 4)
	if err != nil || len(got) != 1 || got[0] != localHit() || len(s.search.Calls()) != 0 {
		t.Fatalf("found %+v, %v; the service was asked %+v", got, err, s.search.Calls())
	}
}

func TestSearchLooksAsAQuestionOfTheOwner(t *testing.T) {
	s := newStage()
	current := localHit()
	current.URL = "https://page.test/"
	s.index.found = []framing.Result{current, localHit()}
	got, err := s.service(t).Search(t.Context(), " When? ", "https://PAGE.test/#x", 4)
	if err != nil || len(got) != 2 || got[0] != serviceHit() || got[1] != localHit() {
		t.Fatalf("found %+v, %v", got, err)
	}
	if calls := s.search.Calls(); len(calls) != 1 || calls[0] != (ports.SearchRequest{Query: "When?", Limit: 4}) {
		t.Errorf("the service was asked %+v", calls)
	}
	want := ports.PageQuery{Text: "When?", Reader: pages.Owner, ExcludeURL: "https://page.test/", Limit: framing.MaxResults}
	if len(s.index.queries) != 1 || s.index.queries[0] != want {
		t.Errorf("the index was asked %+v, want %+v", s.index.queries, want)
	}
}

func TestSearchAsksNobodyForNothing(t *testing.T) {
	s := newStage()
	h := s.service(t)
	for _, ask := range []struct {
		text  string
		limit int
	}{{" \u3000", 5}, {"q", 0}, {"q", -1}} {
		if got, err := h.Search(t.Context(), ask.text, "", ask.limit); len(got) != 0 || err != nil {
			t.Errorf("%+v: found %v, %v", ask, got, err)
		}
	}
	if len(s.search.Calls())+len(s.index.queries) != 0 {
		t.Error("something was asked")
	}
	if _, err := h.Search(t.Context(), "q", "", 1000); err != nil || s.search.Calls()[0].Limit != framing.MaxResults {
		t.Errorf("the service was asked %+v, %v", s.search.Calls(), err)
	}
}

func TestSearchGoesOnWithoutAServiceThatFails(t *testing.T) {
	s := newStage()
	s.search.Err, s.index.found = errService, []framing.Result{localHit()}
	h := s.service(t)
	got, err := h.Search(t.Context(), "open?", "", 4)
	if err != nil || len(got) != 1 || got[0] != localHit() || h.Health().Search.Count != 1 || !strings.Contains(s.log.String(), "status 502") {
		t.Errorf("found %+v, %v; health %+v", got, err, h.Health().Search)
	}
	s.expectSilentLog(t)

	s = newStage()
	s.search.Wait = memory.UntilCanceled
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.service(t).Search(ctx, "open?", "", 4); !errors.Is(err, context.Canceled) || s.log.Len() != 0 {
		t.Errorf("cancelled: %v, log %q", err, s.log)
	}
}
