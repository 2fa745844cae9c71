//go:build !race

package personal_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/ports"
)

// The race detector allocates on its own, hence the build tag of this file.

// What is stored beyond the messages that are shown costs nothing. There are no
// more of them because the store in memory compares each new one with all others.
func TestASnapshotCostsWhatItShows(t *testing.T) {
	cost := func(stored int) (allocs float64) {
		staged(t, func(s *stage) {
			s.fill(conversations.MainID, stored)
			phone := s.phone()
			allocs = leastAllocs(func() { phone.frame() })
		})
		return allocs
	}
	few, many := cost(1_000), cost(20_000)
	if math.Abs(few-many) > 10 || few == 0 {
		t.Errorf("%v allocations with 1,000 messages stored, %v with 20,000", few, many)
	}
}

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

// fill stores messages in a conversation.
func (s *stage) fill(conversationID string, n int) {
	s.Helper()
	err := s.store.Update(s.Context(), func(tx ports.PersonalTx) error {
		for i := range n {
			if _, err := tx.AddMessage(conversations.Message{
				ID: fmt.Sprint("user:", i), ConversationID: conversationID, Role: conversations.User, Text: "some words",
				CreatedAt: time.Now(), Status: conversations.Completed,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}
