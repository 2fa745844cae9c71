package playback

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

func begin() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// speaking gives a connected host that speaks u-1 and has made frames of it.
func speaking(t *testing.T, frames int) (*State, Generation) {
	t.Helper()
	s := &State{}
	s.Connect()
	return s, speak(t, s, frames)
}

// speak opens the next generation and makes frames of it.
func speak(t *testing.T, s *State, frames int) Generation {
	t.Helper()
	g, _, ok := s.Open(fmt.Sprint("u-", s.epoch+1), begin())
	if !ok {
		t.Fatal("a connected host may not speak")
	}
	for want := range frames {
		if got, ok := s.Next(g); !ok || got != uint64(want) {
			t.Fatalf("frame %d has sequence %d, %v", want, got, ok)
		}
	}
	return g
}

func wantEffects(t *testing.T, what string, got, want Effects) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func ended(g Generation, o Outcome, playedMS uint64) []Ending { return []Ending{{g, o, playedMS}} }

func TestN25_NewerSpeechClearsTheOlderAndIsNotFenced(t *testing.T) {
	s, old := speaking(t, 3)
	newer, fx, ok := s.Open("newer", begin())
	if !ok {
		t.Fatal("the newer response may not speak")
	}
	wantEffects(t, "a newer response", fx, Effects{Clear: old, Cancel: old})
	if newer.Epoch != old.Epoch+1 {
		t.Errorf("epoch %d after %d, want the next", newer.Epoch, old.Epoch)
	}
	if f := s.Fence(); !f.CoversEpoch(old.Epoch) || f.CoversEpoch(newer.Epoch) {
		t.Errorf("fence %+v, want it between %d and %d", f, old.Epoch, newer.Epoch)
	}
	if _, ok := s.Next(old); ok {
		t.Error("the interrupted generation makes another frame")
	}
	if seq, ok := s.Next(newer); !ok || seq != 0 {
		t.Errorf("the newer generation begins with %d, %v", seq, ok)
	}
}

func TestN26_TheFenceOnlyRises(t *testing.T) {
	f := Fence{Epoch: 7, Caption: 40}
	for _, late := range []Fence{{}, {Epoch: 3}, {Caption: 12}, {Epoch: 7, Caption: 40}} {
		if got := f.Raised(late); got != f {
			t.Errorf("%+v raised to %+v is %+v", f, late, got)
		}
	}
	if got, want := f.Raised(Fence{Epoch: 9, Caption: 1}), (Fence{Epoch: 9, Caption: 40}); got != want {
		t.Errorf("raised to %+v, want %+v", got, want)
	}
	s, _ := speaking(t, 1)
	s.Disconnect()
	before := s.Fence()
	s.Connect()
	s.Alert()
	if s.Fence() != before {
		t.Errorf("the fence went from %+v to %+v", before, s.Fence())
	}
}

func TestN27_AnAlertFencesAssistantCaptionsAlone(t *testing.T) {
	s, g := speaking(t, 1)
	first, _ := s.AssistantCaption(g)
	user := s.UserCaption()
	if user != first+1 {
		t.Errorf("caption %d after %d: one counter for both roles", user, first)
	}
	f := s.Alert()
	if f.CoversEpoch(g.Epoch) {
		t.Error("an alert without identity fences audio")
	}
	if !f.CoversCaption(first) || f.Caption != first {
		t.Errorf("fence %+v, want the newest assistant caption, %d", f, first)
	}
	next, ok := s.AssistantCaption(g)
	if !ok || f.CoversCaption(next) {
		t.Errorf("a caption after the alert: %d, %v, is held back", next, ok)
	}
	s.Interrupt(begin())
	if _, ok := s.AssistantCaption(g); ok {
		t.Error("a late transcript of fenced speech gets a fresh sequence")
	}
	if _, ok := s.AssistantCaption(Generation{}); !ok {
		t.Error("text that is not spoken is held back")
	}
	if s.UserCaption() != next+2 {
		t.Error("the user's captions go on, one by one")
	}
}

func TestN28_AnInterruptedGenerationHasNoTerminal(t *testing.T) {
	s, g := speaking(t, 2)
	wantEffects(t, "interrupt", s.Interrupt(begin()), Effects{Clear: g, Cancel: g})
	wantEffects(t, "the model finishes late", s.Finish(g), Effects{})
	// One that was queued before is held back by the fence.
	s2, g2 := speaking(t, 2)
	wantEffects(t, "the model finishes", s2.Finish(g2), Effects{Terminal: g2})
	s2.Interrupt(begin())
	if !s2.Fence().CoversEpoch(g2.Epoch) {
		t.Error("the queued terminal slips past the fence")
	}
}

