package framing

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanString consumes the string at pos and returns what stands between the
// quotes. It checks the grammar alone: no raw control bytes, known escapes, hex
// digits. UTF-8 and surrogates are left to text.
func (s *jsonScanner) scanString() (raw string, escaped bool) {
	start := s.pos + 1
	for i := start; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '"':
			s.pos = i + 1
			return s.src[start:i], escaped
		case c < 0x20:
			s.fail(errSyntax)
			return "", false
		case c == '\\':
			n := escapeLen(s.src[i:])
			if n == 0 {
				s.fail(errSyntax)
				return "", false
			}
			escaped = true
			i += n - 1
		}
	}
	s.fail(errSyntax)
	return "", false
}

// escapeLen is the length of the escape that b starts with, 0 if it is none.
func escapeLen(b string) int {
	if len(b) < 2 {
		return 0
	}
	if strings.IndexByte(`"\/bfnrt`, b[1]) >= 0 {
		return 2
	}
	if b[1] != 'u' || len(b) < 6 {
		return 0
	}
	for _, c := range []byte(b[2:6]) {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0
		}
	}
	return 6
}

// unescape decodes a string that scanString passed.
func (s *jsonScanner) unescape(raw string) string {
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
		if n == 0 {
			s.fail(errSurrogate)
			return ""
		}
		out.WriteRune(r)
		raw = raw[i+n:]
	}
}

// decodeEscape reads one well-formed escape, or two that make one code point. A
// surrogate without its pair gives length 0.
func decodeEscape(b string) (rune, int) {
	switch b[1] {
	case 'u':
		r := hex4(b)
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
			return 0, 0
		}
		if r = utf16.DecodeRune(r, hex4(b[6:])); r == utf8.RuneError {
			return 0, 0
		}
		return r, 12
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
	return rune(b[1]), 2
}

// hex4 is the value of an escape \uXXXX whose digits are known to be good.
func hex4(b string) rune {
	n, _ := strconv.ParseUint(b[2:6], 16, 16)
	return rune(n)
}

// appendJSONString appends text as a JSON string with the fewest escapes.
// Invalid UTF-8 becomes U+FFFD. No byte of text grows to more than
// maxEscapedByte.
func appendJSONString(dst []byte, text string) []byte {
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
			dst = appendEscape(dst, c)
			plain = i + 1
		}
		i++
	}
	return append(append(dst, text[plain:]...), '"')
}

// maxEscapedByte is the longest that one byte becomes: \u001f.
const maxEscapedByte = 6

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
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
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}
