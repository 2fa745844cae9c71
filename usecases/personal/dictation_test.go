package personal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/dictation"
)

// hearing adds a recogniser that hears text.
func hearing(text string) func(*personal.Deps, *personal.Options) {
	return with(&memory.Transcriber{Text: text})
}

func with(r ports.Transcriber) func(*personal.Deps, *personal.Options) {
	return func(d *personal.Deps, _ *personal.Options) { d.Transcriber = r }
}

// transcriber is a recogniser made of a function.
type transcriber func(ctx context.Context, pcm []byte) (string, error)

func (f transcriber) Transcribe(ctx context.Context, pcm []byte) (string, error) { return f(ctx, pcm) }

func (c *client) draft(id string, action nova.DictationAction) error {
	return c.deliver(nova.InputDictation{ID: id, Action: action})
}

// dictate must be accepted.
func (c *client) dictate(id string, action nova.DictationAction) {
	c.Helper()
	if err := c.draft(id, action); err != nil {
		c.Fatalf("%s %s: %v", action, id, err)
	}
}

// result is the one transcription that was sent.
func (c *client) result() nova.Transcription {
	c.Helper()
	results := got[nova.Transcription](c)
	if len(results) != 1 {
		c.Fatalf("transcriptions %+v", results)
	}
	return results[0]
}

func (c *client) silent() {
	c.Helper()
	if results := got[nova.Transcription](c); len(results) != 0 {
		c.Fatalf("transcriptions %+v", results)
	}
}

func TestN56_DictationHearsWhatIsSaidBeforeFinishAlone(t *testing.T) {
	heard := &memory.Transcriber{Text: " Buy milk \n"}
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.Audio([]byte{9, 9}) // outside
		if err := phone.deliver(nova.InputDictation{ID: "d", Action: nova.DictationStart, ConversationID: "chat:main"}); err != nil {
			s.Fatal(err)
		}
		piece := []byte{1, 2}
		phone.Audio(piece)
		piece[0] = 7 // the host has its own copy
		phone.Audio([]byte{3, 4})
		if err := phone.deliver(nova.InputAudio{}); err == nil {
			s.Fatal("live audio while a draft is open")
		}
		phone.dictate("d", nova.DictationFinish)
		phone.Audio([]byte{5, 6})
		if r := phone.result(); r.ID != "d" || r.ConversationID != "chat:main" || r.Text != "Buy milk" {
			s.Fatalf("result %+v", r)
		}
		phone.Audio([]byte{8, 8})
		phone.dictate("d", nova.DictationCancel) // clients do so after every draft
		if calls := heard.Calls(); len(calls) != 1 || string(calls[0]) != "\x01\x02\x03\x04" {
			s.Fatalf("the recogniser heard %v", calls)
		}
		if len(s.messages("chat:main")) != 0 || len(s.model.calls()) != 0 {
			s.Fatal("a draft became a text")
		}
		phone.dictate("d", nova.DictationStart) // an ID may come again
		phone.Audio([]byte{1, 1})
		phone.dictate("d", nova.DictationFinish)
		phone.result()
	}, with(heard))
}

func TestP64_N57_CancelAbortsRecognitionAndItsLateTextIsDropped(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"cancel":     func(c *client) { c.dictate("d", nova.DictationCancel) },
		"disconnect": func(c *client) { c.Leave() },
	} {
		t.Run(name, func(t *testing.T) {
			aborted := false
			staged(t, func(s *stage) {
				phone := s.phone()
				phone.dictate("d", nova.DictationStart)
				phone.Audio(make([]byte, 640))
				phone.dictate("d", nova.DictationFinish)
				synctest.Wait()
				end(phone)
				if synctest.Wait(); !aborted {
					s.Fatal("the recogniser goes on")
				}
				phone.silent()
			}, with(transcriber(func(ctx context.Context, _ []byte) (string, error) {
				<-ctx.Done()
				aborted = true
				return "too late", nil
			})))
		})
	}
}

