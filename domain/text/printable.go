package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Printable makes a string from outside safe for one line of a terminal: control
// characters (C0, DEL, C1), line and paragraph separators, bidirectional marks
// and bytes that are no UTF-8 come out as escapes such as \x1b and \u202e.
// Everything else is unchanged.
func Printable(s string) string { return escape(s, false) }

// PrintableLines is Printable for running text: line feeds and tabs stay.
func PrintableLines(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x20 || 0x7F <= r && r <= 0x9F:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == 0x061C, r == 0x200E, r == 0x200F, 0x2028 <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
			// Bidirectional controls reorder what stands around them, the two
			// separators break the line.
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}
