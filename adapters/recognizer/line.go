package recognizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/domain/text"
)

// blankAudio is what the whisper programs print where they found no word; nobody
// says it.
const blankAudio = "[BLANK_AUDIO]"

// isSilence reports whether a line has no word that somebody said: recognizers put
// what else they heard into brackets, as [ Silence ] or (music), and what was sung
// between notes.
func isSilence(line string) bool {
	const notes = "♩♪♫♬🎵🎶"
	blank := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune(opening, r) && r != '*'
	}
	for {
		line = strings.TrimLeftFunc(line, blank)
		first, size := utf8.DecodeRuneInString(line)
		switch {
		case line == "":
			return true
		case strings.ContainsRune(notes, first):
			rest := strings.TrimRightFunc(line[size:], blank)
			last, _ := utf8.DecodeLastRuneInString(rest)
			return strings.Trim(rest, notes+" ") == "" || strings.ContainsRune(notes, last)
		}
		end := closes(line)
		if end == 0 {
			return false
		}
		line = line[end:]
	}
}

// The brackets that recognizers use, each at the place of its other half.
const (
	opening = "[({（［【〔＊*"
	closing = "])}）］】〕＊*"
)

// closes gives where the bracket with which the line begins is closed; 0: it begins
// with none, or it stays open.
func closes(line string) (end int) {
	open, size := utf8.DecodeRuneInString(line)
	at := strings.IndexRune(opening, open)
	if at < 0 {
		return 0
	}
	close := []rune(closing)[utf8.RuneCountInString(opening[:at])]
	depth := 0
	for i, r := range line {
		switch {
		case r == close && i >= size:
			depth--
		case r == open:
			depth++
		}
		if depth == 0 {
			return i + utf8.RuneLen(r)
		}
	}
	return 0
}

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
		line = strings.TrimSpace(strings.ReplaceAll(line, blankAudio, ""))
		if isSilence(line) {
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
