package arch

import (
	"bytes"
	"go/format"
	"strings"
	"testing"
)

func TestGoFilesAreFormatted(t *testing.T) {
	seen := 0
	walk(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		seen++
		if why := unformatted(text); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	})
	if seen < 10 {
		t.Errorf("only %d Go files seen", seen)
	}
}

// unformatted says why a file is not as gofmt writes it, or "".
func unformatted(text []byte) string {
	want, err := format.Source(text)
	switch {
	case err != nil:
		return "does not parse: " + err.Error()
	case !bytes.Equal(want, text):
		return "gofmt would change it"
	}
	return ""
}

func TestTheFormatCheckRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"package p\n\nvar x = 1\n":  "",
		"package p\n\nvar x  = 1\n": "gofmt would change it",
		"package p\nvar":            "does not parse",
	} {
		if got := unformatted([]byte(text)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
