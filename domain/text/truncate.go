package text

import "unicode/utf8"

// Truncate gives the longest beginning of s that is at most maxBytes long and does
// not end inside a code point. A negative limit counts as 0.
func Truncate(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	n := max(maxBytes, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// TruncateRunes gives the first maxRunes code points of s.
func TruncateRunes(s string, maxRunes int) string {
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
