package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"plexus/domain/text"
)

// PrintJSON prints one value for other programs, over several lines.
func (e Env) PrintJSON(value any) error {
	return WriteJSON(e.Stdout, value, "  ")
}

// WriteJSON encodes value so that it says the same to a program and nothing to
// a terminal: what encoding/json leaves as it is and a terminal may obey, C1
// controls and bidirectional marks among them, is written as escapes too.
func WriteJSON(w io.Writer, value any, indent string) error {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetIndent("", indent)
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	var safe bytes.Buffer
	for _, r := range plain.String() {
		// Such a rune stands inside a string: outside there is only ASCII.
		if r >= utf8.RuneSelf && text.Printable(string(r)) != string(r) || r == 0x7f {
			fmt.Fprintf(&safe, `\u%04x`, r)
			continue
		}
		safe.WriteRune(r)
	}
	if _, err := w.Write(safe.Bytes()); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
