// Package text cuts, splits and folds text for the index, the extractive answer
// and the terminal. It is pure and knows no protocol.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word with its place in the text it came from.
type token struct {
	word       string // folded
	start, end int    // bytes
}

// Words gives the words of s in order, folded for comparison: lower case, full
// width to half width, accents of Latin letters dropped. A word is a run of
// letters and digits. Chinese, Japanese and Korean have no reliable blanks, so a
// run of them becomes its overlapping pairs (大桥开通 gives 大桥 桥开 开通), and a
// single character stands for itself. It never gives an empty word.
func Words(s string) []string {
	var words []string
	eachToken(s, func(t token) { words = append(words, t.word) })
	return words
}

// Fold gives s as Words folds it, with everything that is no letter or digit kept.
func Fold(s string) string {
	return strings.Map(fold, s)
}

func eachToken(s string, yield func(token)) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case IsCJK(r):
			i = cjkRun(s, i, yield)
		case startsToken(r):
			i = wordRun(s, i, yield)
		default:
			i += size
		}
	}
}

// wordRun yields the word that starts at byte i and gives the byte after it.
func wordRun(s string, i int, yield func(token)) int {
	start := i
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !inWord(r) || IsCJK(r) {
			break
		}
		i += size
	}
	if word := Fold(s[start:i]); word != "" {
		yield(token{word: word, start: start, end: i})
	}
	return i
}

// cjkRun yields the pairs of the run that starts at byte i and gives the byte
// after it.
func cjkRun(s string, i int, yield func(token)) int {
	first, size := utf8.DecodeRuneInString(s[i:])
	start, next, pairs := i, i+size, 0
	for next < len(s) {
		r, n := utf8.DecodeRuneInString(s[next:])
		if !IsCJK(r) {
			break
		}
		yield(token{word: string([]rune{fold(first), fold(r)}), start: start, end: next + n})
		first, start, next = r, next, next+n
		pairs++
	}
	if pairs == 0 {
		yield(token{word: string(fold(first)), start: start, end: next})
	}
	return next
}

// IsCJK reports whether r belongs to a script that is written without blanks
// between words, as far as Words is concerned.
func IsCJK(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func startsToken(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inWord: a combining accent belongs to the letter before it.
func inWord(r rune) bool { return startsToken(r) || unicode.Is(unicode.M, r) }

// Base letters of U+00E0…U+00FF and U+0100…U+017F; a dot keeps the letter.
const (
	latin1Base = "aaaaaa.ceeeeiiii.nooooo.ouuuuy.y"
	latinABase = "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk." +
		"llllllllllnnnnnn.nn" + "oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"
)

// fold gives the comparison form of one letter; a combining accent becomes
// negative, which strings.Map drops.
func fold(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if 0xFF01 <= r && r <= 0xFF5E { // full width forms of ASCII
		return fold(r - 0xFEE0)
	}
	if 0x300 <= r && r <= 0x36F {
		return -1
	}
	r = unicode.ToLower(r)
	base := byte('.')
	switch {
	case 0xE0 <= r && r <= 0xFF:
		base = latin1Base[r-0xE0]
	case 0x100 <= r && r <= 0x17F:
		base = latinABase[r-0x100]
	}
	if base != '.' {
		return rune(base)
	}
	return r
}
