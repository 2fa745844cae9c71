package waiting_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"plexus/domain/waiting"
)

func TestAChangeWakesAllWhoWaitedBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c waiting.Changes
		c.Announce() // nobody waits
		var woken atomic.Int32
		for range 3 {
			next := c.Wait()
			go func() {
				<-next
				woken.Add(1)
			}()
		}
		synctest.Wait()
		if woken.Load() != 0 {
			t.Fatal("woken without a change")
		}
		c.Announce()
		synctest.Wait()
		if n := woken.Load(); n != 3 {
			t.Fatalf("%d of 3 were woken", n)
		}
		select {
		case <-c.Wait():
			t.Error("one change woke a later watcher")
		default:
		}
	})
}

func TestATurnstileLetsThroughInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := waiting.NewTurnstile(2)
		var through []int
		for i := range 5 {
			go func() {
				if s.Enter(t.Context()) == nil {
					through = append(through, i)
				}
			}()
			synctest.Wait()
		}
		for n := 2; n <= 5; n++ {
			if want := []int{0, 1, 2, 3, 4}[:n]; !slices.Equal(through, want) {
				t.Fatalf("through %v, want %v", through, want)
			}
			if n < 5 {
				s.Leave()
				synctest.Wait()
			}
		}
	})
}

// A place that comes free as the caller goes would otherwise be theirs now and
// then, by chance.
func TestWhoHasGoneGetsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			s := waiting.NewTurnstile(1)
			if err := s.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			waited := make(chan error, 1)
			go func() { waited <- s.Enter(ctx) }()
			synctest.Wait()
			cancel()
			s.Leave()
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Fatalf("Enter = %v, want %v", err, context.Canceled)
			}
			if err := s.Enter(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("Enter with an ended context = %v", err)
			}
			if err := s.Enter(t.Context()); err != nil { // the place was given back
				t.Fatal(err)
			}
		}
	})
}
