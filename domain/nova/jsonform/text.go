package jsonform

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Rule says whether a string is good.
type Rule func(string) bool

// Points wants at least low and at most high Unicode code points.
func Points(low, high int) Rule {
	return func(s string) bool {
		n := utf8.RuneCountInString(s)
		return low <= n && n <= high
	}
}

// Units wants at least low and at most high UTF-16 code units.
func Units(low, high int) Rule {
	return func(s string) bool {
		n := UnitCount(s)
		return low <= n && n <= high
	}
}

// UnitCount is the length of s in UTF-16 code units.
func UnitCount(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// NotBlank wants at most high code points and one that is no white space.
func NotBlank(high int) Rule {
	return func(s string) bool { return !Blank(s) && utf8.RuneCountInString(s) <= high }
}

// Blank reports whether s is empty or holds nothing but white space of the wire.
func Blank(s string) bool {
	for _, r := range s {
		if !IsSpace(r) {
			return false
		}
	}
	return true
}

// IsSpace reports whether r is white space in an identifier. The set is the
// wire's own: unicode.IsSpace lacks U+001C…U+001F, and U+FEFF is not in it.
func IsSpace(r rune) bool {
	switch {
	case 0x09 <= r && r <= 0x0d, 0x1c <= r && r <= 0x20, 0x2000 <= r && r <= 0x200a:
		return true
	}
	switch r {
	case 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return false
}

// IsTrimmed reports whether r is white space around a person's text, as the
// clients trim it.
func IsTrimmed(r rune) bool {
	return r == 0xfeff || IsSpace(r) && r != 0x85 && (r < 0x1c || r > 0x1f)
}

// Printable reports whether s has no code point of a category C*: controls,
// formats, private use, unassigned.
func Printable(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.C) || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z) {
			return false
		}
	}
	return true
}

// Anything is the rule that refuses nothing.
func Anything(string) bool { return true }
