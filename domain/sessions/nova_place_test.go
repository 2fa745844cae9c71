package sessions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestN5_K3_ANewcomerNeverDisplacesALiveClient: the place is asked for and
// probed as a script; what each step gives stands beside it.
func TestN5_K3_ANewcomerNeverDisplacesALiveClient(t *testing.T) {
	const client, newcomer, third ConnID = 1, 2, 3
	type step func(t *testing.T, p *Place)
	claim := func(id ConnID, wanted Claim) step {
		return func(t *testing.T, p *Place) {
			if got := p.Claim(id); got != wanted {
				t.Errorf("claim of %d: %d, want %d", id, got, wanted)
			}
		}
	}
	probed := func(id ConnID, alive, granted bool, evicted ConnID) step {
		return func(t *testing.T, p *Place) {
			if g, e := p.Probed(id, alive); g != granted || e != evicted {
				t.Errorf("probe for %d, alive %v: %v, %d; want %v, %d", id, alive, g, e, granted, evicted)
			}
		}
	}
	release := func(id ConnID) step { return func(_ *testing.T, p *Place) { p.Release(id) } }
	for name, c := range map[string]struct {
		steps  []step
		holder ConnID
	}{
		"free":                   {[]step{claim(client, Granted)}, client},
		"free again":             {[]step{claim(client, Granted), release(client), claim(newcomer, Granted)}, newcomer},
		"alive":                  {[]step{claim(client, Granted), claim(newcomer, Probe), probed(newcomer, true, false, 0)}, client},
		"ghost":                  {[]step{claim(client, Granted), claim(newcomer, Probe), probed(newcomer, false, true, client)}, newcomer},
		"third during a probe":   {[]step{claim(client, Granted), claim(newcomer, Probe), claim(third, Busy), probed(newcomer, false, true, client)}, newcomer},
		"third after a probe":    {[]step{claim(client, Granted), claim(newcomer, Probe), probed(newcomer, true, false, 0), claim(third, Probe)}, client},
		"client left meanwhile":  {[]step{claim(client, Granted), claim(newcomer, Probe), release(client), probed(newcomer, true, true, 0)}, newcomer},
		"place retaken by third": {[]step{claim(client, Granted), claim(newcomer, Probe), release(client), claim(third, Granted), probed(newcomer, true, false, 0)}, third},
		"newcomer left":          {[]step{claim(client, Granted), claim(newcomer, Probe), release(newcomer), probed(newcomer, false, false, 0)}, client},
		"a stranger leaves":      {[]step{claim(client, Granted), release(third)}, client},
	} {
		t.Run(name, func(t *testing.T) {
			var p Place
			for _, s := range c.steps {
				s(t, &p)
			}
			if p.Holder() != c.holder {
				t.Errorf("%d has the place, want %d", p.Holder(), c.holder)
			}
		})
	}
}

func TestK3_TheLobbyDrivesOutTheOldest(t *testing.T) {
	var l Lobby
	for id := ConnID(1); id <= MaxLobby; id++ {
		if out := l.Enter(id, ""); len(out) != 0 {
			t.Fatalf("socket %d drove out %v", id, out)
		}
	}
	if out := l.Enter(9, ""); !slices.Equal(out, []ConnID{1}) {
		t.Errorf("the ninth drove out %v, want the oldest", out)
	}
	l.Leave(5)
	if out := l.Enter(10, ""); len(out) != 0 {
		t.Errorf("a free place, and %v was driven out", out)
	}
}

func TestK3_APeerBehindAProxyHasTwoPlaces(t *testing.T) {
	var l Lobby
	for id, peer := range []string{"a@x", "b@x", "", "a@x", "", ""} {
		if out := l.Enter(ConnID(id+1), peer); len(out) != 0 {
			t.Fatalf("socket %d drove out %v", id+1, out)
		}
	}
	if out := l.Enter(7, "a@x"); !slices.Equal(out, []ConnID{1}) {
		t.Errorf("the third of one peer drove out %v, want its own oldest", out)
	}
}

func TestLobby_KeepsItsBounds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var l Lobby
	in := map[ConnID]string{}
	for id := ConnID(1); id < 5000; id++ {
		peer := []string{"", "a", "b", "c"}[rng.IntN(4)]
		for _, out := range l.Enter(id, peer) {
			delete(in, out)
		}
		in[id] = peer
		if rng.IntN(3) == 0 {
			gone := id - ConnID(rng.IntN(5))
			l.Leave(gone)
			delete(in, gone)
		}
		counts := map[string]int{}
		for _, p := range in {
			counts[p]++
		}
		if len(in) > MaxLobby || max(counts["a"], counts["b"], counts["c"]) > MaxLobbyPerPeer || len(l.waiting) != len(in) {
			t.Fatal(fmt.Sprint("after ", id, ": ", in))
		}
	}
}
