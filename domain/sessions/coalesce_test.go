package sessions

import (
	"math/rand/v2"
	"testing"
	"time"
)

// after is a moment of the test, in milliseconds.
func after(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func wantDue(t *testing.T, what string, c *Coalescer, due time.Time) {
	t.Helper()
	if got := c.Due(); !got.Equal(due) {
		t.Errorf("%s: due at %v, want %v", what, got, due)
	}
}

// TestN78_P70_TheWindowIsFixed: it opens at the first change and is not restarted.
func TestN78_P70_TheWindowIsFixed(t *testing.T) {
	var c Coalescer
	wantDue(t, "before any change", &c, time.Time{})
	for i, ms := range []int{0, 100, 200, 249} {
		c.Changed(uint64(i), after(ms))
		wantDue(t, "in the window", &c, after(250))
	}
	if c.Take(after(249)) {
		t.Error("taken before the window has ended")
	}
	if !c.Take(after(250)) || c.Take(after(1000)) {
		t.Error("taken not once, at the end of the window")
	}
	c.Changed(9, after(260)) // while the state is composed
	wantDue(t, "the next window", &c, after(510))
}

// TestN78_P71_AResultCancelsWhatItHas: and nothing newer than it.
func TestN78_P71_AResultCancelsWhatItHas(t *testing.T) {
	for _, tc := range []struct {
		told uint64
		due  time.Time
	}{{4, after(250)}, {5, time.Time{}}, {6, time.Time{}}} {
		var c Coalescer
		c.Changed(5, after(0))
		if !c.Told(tc.told) {
			t.Errorf("revision %d is no news", tc.told)
		}
		wantDue(t, "after the result", &c, tc.due)
	}
}

// TestP71_WhatTheClientHasIsNoNews: neither the change that led to a result and is
// announced behind it, nor a state that was composed meanwhile.
func TestP71_WhatTheClientHasIsNoNews(t *testing.T) {
	var c Coalescer
	c.Changed(0, after(0))
	wantDue(t, "the first revision of all", &c, after(250))
	if !c.Take(after(250)) || !c.Told(0) || c.Told(0) {
		t.Error("revision 0 is news once")
	}
	c.Told(7)
	if c.Told(7) || c.Told(6) || !c.Told(8) {
		t.Error("what the client has is news")
	}
	c.Changed(8, after(300))
	wantDue(t, "a change behind its result", &c, time.Time{})
	c.Changed(9, after(300))
	wantDue(t, "a newer one", &c, after(550))
}

// TestCoalescer_NeverForgetsAChange: whatever happens, a revision that was
// announced is told, or due.
func TestCoalescer_NeverForgetsAChange(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var c Coalescer
	now, revision, told, opened := 0, uint64(1), uint64(0), 0
	for range 20_000 {
		now += rng.IntN(100)
		switch rng.IntN(4) {
		case 0, 1:
			if revision += uint64(rng.IntN(2)); c.Due().IsZero() {
				opened = now
			}
			c.Changed(revision, after(now))
		case 2:
			if r := revision - min(revision, uint64(rng.IntN(3))); c.Told(r) {
				told = r
			}
		case 3:
			if c.Take(after(now)) {
				if now-opened < 250 {
					t.Fatalf("taken %d ms after the first change", now-opened)
				}
				if !c.Told(revision) {
					t.Fatal("composed for nothing")
				}
				told = revision
			}
		}
		if due := c.Due(); told < revision && c.awaited == revision && due.IsZero() || !due.IsZero() && due.Sub(after(opened)) != CoalesceWindow {
			t.Fatalf("revision %d was announced, %d told, due at %v", revision, told, due)
		}
	}
}
