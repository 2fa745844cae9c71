package admindesk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// aroundRunes is how much of a message is shown on each side of what was found.
const aroundRunes = 90

// around cuts a message to what stands around the first word of asked that it
// holds, in one line each. Where none is found as it was typed, match is "" and
// after is how the message begins.
func around(message, asked string) (before, match, after string) {
	at, end := 0, 0
	for word := range strings.FieldsFuncSeq(asked, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if at, end = index(message, word); end > 0 {
			break
		}
	}
	from, to := at, end
	for range aroundRunes {
		_, size := utf8.DecodeLastRuneInString(message[:from])
		from -= size
	}
	for range 2 * aroundRunes {
		_, size := utf8.DecodeRuneInString(message[to:])
		to += size
	}
	before, match, after = flat(message[from:at]), flat(message[at:end]), flat(message[end:to])
	if from > 0 {
		before = "…" + before
	}
	if to < len(message) {
		after += "…"
	}
	return before, match, after
}

// index finds word in s, whatever the case of its letters. end is 0 when it is
// not there.
func index(s, word string) (at, end int) {
	for at = range s {
		rest := s[at:]
		end = 0
		for range utf8.RuneCountInString(word) {
			_, size := utf8.DecodeRuneInString(rest[end:])
			end += size
		}
		if strings.EqualFold(rest[:end], word) {
			return at, at + end
		}
	}
	return 0, 0
}

// flat makes one line of s and leaves blanks at its ends.
func flat(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
}
