package syncx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"plexus/usecases/syncx"
)

func TestABudgetLeavesRoomForOthers(t *testing.T) {
	b := syncx.NewBudget(8)
	take := func(name string, want int) {
		t.Helper()
		n := 0
		for b.TryAcquire(name, 1) {
			n++
		}
		if n != want {
			t.Errorf("%s got %d, want %d", name, n, want)
		}
	}
	take("a", 4)
	take("b", 2)
	take("c", 1)
	take("a", 0)
	b.Release("a", 4)
	take("b", 1)
	for name, n := range map[string]int{"b": 3, "c": 1} {
		b.Release(name, n)
	}
	take("d", 4)
}

func TestABudgetServesWhoHoldsLeastAndKeepsTheOrderOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := syncx.NewBudget(12)
		var order []string
		for _, name := range []string{"a", "a", "a", "a", "b", "b", "b", "c", "c"} {
			if !b.TryAcquire(name, 1) {
				t.Fatal("no room")
			}
		}
		for i, name := range []string{"a", "a", "b"} {
			go func() {
				if err := b.Acquire(t.Context(), name, 1); err != nil {
					t.Error(err)
				}
				order = append(order, fmt.Sprint(name, i))
			}()
			synctest.Wait()
		}
		for _, name := range []string{"c", "c", "b", "b", "b", "b"} {
			b.Release(name, 1)
			synctest.Wait()
		}
		if want := []string{"b2", "a0", "a1"}; !slices.Equal(order, want) {
			t.Errorf("served %v, want %v", order, want)
		}
	})
}

func TestABudgetLosesNothingToWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := syncx.NewBudget(4)
		for range 100 {
			if err := b.Acquire(t.Context(), "a", 2); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- b.Acquire(ctx, "a", 2) }()
			synctest.Wait()
			go cancel()
			b.Release("a", 2) // at the same moment
			if err := <-ended; err == nil {
				b.Release("a", 2)
			} else if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if !b.TryAcquire("z", 2) {
			t.Error("room was lost")
		}
	})
}