func TestN45_SequencesHaveNoGapAndNoFramesMeanNoTerminal(t *testing.T) {
	s, g := speaking(t, 5) // checks the sequences
	wantEffects(t, "finish", s.Finish(g), Effects{Terminal: g})
	wantEffects(t, "finish again", s.Finish(g), Effects{})
	if _, ok := s.Next(g); ok {
		t.Error("a frame after the terminal")
	}
	s, g = speaking(t, 0)
	wantEffects(t, "finish without a frame", s.Finish(g), Effects{Ended: ended(g, Suppressed, 0)})
	if !s.Quiet() {
		t.Error("a generation without frames is still there")
	}
	g = speak(t, s, 0)
	wantEffects(t, "interrupt without a frame", s.Interrupt(begin()), Effects{Cancel: g, Ended: ended(g, Suppressed, 0)})
}

func TestN46_DoneCountsOnceAfterTheTerminalUnfenced(t *testing.T) {
	s, g := speaking(t, 2)
	wantEffects(t, "before the terminal", s.Done(g, 10), Effects{})
	s.Finish(g)
	for _, other := range []Generation{{}, {g.UtteranceID, g.Epoch + 1}, {"other", g.Epoch}, {g.UtteranceID + " ", g.Epoch}} {
		wantEffects(t, fmt.Sprintf("done of %+v", other), s.Done(other, 10), Effects{})
	}
	wantEffects(t, "cleared without a clear", s.Cleared(g, 10), Effects{})
	wantEffects(t, "done", s.Done(g, 800), Effects{Ended: ended(g, Spoken, 800)})
	wantEffects(t, "done again", s.Done(g, 800), Effects{})

	fenced := speak(t, s, 2)
	s.Finish(fenced)
	s.Interrupt(begin())
	wantEffects(t, "done after the fence", s.Done(fenced, 800), Effects{})
}

func TestN46_DoneOfACutModelIsNotSpoken(t *testing.T) {
	for _, c := range []struct {
		started bool
		played  uint64
		want    Outcome
	}{{true, 0, Interrupted}, {false, 20, Interrupted}, {false, 0, Suppressed}} {
		s, g := speaking(t, 1)
		if c.started {
			s.Started(g)
		}
		wantEffects(t, "cut short", s.CutShort(g), Effects{Terminal: g})
		wantEffects(t, fmt.Sprintf("%+v", c), s.Done(g, c.played), Effects{Ended: ended(g, c.want, c.played)})
	}
}

func TestN47_WhatWasHeardDecidesInterruptedOrSuppressed(t *testing.T) {
	for _, c := range []struct {
		name    string
		started string // "before" or "after" the fence
		played  uint64
		want    Outcome
	}{
		{"nothing", "", 0, Suppressed},
		{"played", "", 1, Interrupted},
		{"started", "before", 0, Interrupted},
		{"started late", "after", 0, Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, g := speaking(t, 1)
			if c.started == "before" {
				s.Started(g)
			}
			s.Interrupt(begin())
			if c.started == "after" {
				s.Started(g)
			}
			wantEffects(t, "cleared", s.Cleared(g, c.played), Effects{Ended: ended(g, c.want, c.played)})
			if got := c.want.Remembered(); got != (c.want == Interrupted) {
				t.Errorf("%v remembered: %v", c.want, got)
			}
		})
	}
}

func TestN48_StoppedCancelsTheModelOfTheCurrentGenerationOnly(t *testing.T) {
	s, old := speaking(t, 1)
	g, _, _ := s.Open("newer", begin())
	s.Next(g)
	wantEffects(t, "stopped of a fenced generation", s.Stopped(old, 5), Effects{})
	wantEffects(t, "stopped of an unknown one", s.Stopped(Generation{"x", g.Epoch}, 5), Effects{})
	caption, _ := s.AssistantCaption(g)
	wantEffects(t, "stopped", s.Stopped(g, 0), Effects{Cancel: g, Ended: ended(g, Suppressed, 0)})
	if want := (Fence{Epoch: g.Epoch, Caption: caption}); s.Fence() != want {
		t.Errorf("fence %+v, want %+v", s.Fence(), want)
	}
	wantEffects(t, "the old one's cleared", s.Cleared(old, 0), Effects{Ended: ended(old, Suppressed, 0)})
}

