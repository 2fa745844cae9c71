package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"plexus/domain/text"
)

// Size spells a number of bytes for people.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// Minute spells a moment in this machine's time zone, for lists.
func Minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// Counted joins a number with the word for it.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Ago spells how long since t, for people.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

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
