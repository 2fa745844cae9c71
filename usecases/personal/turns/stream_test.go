package turns

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// streamed runs a test in a bubble with the stream of a running turn.
func streamed(t *testing.T, test func(t *testing.T, s *answerStream, sent func() []string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q, client := watched(t)
		turn := aTurn("a", "1")
		q.addTurn(turn)
		_, _, cancel := q.nextTurn(t.Context(), "a")
		defer cancel()
		test(t, &answerStream{hub: q.hub, queue: q, turn: turn}, func() []string {
			synctest.Wait()
			return client.texts()
		})
	})
}

func TestCaptionsComeAtOnceAndThenTenTimesASecond(t *testing.T) {
	streamed(t, func(t *testing.T, s *answerStream, sent func() []string) {
		want := func(when string, texts ...string) {
			t.Helper()
			if got := sent(); !slices.Equal(got, texts) {
				t.Errorf("%s: %q, want %q", when, got, texts)
			}
		}
		add := func(piece string) {
			t.Helper()
			if err := s.add(piece); err != nil {
				t.Fatal(err)
			}
		}
		add("a")
		want("the first piece", "a")
		add("b")
		time.Sleep(captionEvery / 2)
		add("c")
		want("before it is due")
		time.Sleep(captionEvery / 2)
		want("when it is due", "abc")
		time.Sleep(time.Second)
		add("\xff")
		want("after a pause", "abc\uFFFD")
		add("d")
		if all := s.end(); all != "abc\uFFFDd" {
			t.Errorf("in all %q", all)
		}
		time.Sleep(time.Second)
		want("after the end")
		if err := s.add("e"); !errors.Is(err, errEnded) {
			t.Errorf("a piece after the end: %v", err)
		}
	})
}

func TestAnAnswerIsBounded(t *testing.T) {
	streamed(t, func(t *testing.T, s *answerStream, _ func() []string) {
		if err := errors.Join(s.add(strings.Repeat("x", maxAnswer-1)), s.add("x")); err != nil {
			t.Error(err)
		}
		if err := s.add("x"); !errors.Is(err, errTooLong) {
			t.Errorf("one byte too many: %v", err)
		}
	})
}
