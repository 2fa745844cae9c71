package sessions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestN5_K3_ANewcomerNeverDisplacesALiveClient: the slot is asked for and
// probeDone as a script; what each step gives stands beside it.
func TestN5_K3_ANewcomerNeverDisplacesALiveClient(t *testing.T) {
	const client, newcomer, third ConnID = 1, 2, 3
	type step func(t *testing.T, p *Slot)
	acquire := func(id ConnID, wanted SlotAnswer) step {
		return func(t *testing.T, p *Slot) {
			if got := p.Acquire(id); got != wanted {
				t.Errorf("acquire of %d: %d, want %d", id, got, wanted)
			}
		}
	}
	probeDone := func(id ConnID, alive, granted bool, evicted ConnID) step {
		return func(t *testing.T, p *Slot) {
			if g, e := p.ProbeDone(id, alive); g != granted || e != evicted {
				t.Errorf("probe for %d, alive %v: %v, %d; want %v, %d", id, alive, g, e, granted, evicted)
			}
		}
	}
	release := func(id ConnID) step { return func(_ *testing.T, p *Slot) { p.Release(id) } }
	for name, c := range map[string]struct {
		steps  []step
		holder ConnID
	}{
		"free":                  {[]step{acquire(client, SlotGranted)}, client},
		"free again":            {[]step{acquire(client, SlotGranted), release(client), acquire(newcomer, SlotGranted)}, newcomer},
		"alive":                 {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), probeDone(newcomer, true, false, 0)}, client},
		"ghost":                 {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), probeDone(newcomer, false, true, client)}, newcomer},
		"third during a probe":  {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), acquire(third, SlotBusy), probeDone(newcomer, false, true, client)}, newcomer},
		"third after a probe":   {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), probeDone(newcomer, true, false, 0), acquire(third, SlotProbe)}, client},
		"client left meanwhile": {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), release(client), probeDone(newcomer, true, true, 0)}, newcomer},
		"slot retaken by third": {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), release(client), acquire(third, SlotGranted), probeDone(newcomer, true, false, 0)}, third},
		"newcomer left":         {[]step{acquire(client, SlotGranted), acquire(newcomer, SlotProbe), release(newcomer), probeDone(newcomer, false, false, 0)}, client},
		"a stranger leaves":     {[]step{acquire(client, SlotGranted), release(third)}, client},
	} {
		t.Run(name, func(t *testing.T) {
			var p Slot
			for _, s := range c.steps {
				s(t, &p)
			}
			if p.Holder() != c.holder {
				t.Errorf("%d has the slot, want %d", p.Holder(), c.holder)
			}
		})
	}
}

func TestK3_APendingHelloTooManyEvictsTheOldest(t *testing.T) {
	var l PendingHellos
	for id := ConnID(1); id <= MaxPendingHellos; id++ {
		if out := l.Add(id, ""); len(out) != 0 {
			t.Fatalf("socket %d drove out %v", id, out)
		}
	}
	if out := l.Add(9, ""); !slices.Equal(out, []ConnID{1}) {
		t.Errorf("the ninth drove out %v, want the oldest", out)
	}
	l.Remove(5)
	if out := l.Add(10, ""); len(out) != 0 {
		t.Errorf("a free slot, and %v was driven out", out)
	}
}

func TestK3_APeerBehindAProxyHasTwoPendingHellos(t *testing.T) {
	var l PendingHellos
	for id, peer := range []string{"a@x", "b@x", "", "a@x", "", ""} {
		if out := l.Add(ConnID(id+1), peer); len(out) != 0 {
			t.Fatalf("socket %d drove out %v", id+1, out)
		}
	}
	if out := l.Add(7, "a@x"); !slices.Equal(out, []ConnID{1}) {
		t.Errorf("the third of one peer drove out %v, want its own oldest", out)
	}
}

func TestPendingHellos_KeepItsBounds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var l PendingHellos
	in := map[ConnID]string{}
	for id := ConnID(1); id < 5000; id++ {
		peer := []string{"", "a", "b", "c"}[rng.IntN(4)]
		for _, out := range l.Add(id, peer) {
			delete(in, out)
		}
		in[id] = peer
		if rng.IntN(3) == 0 {
			gone := id - ConnID(rng.IntN(5))
			l.Remove(gone)
			delete(in, gone)
		}
		counts := map[string]int{}
		for _, p := range in {
			counts[p]++
		}
		if len(in) > MaxPendingHellos || max(counts["a"], counts["b"], counts["c"]) > MaxPendingHellosPerPeer || len(l.waiting) != len(in) {
			t.Fatal(fmt.Sprint("after ", id, ": ", in))
		}
	}
}
