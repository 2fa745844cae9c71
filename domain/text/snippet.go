package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Snippet gives about length characters of text, on one line, from the place where
// most different words of the question occur together, or from the beginning if
// none does. It is cut at word borders and marked with … where something was left
// out. words are what Words gave for the question; endings are folded as by Stem.
func Snippet(text string, words []string, length int) string {
	start := bestPlace(text, words, length)
	start = lineStart(text, start, length/4)
	end := start + len(TruncateRunes(text[start:], length))
	end = wordEnd(text, start, end)
	line := strings.Join(strings.Fields(text[start:end]), " ")
	if line == "" {
		return ""
	}
	if strings.TrimSpace(text[:start]) != "" {
		line = "…" + line
	}
	if strings.TrimSpace(text[end:]) != "" {
		line += "…"
	}
	return line
}

// hit is one occurrence of a word of the question.
type hit struct {
	stem       string
	start, pos int // bytes; characters
}

// bestPlace gives the byte where the best window begins: the earliest of those
// that hold the most different words.
func bestPlace(text string, words []string, length int) int {
	hits := findHits(text, words)
	inside := map[string]int{}
	best, bestStart, left := 0, 0, 0
	for _, h := range hits {
		inside[h.stem]++
		for h.pos-hits[left].pos > length*3/4 {
			if inside[hits[left].stem]--; inside[hits[left].stem] == 0 {
				delete(inside, hits[left].stem)
			}
			left++
		}
		if len(inside) > best {
			best, bestStart = len(inside), hits[left].start
		}
	}
	return bestStart
}

func findHits(text string, words []string) []hit {
	wanted := make(map[string]bool, len(words))
	for _, w := range words {
		wanted[Stem(w)] = true
	}
	var hits []hit
	byteAt, pos := 0, 0
	eachToken(text, func(t token) {
		stem := Stem(t.word)
		if !wanted[stem] {
			return
		}
		pos += utf8.RuneCountInString(text[byteAt:t.start])
		byteAt = t.start
		hits = append(hits, hit{stem: stem, start: t.start, pos: pos})
	})
	return hits
}

// lineStart goes back from byte i to where a reader can start: the beginning of
// the sentence or line if it is near enough, else a word border.
func lineStart(text string, i, reach int) int {
	border, steps := i, 0
	for at := i; at > 0 && steps < reach; steps++ {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if r == '\n' || strings.ContainsRune(".!?。！？", r) && (at == i || startsWord(text[at:])) {
			return at
		}
		if unicode.IsSpace(r) || IsCJK(r) {
			border = at
		}
		at -= size
		if at == 0 {
			return 0
		}
	}
	return border
}

// startsWord: a full stop inside a number or an address does not end a sentence.
func startsWord(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return unicode.IsSpace(r) || IsCJK(r)
}

// wordEnd goes back from byte end so that no word is cut, unless that would
// leave nothing.
func wordEnd(text string, start, end int) int {
	if end >= len(text) {
		return len(text)
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	last, _ := utf8.DecodeLastRuneInString(text[start:end])
	if !inWord(next) || IsCJK(next) || IsCJK(last) {
		return end
	}
	cut := strings.TrimRightFunc(text[start:end], func(r rune) bool { return inWord(r) && !IsCJK(r) })
	if strings.TrimSpace(cut) == "" {
		return end
	}
	return start + len(cut)
}