func TestN49_LateAcknowledgementsAreInert(t *testing.T) {
	s := &State{}
	s.Connect()
	var all []Generation
	for range MaxTombstones + 1 {
		g := speak(t, s, 1)
		s.Finish(g)
		s.Done(g, 1)
		all = append(all, g)
	}
	live := speak(t, s, 1)
	for _, g := range all {
		for _, fx := range []Effects{s.Done(g, 9), s.Cleared(g, 9), s.Stopped(g, 9)} {
			wantEffects(t, fmt.Sprintf("late for %+v", g), fx, Effects{})
		}
		s.Started(g)
	}
	if _, known := s.Outcome(all[0]); known {
		t.Errorf("more than %d tombstones", MaxTombstones)
	}
	for _, g := range all[1:] {
		if o, known := s.Outcome(g); !known || o != Spoken {
			t.Fatalf("outcome of %+v: %v, %v", g, o, known)
		}
	}
	wantEffects(t, "the live one", s.Stopped(live, 0), Effects{Cancel: live, Ended: ended(live, Suppressed, 0)})
}

func TestN51_NothingOfAnOldConnectionReachesTheNext(t *testing.T) {
	s, fenced := speaking(t, 1)
	s.Interrupt(begin())
	g := speak(t, s, 1)
	s.Started(g)
	wantEffects(t, "disconnect", s.Disconnect(), Effects{
		Cancel: g,
		Ended:  []Ending{{fenced, Suppressed, 0}, {g, Interrupted, 0}},
	})
	if _, _, ok := s.Open("nobody listens", begin()); ok {
		t.Error("the host speaks without a client")
	}
	if !s.Fence().CoversEpoch(g.Epoch) {
		t.Error("frames of the old connection slip past the fence")
	}
	if _, ok := s.Deadline(); ok || !s.Quiet() {
		t.Error("an acknowledgement of a client that is gone is waited for")
	}
	s.Connect()
	if next := speak(t, s, 1); next.Epoch != g.Epoch+1 {
		t.Errorf("epoch %d after %d: the counter is the process's", next.Epoch, g.Epoch)
	}
}

func TestAMissingClearedIsGivenUp(t *testing.T) {
	s, g := speaking(t, 1)
	s.Interrupt(begin())
	if s.Quiet() {
		t.Error("quiet before the acknowledgement")
	}
	at, ok := s.Deadline()
	if want := begin().Add(ClearTimeout); !ok || !at.Equal(want) {
		t.Fatalf("deadline %v, %v, want %v", at, ok, want)
	}
	wantEffects(t, "just before", s.Expire(at.Add(-1)), Effects{})
	wantEffects(t, "at the deadline", s.Expire(at), Effects{Ended: ended(g, Suppressed, 0)})
	if !s.Quiet() {
		t.Error("not quiet after the deadline")
	}
	wantEffects(t, "the acknowledgement after all", s.Cleared(g, 100), Effects{})
}

func TestUnacknowledgedClearsAreBounded(t *testing.T) {
	s, oldest := speaking(t, 1)
	for range maxUncleared {
		speak(t, s, 1)
	}
	last, fx, _ := s.Open("one more", begin())
	if len(fx.Ended) != 1 || fx.Ended[0].Generation != oldest {
		t.Errorf("%+v gives up %+v, want %+v", last, fx.Ended, oldest)
	}
	if n := len(s.uncleared); n != maxUncleared {
		t.Errorf("%d clears wait, want %d", n, maxUncleared)
	}
}

// A phone takes 150 frames of 400 ms that nobody has heard, and not one more.
func TestN84_TheLimitsAreThoseOfThePhone(t *testing.T) {
	const frame = SampleRate * 400 / 1000
	if MaxUnheardSamples/frame != 150 || MaxUnheardSamples%frame != 0 {
		t.Errorf("%d samples are not 150 frames of 400 ms", MaxUnheardSamples)
	}
	if MaxUnheardFrames != 512 {
		t.Errorf("%d buffers, want 512", MaxUnheardFrames)
	}
}

func TestOutcomesHaveNames(t *testing.T) {
	for o, want := range map[Outcome]string{Spoken: "spoken", Interrupted: "interrupted", Suppressed: "suppressed", 0: "unknown"} {
		if got := o.String(); got != want {
			t.Errorf("outcome %d is %q, want %q", o, got, want)
		}
	}
	if Suppressed.Remembered() || !Spoken.Remembered() {
		t.Error("spoken text is remembered, suppressed text is not")
	}
}
