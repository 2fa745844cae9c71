package syncx_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"plexus/usecases/syncx"
)

func TestAChangeWakesAllWhoWaitedBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c syncx.Notifier
		c.Notify() // nobody waits
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
		c.Notify()
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

func TestASemaphoreLetsThroughInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := syncx.NewSemaphore(2)
		var through []int
		for i := range 5 {
			go func() {
				if s.Acquire(t.Context()) == nil {
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
				s.Release()
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
			s := syncx.NewSemaphore(1)
			if err := s.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			waited := make(chan error, 1)
			go func() { waited <- s.Acquire(ctx) }()
			synctest.Wait()
			cancel()
			s.Release()
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Fatalf("Acquire = %v, want %v", err, context.Canceled)
			}
			if err := s.Acquire(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("Acquire with an ended context = %v", err)
			}
			if err := s.Acquire(t.Context()); err != nil { // the place was given back
				t.Fatal(err)
			}
		}
	})
}
