package loglimit

import (
	"testing"
	"time"
)

func TestAllow_EachKindHasItsLinesEveryMinute(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 30, 59, 0, time.UTC)
	p := PerMinute{}
	for n := range 3 * Lines {
		if got := p.Allow("a", now); got != (n < Lines) {
			t.Fatalf("line %d: %v", n+1, got)
		}
	}
	if !p.Allow("b", now) {
		t.Error("one kind took the lines of another")
	}
	if !p.Allow("a", now.Add(time.Second)) {
		t.Error("the next minute has no line")
	}
}
