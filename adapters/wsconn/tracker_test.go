package wsconn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"plexus/domain/sessions"
)

// closer counts how often it was told to end.
type closer struct{ closes, reason atomic.Int64 }

func (c *closer) Close(reason sessions.CloseReason) {
	c.closes.Add(1)
	c.reason.Store(int64(reason))
}

// isOver looks whether Wait would return at once.
func isOver(t *testing.T, tr *Tracker) bool {
	t.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err := tr.Wait(ended)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Wait gave %v", err)
	}
	return err == nil
}

func TestTracker_BoundsThePlaces(t *testing.T) {
	tr := NewTracker(2)
	c := &closer{}
	for n, want := range []bool{true, true, false} {
		if tr.Reserve() != want {
			t.Fatalf("place %d: want %v", n, want)
		}
	}
	tr.Add(c)
	if tr.Len() != 2 {
		t.Errorf("%d places are taken, want the one reserved and the one in use", tr.Len())
	}
	tr.Release(c)
	tr.Release(nil)
	if tr.Len() != 0 || !tr.Reserve() || !tr.Reserve() {
		t.Error("places were not given back")
	}
	if c.closes.Load() != 0 {
		t.Error("a connection was told to end without need")
	}
}

// TestTracker_EveryOrder: a connection is told to end whatever CloseAll comes
// between, and Wait ends with the last place, not before.
func TestTracker_EveryOrder(t *testing.T) {
	for _, tc := range []struct {
		name  string
		steps string // r reserve, a add, e end (release), n release without a connection, C CloseAll
		told  bool   // the connection was told to end
		over  []bool // whether Wait returns, after each step from the first C on
	}{
		{"nobody is there", "C", false, []bool{true}},
		{"twice", "CC", false, []bool{true, true}},
		{"in use", "raCe", true, []bool{false, true}},
		{"in use, twice", "raCCe", true, []bool{false, false, true}},
		{"between reserve and add", "rCae", true, []bool{false, false, true}},
		{"reserved, never came", "rCn", false, []bool{false, true}},
		{"gone before", "raeC", false, []bool{true}},
		{"never came", "rnC", false, []bool{true}},
	} {
		tr, c := NewTracker(1), &closer{}
		var over []bool
		closed := false
		for _, step := range tc.steps {
			switch step {
			case 'r':
				tr.Reserve()
			case 'a':
				tr.Add(c)
			case 'e':
				tr.Release(c)
			case 'n':
				tr.Release(nil)
			case 'C':
				tr.CloseAll(sessions.Shutdown)
				closed = true
			}
			if closed {
				over = append(over, isOver(t, tr))
			}
		}
		if told := c.closes.Load() > 0; told != tc.told {
			t.Errorf("%s: told to end is %v", tc.name, told)
		}
		if len(over) != len(tc.over) {
			t.Fatalf("%s: %v", tc.name, over)
		}
		for n := range over {
			if over[n] != tc.over[n] {
				t.Errorf("%s: Wait returns %v, want %v", tc.name, over, tc.over)
				break
			}
		}
		if tr.Reserve() {
			t.Errorf("%s: a place was given after CloseAll", tc.name)
		}
	}
}

// TestTracker_WaitPrefersTheGoodEnd: when both have come, the end of the last
// connection counts and not that of the context.
func TestTracker_WaitPrefersTheGoodEnd(t *testing.T) {
	tr := NewTracker(1)
	tr.CloseAll(sessions.Shutdown)
	for range 200 {
		if !isOver(t, tr) {
			t.Fatal("Wait reports an ended context though nobody is left")
		}
	}
}

func TestTracker_TellsTheReason(t *testing.T) {
	tr, c := NewTracker(1), &closer{}
	tr.Reserve()
	tr.Add(c)
	tr.CloseAll(sessions.ExtensionRemoved)
	if got := sessions.CloseReason(c.reason.Load()); got != sessions.ExtensionRemoved {
		t.Errorf("told to end for %v", got)
	}
	tr.Release(c)
}

// toldOnce lets its owner wait until it is told to end.
type toldOnce struct {
	once sync.Once
	told chan struct{}
}

func (c *toldOnce) Close(sessions.CloseReason) { c.once.Do(func() { close(c.told) }) }

// TestTracker_NobodySlipsThrough: connections come while CloseAll runs. Each
// lives until it is told to end; one that never is would stop the bubble.
func TestTracker_NobodySlipsThrough(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			const connections = 8
			tr := NewTracker(connections)
			for range connections {
				go func() {
					if !tr.Reserve() {
						return // CloseAll came before
					}
					c := &toldOnce{told: make(chan struct{})}
					tr.Add(c)
					<-c.told
					tr.Release(c)
				}()
			}
			go tr.CloseAll(sessions.Shutdown)
			synctest.Wait()
			if tr.Len() != 0 || !isOver(t, tr) {
				t.Fatalf("%d places are taken after everybody was told to end", tr.Len())
			}
		})
	}
}