func TestP64_SpeechBeyondSixtySecondsEndsTheDraft(t *testing.T) {
	heard := &memory.Transcriber{Text: "all of it"}
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.dictate("d", nova.DictationStart)
		second := make([]byte, 32_000)
		for range 60 {
			phone.Audio(second)
		}
		phone.silent()
		phone.dictate("d", nova.DictationFinish) // exactly the bound
		if r := phone.result(); r.Text != "all of it" || len(heard.Calls()[0]) != dictation.MaxDraft {
			s.Fatalf("result %+v", r)
		}
		phone.dictate("e", nova.DictationStart)
		for range 60 {
			phone.Audio(second)
		}
		phone.Audio([]byte{0, 0})
		if r := phone.result(); r.ID != "e" || r.Text != "" {
			s.Fatalf("result %+v", r)
		}
		phone.Audio(second)
		if err := phone.draft("e", nova.DictationFinish); !errors.Is(err, dictation.ErrDraftUnknown) {
			s.Fatalf("finish: %v", err)
		}
		if len(heard.Calls()) != 1 {
			s.Fatal("it was recognised")
		}
	}, with(heard))
}

func TestDraftsAreRefusedOneByOne(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		if err := phone.draft("d", nova.DictationFinish); !errors.Is(err, dictation.ErrDraftUnknown) {
			s.Fatalf("finish without a draft: %v", err)
		}
		phone.dictate("d", nova.DictationCancel)
		unknown := nova.InputDictation{ID: "d", Action: nova.DictationStart, ConversationID: "none"}
		if err := phone.deliver(unknown); !errors.Is(err, workbench.ConversationNotFound) {
			s.Fatalf("start in an unknown conversation: %v", err)
		}
		phone.dictate("d", nova.DictationStart)
		phone.Audio([]byte{1, 2})
		for _, id := range []string{"d", "e"} {
			if err := phone.draft(id, nova.DictationStart); !errors.Is(err, dictation.ErrDraftOpen) {
				s.Fatalf("second start %s: %v", id, err)
			}
		}
		if err := phone.draft("e", nova.DictationFinish); !errors.Is(err, dictation.ErrDraftUnknown) {
			s.Fatalf("finish of another: %v", err)
		}
		phone.dictate("e", nova.DictationCancel)
		if cause := phone.say("t", "chat:main", "text"); cause != nova.SubmissionFailed {
			s.Fatalf("text while dictating: %q", cause)
		}
		if err := phone.deliver(nova.InputText{Text: "text"}); err == nil {
			s.Fatal("an uncorrelated text while dictating")
		}
		s.desktop().dictate("d", nova.DictationStart) // another connection has its own
		phone.dictate("d", nova.DictationFinish)
		if r := phone.result(); r.Text != "heard" {
			s.Fatalf("result %+v", r)
		}
	}, hearing("heard"))
}

// Ninety seconds after its start a draft ends, whatever it does, and says so.
func TestTheWatchdogEndsADraft(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.dictate("d", nova.DictationStart)
		time.Sleep(dictation.DraftLife - time.Millisecond)
		phone.silent()
		time.Sleep(time.Millisecond)
		if r := phone.result(); r.ID != "d" || r.Text != "" {
			s.Fatalf("result %+v", r)
		}
		phone.dictate("e", nova.DictationStart)
		phone.dictate("e", nova.DictationCancel)
		phone.dictate("e", nova.DictationStart) // the first one's watchdog must not end this one
		time.Sleep(dictation.DraftLife - time.Second)
		phone.silent()
		phone.Audio([]byte{1, 2})
		phone.dictate("e", nova.DictationFinish)
		time.Sleep(2 * time.Second) // in the middle of recognition
		if r := phone.result(); r.ID != "e" || r.Text != "" {
			s.Fatalf("result %+v", r)
		}
		time.Sleep(time.Hour)
		phone.silent()
	}, with(transcriber(func(ctx context.Context, _ []byte) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})))
}

