package portstest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/ports"
)

// TranscriberScript says how the recognizer behind a Transcriber behaves. Hang
// goes before Fault, Fault before Text.
type TranscriberScript struct {
	Text  string // what it finds; may have white space around it
	Fault bool   // it fails, and repeats Text where it says so
	Hang  bool   // it takes the speech and never answers
}

// secretSpeech is what was said: no error text may repeat it.
const secretSpeech = "zeppelin hangar"

// longestSpeech is 60 s of it, in bytes.
const longestSpeech = 1_920_000

// Transcriber runs the contract of ports.Transcriber. build gives a transcriber
// whose recognizer follows the script, and cleans up by t.Cleanup.
func Transcriber(t *testing.T, build func(t *testing.T, s TranscriberScript) ports.Transcriber) {
	t.Helper()
	for name, text := range map[string]string{
		"text": secretSpeech, "several scripts": "née Été, 在巴黎。 🎡", "no word found": "",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := build(t, TranscriberScript{Text: text}).Transcribe(t.Context(), speech(32_000))
			if err != nil || got != text {
				t.Errorf("got %q, %v; want %q", got, err, text)
			}
		})
	}
	t.Run("white space around the text", func(t *testing.T) {
		got, err := build(t, TranscriberScript{Text: "  " + secretSpeech + " \n"}).Transcribe(t.Context(), speech(32_000))
		if err != nil || got != secretSpeech {
			t.Errorf("got %q, %v; want %q", got, err, secretSpeech)
		}
	})
	t.Run("nothing but white space", func(t *testing.T) {
		got, err := build(t, TranscriberScript{Text: " \n\t\n"}).Transcribe(t.Context(), speech(32_000))
		if err != nil || got != "" {
			t.Errorf("got %q, %v; want nothing and no error", got, err)
		}
	})
	t.Run("the longest speech, left as it is", func(t *testing.T) {
		pcm := speech(longestSpeech)
		got, err := build(t, TranscriberScript{Text: secretSpeech}).Transcribe(t.Context(), pcm)
		if err != nil || got != secretSpeech {
			t.Errorf("got %q, %v; want %q", got, err, secretSpeech)
		}
		if !bytes.Equal(pcm, speech(longestSpeech)) {
			t.Error("the caller's speech was changed")
		}
	})
	t.Run("fault wraps the sentinel and keeps what was said", func(t *testing.T) {
		got, err := build(t, TranscriberScript{Text: secretSpeech, Fault: true}).Transcribe(t.Context(), speech(32_000))
		if !errors.Is(err, ports.ErrTranscriberUnavailable) || got != "" {
			t.Fatalf("got %q, %v; want ErrTranscriberUnavailable", got, err)
		}
		if strings.Contains(err.Error(), "zeppelin") {
			t.Fatal("the error text repeats what was said")
		}
	})
	t.Run("cancel", func(t *testing.T) { transcriberCancel(t, build) })
	t.Run("concurrent calls", func(t *testing.T) {
		recognizer := build(t, TranscriberScript{Text: secretSpeech})
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				if got, err := recognizer.Transcribe(t.Context(), speech(32_000)); err != nil || got != secretSpeech {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
		calls.Wait()
	})
}

func transcriberCancel(t *testing.T, build func(t *testing.T, s TranscriberScript) ports.Transcriber) {
	t.Run("while the recognizer is silent", func(t *testing.T) {
		recognizer := build(t, TranscriberScript{Hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		transcriberEnded(t, ctx, recognizer)
	})
	t.Run("before the call", func(t *testing.T) {
		transcriberEnded(t, endedContext(t), build(t, TranscriberScript{Hang: true}))
	})
}

func transcriberEnded(t *testing.T, ctx context.Context, recognizer ports.Transcriber) {
	t.Helper()
	err := returnsAtOnce(t, ctx.Done(), func() error {
		got, err := recognizer.Transcribe(ctx, speech(32_000))
		if got != "" {
			t.Errorf("got %q after the end", got)
		}
		return err
	})
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		t.Fatalf("got %v; want the context's error", err)
	}
}

// speech makes that many bytes that are not all the same.
func speech(bytes int) []byte {
	pcm := make([]byte, bytes)
	for i := range pcm {
		pcm[i] = byte(i * 7)
	}
	return pcm
}
