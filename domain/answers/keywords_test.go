package answers

import (
	"slices"
	"testing"
)

func TestKeywords(t *testing.T) {
	for _, c := range []struct {
		question string
		want     []string
	}{
		{"When did the Harbour Bridge open, and who opened it?", []string{"harbour", "bridge", "open", "opened"}},
		{"大桥什么时候建成的?", []string{"大桥", "建成"}},
		{"What is it?", nil},
		{"summarize this page", nil},
		{"", nil},
	} {
		if got := Keywords(c.question); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q; want %q", c.question, got, c.want)
		}
	}
}