func TestN57_WhateverARecognizerDoesTheResultIsOneWord(t *testing.T) {
	long := strings.Repeat("😀", nova.MaxInputUnits/2)
	for name, c := range map[string]struct {
		hear transcriber
		want string
	}{
		"fails":         {func(context.Context, []byte) (string, error) { return "half", ports.ErrTranscriberUnavailable }, ""},
		"panics":        {func(context.Context, []byte) (string, error) { panic("out of range") }, ""},
		"blank":         {func(context.Context, []byte) (string, error) { return " \u3000\n", nil }, ""},
		"too long":      {func(context.Context, []byte) (string, error) { return long + "a", nil }, ""},
		"just so long":  {func(context.Context, []byte) (string, error) { return long, nil }, long},
		"hangs 30 s":    {func(ctx context.Context, _ []byte) (string, error) { <-ctx.Done(); return "", ctx.Err() }, ""},
		"broken UTF-8":  {func(context.Context, []byte) (string, error) { return "ok \xff", nil }, "ok \uFFFD"},
		"spaces around": {func(context.Context, []byte) (string, error) { return "  word ", nil }, "word"},
	} {
		t.Run(name, func(t *testing.T) {
			staged(t, func(s *stage) {
				phone := s.phone()
				phone.dictate("d", nova.DictationStart)
				phone.Audio([]byte{1, 2})
				began := time.Now()
				phone.dictate("d", nova.DictationFinish)
				if synctest.Wait(); name == "hangs 30 s" {
					time.Sleep(dictation.RecognitionLimit)
				}
				if r := phone.result(); r.Text != c.want || time.Since(began) > dictation.RecognitionLimit {
					s.Fatalf("result %+q after %v", r.Text, time.Since(began))
				}
				phone.accept("t", "chat:main", "text again")
			}, with(c.hear))
		})
	}
}

func TestWithoutSpeechThereIsNothingToRecognise(t *testing.T) {
	heard := &memory.Transcriber{Text: "a ghost"}
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.dictate("d", nova.DictationStart)
		phone.dictate("d", nova.DictationFinish)
		if r := phone.result(); r.Text != "" || len(heard.Calls()) != 0 {
			s.Fatalf("result %+v", r)
		}
	}, with(heard))
}

func TestDictationNeedsAModelAndARecognizer(t *testing.T) {
	refused := func(s *stage) {
		if err := s.phone().draft("d", nova.DictationStart); !errors.Is(err, dictation.ErrNoDictation) {
			s.Fatalf("start: %v", err)
		}
	}
	staged(t, refused)
	staged(t, refused, hearing("heard"), func(d *personal.Deps, _ *personal.Options) { d.Model = nil })
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.done("b", "presentation.set", `{"mode":"background"}`)
		if err := phone.draft("d", nova.DictationStart); !errors.Is(err, workbench.PresentationHidden) {
			s.Fatalf("start in the background: %v", err)
		}
		phone.Leave()
		phone.Leave()
		if err := phone.draft("d", nova.DictationStart); err == nil {
			s.Fatal("a client that left dictates")
		}
	}, hearing("heard"))
}

// The host stops in the middle of a draft and of a recognition.
func TestStopEndsRecognition(t *testing.T) {
	staged(t, func(s *stage) {
		phone, desktop := s.phone(), s.desktop()
		desktop.dictate("open", nova.DictationStart)
		phone.dictate("d", nova.DictationStart)
		phone.Audio([]byte{1, 2})
		phone.dictate("d", nova.DictationFinish)
		synctest.Wait()
		s.Stop()
		desktop.Audio([]byte{1, 2})
		if err := desktop.draft("open", nova.DictationFinish); !errors.Is(err, workbench.RuntimeClosed) {
			s.Fatalf("finish after the stop: %v", err)
		}
		phone.Leave()
		desktop.Leave()
	}, with(transcriber(func(ctx context.Context, _ []byte) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})))
}

// A recogniser that does not heed its end speaks into no later draft.
func TestP64_ALateTranscriptIsNotTheNextDrafts(t *testing.T) {
	var gate chan struct{}
	staged(t, func(s *stage) {
		gate = make(chan struct{})
		phone := s.phone()
		phone.dictate("d", nova.DictationStart)
		phone.Audio([]byte{1, 2})
		phone.dictate("d", nova.DictationFinish)
		synctest.Wait()
		phone.dictate("d", nova.DictationCancel)
		phone.dictate("d", nova.DictationStart)
		close(gate)
		phone.silent()
		if err := phone.draft("e", nova.DictationStart); !errors.Is(err, dictation.ErrDraftOpen) {
			s.Fatalf("the next draft has ended: %v", err)
		}
		phone.Leave()
	}, with(transcriber(func(context.Context, []byte) (string, error) {
		<-gate
		return "too late", nil
	})))
}
