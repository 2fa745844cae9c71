package memory

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
	"plexus/ports/portstest"
)

func TestScriptedSearch_Contract(t *testing.T) {
	portstest.SearchProvider(t, func(_ *testing.T, s portstest.SearchScript) ports.SearchProvider {
		search := &ScriptedSearch{Results: s.Results}
		if s.Fault {
			search.Err = ports.ErrSearchUnavailable
		}
		if s.Hang {
			search.Wait = UntilCanceled
		}
		return search
	})
}

func TestScriptedModel_Contract(t *testing.T) {
	portstest.Generator(t, func(_ *testing.T, s portstest.ModelScript) ports.Generator {
		model := &ScriptedModel{Pieces: s.Pieces}
		switch {
		case s.Break && len(s.Pieces) == 0:
			model.Err = ports.ErrModelUnavailable
		case s.Break:
			model.Err = ports.ErrModelInterrupted
		}
		if s.Hang {
			model.Wait = func(ctx context.Context, n int) error {
				if n < len(s.Pieces) {
					return nil
				}
				return UntilCanceled(ctx)
			}
		}
		return model
	})
}

func TestTranscriber_Contract(t *testing.T) {
	portstest.Transcriber(t, func(_ *testing.T, s portstest.TranscriberScript) ports.Transcriber {
		transcriber := &Transcriber{Text: s.Text}
		if s.Fault {
			transcriber.Err = ports.ErrTranscriberUnavailable
		}
		if s.Hang {
			transcriber.Wait = UntilCanceled
		}
		return transcriber
	})
}

func TestTranscriber_RecordsWhatItWasGiven(t *testing.T) {
	transcriber := &Transcriber{}
	pcm := []byte{1, 2}
	if _, err := transcriber.Transcribe(t.Context(), pcm); err != nil {
		t.Fatal(err)
	}
	pcm[0] = 9
	if calls := transcriber.Calls(); len(calls) != 1 || !slices.Equal(calls[0], []byte{1, 2}) {
		t.Errorf("recorded %v", calls)
	}
}

func TestScriptedModel_KeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &ScriptedModel{Pieces: []string{"a", "b"}, Count: 20_001, Rate: 10_000}
		begun, pieces := time.Now(), 0
		err := model.Generate(t.Context(), ports.Prompt{}, func(string) error { pieces++; return nil })
		if err != nil || pieces != 20_001 {
			t.Fatalf("emitted %d pieces, %v", pieces, err)
		}
		if took := time.Since(begun); took < 1998*time.Millisecond || took > 2*time.Second {
			t.Errorf("20,001 pieces at 10,000 a second took %v; want 2 s within a tick", took)
		}
	})
}

func TestScriptedModel_FailsAtAnyStep(t *testing.T) {
	fault := errors.New("fault")
	for step := range 4 {
		pieces := 0
		model := &ScriptedModel{Pieces: []string{"a", "b", "c"}, Wait: func(_ context.Context, n int) error {
			if n == step {
				return fault
			}
			return nil
		}}
		err := model.Generate(t.Context(), ports.Prompt{}, func(string) error { pieces++; return nil })
		if !errors.Is(err, fault) || pieces != step {
			t.Errorf("step %d: %d pieces, %v", step, pieces, err)
		}
	}
}

func TestScripted_RecordsAndForgetsBeyondItsBound(t *testing.T) {
	search := &ScriptedSearch{Results: []framing.Result{{URL: "https://example.org/"}}}
	for n := range maxRecorded + 10 {
		if _, err := search.Search(t.Context(), ports.SearchRequest{Query: "q", Limit: n + 1}); err != nil {
			t.Fatal(err)
		}
	}
	calls := search.Calls()
	if len(calls) != maxRecorded || calls[0].Limit != 1 || calls[maxRecorded-1].Limit != maxRecorded {
		t.Errorf("kept %d calls, first %+v", len(calls), calls[0])
	}
}
