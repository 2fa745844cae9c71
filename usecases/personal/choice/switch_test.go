package choice

import (
	"errors"
	"testing"

	"plexus/adapters/memory"
)

func TestASwitchOutlivesTheHostAndYieldsToWhatIsFixed(t *testing.T) {
	for _, begins := range []bool{true, false} {
		settings := memory.NewSettings()
		load := func(start Start) *Switch {
			t.Helper()
			s, err := Load(t.Context(), settings, "key", start)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := load(Start{On: begins})
		for _, on := range []bool{!begins, !begins, begins, !begins} {
			if err := s.Set(t.Context(), on); err != nil || s.On() != on || load(Start{On: begins}).On() != on {
				t.Fatalf("set to %v: %v, %v", on, s.On(), err)
			}
		}
		fixed := load(Start{On: begins, Fixed: true})
		if err := fixed.Set(t.Context(), !begins); !errors.Is(err, ErrFixed) || fixed.On() != begins || !fixed.Fixed() {
			t.Fatalf("fixed: %v, %v", fixed.On(), err)
		}
	}
}
