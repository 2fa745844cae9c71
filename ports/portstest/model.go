package portstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plexus/ports"
)

// ModelScript says how the model behind a Generator behaves: it streams Pieces,
// then breaks off, falls silent or, with neither, completes.
type ModelScript struct {
	Pieces []string // text in order; none: it says nothing
	Break  bool     // a fault after Pieces
	Hang   bool     // silence after Pieces until the caller is gone
}

// secretPrompt is content that no error text may repeat.
const secretPrompt = "zeppelin hangar"

// Generator runs the contract of ports.Generator. build gives a generator whose
// model follows the script, and cleans up by t.Cleanup. A generator may cut
// pieces anew; the text as a whole must stay.
func Generator(t *testing.T, build func(t *testing.T, s ModelScript) ports.Generator) {
	t.Helper()
	pieces := []string{"It opened ", "in 1889, ", "née Été, ", "在巴黎。", "🎡"}
	t.Run("order", func(t *testing.T) {
		got, err := generate(t.Context(), build(t, ModelScript{Pieces: pieces}))
		if err != nil {
			t.Fatal(err)
		}
		checkPieces(t, got, strings.Join(pieces, ""))
	})
	t.Run("fault before the first piece", func(t *testing.T) {
		got, err := generate(t.Context(), build(t, ModelScript{Break: true}))
		checkFault(t, err, ports.ErrModelUnavailable)
		checkPieces(t, got, "")
	})
	t.Run("fault within the stream", func(t *testing.T) {
		got, err := generate(t.Context(), build(t, ModelScript{Pieces: pieces, Break: true}))
		checkFault(t, err, ports.ErrModelInterrupted)
		checkPieces(t, got, strings.Join(pieces, ""))
	})
	t.Run("no text at all", func(t *testing.T) {
		_, err := generate(t.Context(), build(t, ModelScript{}))
		checkFault(t, err, ports.ErrModelEmpty)
	})
	t.Run("first error of emit ends it", func(t *testing.T) {
		full := errors.New("sink is full")
		calls := 0
		err := build(t, ModelScript{Pieces: pieces, Hang: true}).Generate(t.Context(), prompt(), func(string) error {
			calls++
			return full
		})
		if !errors.Is(err, full) || calls != 1 {
			t.Fatalf("got %v after %d calls; want the sink's error after one", err, calls)
		}
	})
	t.Run("prompt stays as it was", func(t *testing.T) {
		asked := prompt()
		if err := build(t, ModelScript{Pieces: pieces}).Generate(t.Context(), asked, func(string) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(asked.History, prompt().History) {
			t.Errorf("the history became %q", asked.History)
		}
	})
	t.Run("cancel", func(t *testing.T) { generateCancel(t, build) })
}

func generateCancel(t *testing.T, build func(t *testing.T, s ModelScript) ports.Generator) {
	t.Run("before the call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		generateEnded(t, ctx, build(t, ModelScript{Hang: true}), func(string) error { return nil })
	})
	t.Run("before the first piece", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		generateEnded(t, ctx, build(t, ModelScript{Hang: true}), func(string) error { return nil })
	})
	t.Run("within the stream", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		generateEnded(t, ctx, build(t, ModelScript{Pieces: []string{"one "}, Hang: true}), func(string) error {
			cancel()
			return nil
		})
	})
}

func generateEnded(t *testing.T, ctx context.Context, model ports.Generator, emit func(string) error) {
	t.Helper()
	err := returnsAtOnce(t, ctx.Done(), func() error { return model.Generate(ctx, prompt(), emit) })
	if !errors.Is(err, ctx.Err()) || ctx.Err() == nil {
		t.Fatalf("got %v; want the context's error", err)
	}
}

func generate(ctx context.Context, model ports.Generator) (pieces []string, err error) {
	err = model.Generate(ctx, prompt(), func(text string) error {
		pieces = append(pieces, text)
		return nil
	})
	return pieces, err
}

func prompt() ports.Prompt {
	return ports.Prompt{System: "Answer briefly.", User: secretPrompt, History: []ports.Exchange{
		{User: "First zeppelin?", Assistant: "The LZ 1 zeppelin."}, {User: "And then?", Assistant: "The zeppelin LZ 2."},
	}}
}

func checkPieces(t *testing.T, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, ""); text != want {
		t.Errorf("emitted %q; want %q", text, want)
	}
	if slices.Contains(got, "") {
		t.Errorf("a piece is empty: %q", got)
	}
	for _, piece := range got {
		if !utf8.ValidString(piece) {
			t.Errorf("piece %q is not UTF-8", piece)
		}
	}
}

func checkFault(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v; want %v", err, want)
	}
	if strings.Contains(err.Error(), "zeppelin") {
		t.Fatal("the error text repeats the prompt")
	}
}
