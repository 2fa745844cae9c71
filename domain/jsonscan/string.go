package jsonscan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Raw consumes a string and returns what stands between its quotes. It checks
// the grammar: no raw control bytes, known escapes, hex digits; and, if pairs,
// that surrogates come in pairs. UTF-8 is left to the caller.
func (s *Scanner) Raw(pairs bool) (raw string, escaped bool) {
	if s.Peek() != '"' {
		s.Fail(ErrSyntax)
		return "", false
	}
	return s.quoted(pairs)
}

// quoted is Raw where the quote is known to be next.
func (s *Scanner) quoted(pairs bool) (raw string, escaped bool) {
	start, src := s.pos+1, s.src
	for i := start; i < len(src); i++ {
		c := src[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c == '"' {
			s.pos = i + 1
			return src[start:i], escaped
		}
		if c < ' ' {
			break
		}
		r, n := decodeEscape(src[i:])
		if n == 0 {
			break
		}
		if pairs && utf16.IsSurrogate(r) {
			s.Fail(ErrSurrogate)
			return "", false
		}
		escaped = true
		i += n - 1
	}
	s.Fail(ErrSyntax)
	return "", false
}

// Unescape decodes a string that Raw passed with its surrogates in pairs.
func Unescape(raw string) string {
	var out strings.Builder
	out.Grow(len(raw)) // decoding never lengthens
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			out.WriteString(raw)
			return out.String()
		}
		out.WriteString(raw[:i])
		r, n := decodeEscape(raw[i:])
		out.WriteRune(r)
		raw = raw[i+n:]
	}
}

// decodeEscape reads one escape, or two that make one code point; n is its
// length, 0 for what is no escape. A surrogate without its pair is given as it
// is.
func decodeEscape(b string) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r = hex4(b)
	switch {
	case r < 0:
		return 0, 0
	case utf16.IsSurrogate(r):
		if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// hex4 is the value of the escape \uXXXX that b starts with, -1 if it does not.
func hex4(b string) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range []byte(b[2:6]) {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// MaxEscapedByte is the longest that one byte becomes: \u001f.
const MaxEscapedByte = 6

// AppendString appends text as a JSON string with the fewest escapes. Invalid
// UTF-8 becomes U+FFFD. No byte of text grows to more than MaxEscapedByte.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	plain := 0 // text[plain:i] goes out as it is
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, text[plain:i]...)
				dst = utf8.AppendRune(dst, utf8.RuneError)
				plain = i + n
			}
			i += n
			continue
		}
		if c < 0x20 || c == '"' || c == '\\' {
			dst = append(dst, text[plain:i]...)
			dst = appendEscape(dst, rune(c))
			plain = i + 1
		}
		i++
	}
	return append(append(dst, text[plain:]...), '"')
}

// AppendASCII is AppendString in which everything from U+0080 up is written as
// \uXXXX, in lower case, above U+FFFF as a pair.
func AppendASCII(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendEscape(appendEscape(dst, high), low)
		case r < 0x20 || r == '"' || r == '\\' || r >= utf8.RuneSelf:
			dst = appendEscape(dst, r)
		default:
			dst = append(dst, byte(r))
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
