package text

import "unicode/utf8"

// Cut gives the longest beginning of s that is at most maxBytes long and does
// not end inside a code point. A negative limit counts as 0.
func Cut(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	n := max(maxBytes, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CutRunes gives the first maxRunes code points of s.
func CutRunes(s string, maxRunes int) string {
	if len(s) <= maxRunes {
		return s
	}
	count := 0
	for i := range s {
		if count >= maxRunes {
			return s[:i]
		}
		count++
	}
	return s
}
