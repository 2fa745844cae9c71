package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"plexus/domain/text"
)

// What comes from a page may be printed as JSON to a terminal.
func TestWriteJSON_SaysNothingToATerminal(t *testing.T) {
	type said struct{ Answer string }
	want := "a\x1b[2J b\u009b31m c\u202e d\x7f e\u2028 \U000e0001 ü 中 \U0001f600 <&>\n"
	var b bytes.Buffer
	if err := WriteJSON(&b, said{want}, ""); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); text.PrintableLines(got) != got {
		t.Errorf("a terminal would obey %q", got)
	}
	var back said
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Answer != want {
		t.Errorf("got back %q, %v; want %q", back.Answer, err, want)
	}
}
