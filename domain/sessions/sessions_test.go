package sessions

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestReasons_HaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for r := ClientGone; r <= Internal; r++ {
		name := r.String()
		if name == "unknown" || seen[name] {
			t.Errorf("reason %d is called %q", r, name)
		}
		seen[name] = true
	}
	if CloseReason(0).String() != "unknown" || (Internal+1).String() != "unknown" {
		t.Error("a value outside the set must be unknown")
	}
}

func TestReasons_FlushOnlyWhatIsOwedToThePeer(t *testing.T) {
	var flushing []CloseReason
	for r := ClientGone; r <= Internal; r++ {
		if r.Flushes() {
			flushing = append(flushing, r)
		}
	}
	if want := []CloseReason{ClientGone, Shutdown, Finished, ControlCapacity}; !slices.Equal(flushing, want) {
		t.Errorf("%v flush, want %v", flushing, want)
	}
}

func TestInflight_Limits(t *testing.T) {
	var f Inflight[int]
	for id := range uint64(MaxInflight) {
		if err := f.Begin(id, int(id)); err != nil {
			t.Fatalf("request %d: %v", id, err)
		}
	}
	if err := f.Begin(MaxInflight, 0); !errors.Is(err, ErrTooManyInflight) {
		t.Errorf("request 1025: %v, want ErrTooManyInflight", err)
	}
	if err := f.Begin(7, 0); !errors.Is(err, ErrDuplicateRequest) {
		t.Errorf("a live ID again: %v, want ErrDuplicateRequest", err)
	}
	if got, ok := f.End(7); !ok || got != 7 {
		t.Errorf("End(7) = %d, %v", got, ok)
	}
	if _, ok := f.End(7); ok {
		t.Error("the second End of an ID must be a no-op")
	}
	if err := f.Begin(7, 70); err != nil {
		t.Errorf("an ended ID again: %v", err)
	}
	f.Drain(func(uint64, int) {})
	if f.Len() != 0 {
		t.Errorf("%d requests after Drain", f.Len())
	}
}

// TestInflight_AgreesWithAModel runs random steps against a plain map.
func TestInflight_AgreesWithAModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var f Inflight[int]
	model := map[uint64]int{}
	for step := range 20_000 {
		id := random.Uint64N(1200)
		switch random.IntN(3) {
		case 0, 1:
			_, live := model[id]
			err := f.Begin(id, step)
			switch {
			case live:
				if !errors.Is(err, ErrDuplicateRequest) {
					t.Fatalf("step %d: Begin(%d) = %v, want duplicate", step, id, err)
				}
			case len(model) >= MaxInflight:
				if !errors.Is(err, ErrTooManyInflight) {
					t.Fatalf("step %d: Begin(%d) = %v, want too many", step, id, err)
				}
			default:
				if err != nil {
					t.Fatalf("step %d: Begin(%d) = %v", step, id, err)
				}
				model[id] = step
			}
		case 2:
			want, live := model[id]
			got, ok := f.End(id)
			if ok != live || got != want {
				t.Fatalf("step %d: End(%d) = %d, %v; want %d, %v", step, id, got, ok, want, live)
			}
			delete(model, id)
		}
		if f.Len() != len(model) {
			t.Fatalf("step %d: %d in flight, want %d", step, f.Len(), len(model))
		}
	}
}
