package loglimit

import (
	"testing"
	"time"
)

func TestNote_OneLineStandsForAMinute(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 30, 59, 0, time.UTC)
	var o OnceAMinute
	for _, step := range []struct {
		after time.Duration
		want  int
	}{
		{0, 1}, {0, 0}, {time.Second, 0}, {59 * time.Second, 0}, {time.Minute, 4}, {119 * time.Second, 0}, {3 * time.Minute, 2},
		{-time.Hour, 1}, {-time.Hour + time.Second, 0}, // a clock that was set back
	} {
		if got := o.Note(start.Add(step.after)); got != step.want {
			t.Errorf("after %v: a line for %d events, want %d", step.after, got, step.want)
		}
	}
}
