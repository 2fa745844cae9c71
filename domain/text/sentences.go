package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences splits s into its sentences. Each is a substring of s without the
// white space around it; none is empty. A line break ends a sentence; a full
// stop does not where it belongs to a number, an abbreviation, an initial or an
// address. Closing quotes, brackets and reference marks such as [3] stay with
// the sentence they close.
func Sentences(s string) []string {
	var out []string
	start := 0
	take := func(end int) {
		if one := strings.TrimSpace(s[start:end]); one != "" {
			out = append(out, one)
		}
		start = end
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case isLineBreak(r):
			take(i)
		case isTerminator(r):
			i = len(s) - len(strings.TrimLeftFunc(s[i:], isTerminator))
			after := skipClosers(s, i)
			if endsSentence(s[start:i], r, s[after:]) {
				i = after
				take(i)
			}
		}
	}
	take(len(s))
	return out
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isTerminator(r rune) bool { return strings.ContainsRune(".!?…。！？｡", r) }

func isCJKTerminator(r rune) bool { return strings.ContainsRune("。！？｡", r) }

// skipClosers goes over quotes, brackets and reference marks after a terminator.
func skipClosers(s string, i int) int {
	for i < len(s) {
		if n := referenceMark(s[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !strings.ContainsRune("\"'”’»)]}」』）】》〉", r) {
			break
		}
		i += size
	}
	return i
}

// referenceMark gives the length of a mark such as [3] or [12] that s begins
// with, or 0.
func referenceMark(s string) int {
	if !strings.HasPrefix(s, "[") {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), 5)], ']')
	if end < 2 || strings.Trim(s[1:end], "0123456789abc") != "" {
		return 0
	}
	return end + 1
}

// endsSentence decides about the terminator r that ends before. after begins
// behind its closers.
func endsSentence(before string, r rune, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	if isCJKTerminator(r) || isCJKTerminator(last) || after == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(after)
	if !unicode.IsSpace(next) {
		last, _ = utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, isTerminator))
		return IsCJK(next) && IsCJK(last)
	}
	line := strings.TrimLeft(after, " \t\u00a0\u3000")
	next, _ = utf8.DecodeRuneInString(line)
	if line == "" || isLineBreak(next) {
		return true
	}
	if unicode.IsLower(next) {
		return false
	}
	return r != '.' || !abbreviates(strings.TrimRight(before, "."), unicode.IsDigit(next))
}

// abbreviates reports whether the full stop after before belongs to its last
// word. number says that a digit follows.
func abbreviates(before string, number bool) bool {
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	word = strings.TrimLeft(word, "\"'“‘([{«")
	if word == "" {
		return false
	}
	if word == strings.TrimSpace(before) && len(word) <= 3 && strings.Trim(word, "0123456789") == "" {
		return true // the number of a list item
	}
	if r, size := utf8.DecodeRuneInString(word); size == len(word) {
		return unicode.IsUpper(r) && r != 'I'
	}
	lower := strings.ToLower(word)
	switch lower {
	case "mr", "mrs", "ms", "dr", "prof", "st", "mt", "vs", "cf", "approx", "ca", "gen", "col", "sgt", "capt",
		"lt", "rev", "hon", "gov", "sen", "rep", "messrs", "mme", "mlle", "fr", "ph.d":
		return true
	case "no", "nos", "fig", "figs", "eq", "vol", "p", "pp", "ch", "sec", "art", "ver", "op",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec":
		return number
	}
	return dotted(lower)
}

// dotted: e.g, i.e, u.s and the like; a.m and p.m may end a sentence.
func dotted(word string) bool {
	if word == "a.m" || word == "p.m" || !strings.Contains(word, ".") {
		return false
	}
	for part := range strings.SplitSeq(word, ".") {
		if utf8.RuneCountInString(part) != 1 {
			return false
		}
	}
	return true
}
