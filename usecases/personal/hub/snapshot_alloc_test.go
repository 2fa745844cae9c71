//go:build !race

package hub_test

import (
	"math"
	"strings"
	"testing"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
)

// The race detector allocates on its own, hence the build tag of this file.

// leastAllocs gives how often run allocates: the least of several counts, since
// what else the process does meanwhile, goroutines that end late and the
// collector among it, is counted too.
func leastAllocs(run func()) float64 {
	least := math.Inf(1)
	for range 5 {
		least = min(least, testing.AllocsPerRun(5, run))
	}
	return least
}

// What is stored beyond the messages that are shown costs nothing: the visit
// stops.
func TestSnapshotCostsWhatItShows(t *testing.T) {
	cost := func(t *testing.T, stored int, text string) (allocs float64, visited int) {
		p := emptyHost()
		p.Messages = func(visit func(conversations.Message) bool) error {
			visited = 0
			for seq := stored; seq > 0; seq-- {
				if visited++; visited > 2*workbench.MaxShownMessages {
					t.Fatal("the visit does not stop")
				}
				if !visit(conversations.Message{Seq: int64(seq), ID: "m", Role: conversations.User, Text: text, CreatedAt: moment}) {
					break
				}
			}
			return nil
		}
		return leastAllocs(func() {
			if _, _, err := MobileFrame(p); err != nil {
				t.Fatal(err)
			}
		}), visited
	}
	for name, c := range map[string]struct {
		text          string
		allocs        float64
		visitedAtMost int
	}{
		"many short ones": {strings.Repeat("x", 100), 3_000, workbench.MaxShownMessages},
		"a few long ones": {strings.Repeat("字", conversations.MaxMessage), 300, workbench.MaxMobileFrame/3/conversations.MaxMessage + 1},
	} {
		t.Run(name, func(t *testing.T) {
			few, _ := cost(t, 1_000, c.text)
			many, visited := cost(t, 100_000, c.text)
			if math.Abs(few-many) > 5 || many > c.allocs {
				t.Errorf("%v allocations with 1,000 messages stored, %v with 100,000; want as many, and at most %v", few, many, c.allocs)
			}
			if visited > c.visitedAtMost {
				t.Errorf("%d messages were read for at most %d", visited, c.visitedAtMost)
			}
		})
	}
}
