package recognizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/domain/text"
)

// blankAudio is what the whisper programs print for speech in which they found
// no word.
const blankAudio = "[BLANK_AUDIO]"

// oneLine makes valid UTF-8 on one line of what a recognizer gave: without time
// stamps, control characters and white space around it. Lines are joined by a
// blank, except where the writing has none.
func oneLine(raw string) string {
	var all strings.Builder
	last := ' '
	lineBreak := func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }
	for line := range strings.FieldsFuncSeq(strings.ToValidUTF8(raw, "\uFFFD"), lineBreak) {
		// "[00:00.000 --> 00:02.500]" goes from its front.
		timestamp, rest, closed := strings.Cut(strings.TrimSpace(line), "]")
		timestamp, opened := strings.CutPrefix(timestamp, "[")
		from, to, arrow := strings.Cut(timestamp, "-->")
		if closed && opened && arrow && isTime(from) && isTime(to) {
			line = rest
		}
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsControl(r):
				return -1
			}
			return r
		}, line))
		if line == "" || line == blankAudio {
			continue
		}
		first, _ := utf8.DecodeRuneInString(line)
		if all.Len() > 0 && !(isWide(last) && isWide(first)) {
			all.WriteByte(' ')
		}
		all.WriteString(line)
		last, _ = utf8.DecodeLastRuneInString(line)
	}
	return all.String()
}

// isWide: Chinese and Japanese, their punctuation included, are written without
// blanks between words. Korean is not.
func isWide(r rune) bool {
	return text.IsCJK(r) && !unicode.Is(unicode.Hangul, r) || r >= 0x3000 && r <= 0x303F || r >= 0xFF01 && r <= 0xFF60
}

func isTime(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && strings.Trim(s, "0123456789:.,") == ""
}
