package jsonscan

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Raw consumes a string and returns what stands between its quotes. It checks
// the grammar: no raw control bytes, known escapes, hex digits; and, if pairs,
// that surrogates come in pairs. UTF-8 is left to the caller.
func (s *Scanner) Raw(pairs bool) string {
	if s.Peek() != '"' {
		s.Fail(ErrSyntax)
		return ""
	}
	start, src := s.pos+1, s.src
	s.escaped = false
	for i := start; i < len(src); i++ {
		c := src[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c == '"' {
			s.pos = i + 1
			return src[start:i]
		}
		r, n := decodeEscape(src[i:])
		if n == 0 {
			break
		}
		if pairs && utf16.IsSurrogate(r) {
			s.Fail(ErrSurrogate)
			return ""
		}
		s.escaped = true
		i += n - 1
	}
	s.Fail(ErrSyntax)
	return ""
}

// Unescape decodes what Raw returned of a string with its surrogates in pairs.
func Unescape(raw string) string {
	i := strings.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	var out strings.Builder
	out.Grow(len(raw)) // decoding never lengthens
	for ; i >= 0; i = strings.IndexByte(raw, '\\') {
		r, n := decodeEscape(raw[i:])
		out.WriteString(raw[:i])
		out.WriteRune(r)
		raw = raw[i+n:]
	}
	out.WriteString(raw)
	return out.String()
}

// The bytes that stand for themselves or another after a backslash, and which.
const (
	escapes = `"\bfnrt/`
	escaped = "\"\\\b\f\n\r\t/"
)

// decodeEscape reads the escape at the start of b, or two that make one code
// point; n is its length, 0 for what is no escape. A surrogate without its pair
// is given as it is.
func decodeEscape(b string) (r rune, n int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	if i := strings.IndexByte(escapes, b[1]); i >= 0 {
		return rune(escaped[i]), 2
	}
	if r = hex4(b); r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// hex4 is the value of the escape \uXXXX that b starts with, -1 if it does not.
func hex4(b string) rune {
	if len(b) < 6 || b[:2] != `\u` {
		return -1
	}
	n, err := strconv.ParseUint(b[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// MaxEscapedByte is the longest that one byte becomes: \u001f.
const MaxEscapedByte = 6

// AppendString appends text as a JSON string with the fewest escapes. Invalid
// UTF-8 becomes U+FFFD. No byte of text grows to more than MaxEscapedByte.
func AppendString(dst []byte, text string) []byte { return appendString(dst, text, utf8.MaxRune) }

// AppendASCII is AppendString in which everything from U+0080 up is written as
// \uXXXX, in lower case, above U+FFFF as a pair.
func AppendASCII(dst []byte, text string) []byte { return appendString(dst, text, utf8.RuneSelf-1) }

// appendString escapes what is above highest, too.
func appendString(dst []byte, text string, highest rune) []byte {
	dst = append(dst, '"')
	plain := 0 // text[plain:i] goes out as it is
	for i, r := range text {
		if r >= ' ' && r != '"' && r != '\\' && r != utf8.RuneError && r <= highest {
			continue
		}
		dst = append(dst, text[plain:i]...)
		_, n := utf8.DecodeRuneInString(text[i:])
		plain = i + n
		k := strings.IndexByte(escaped[:7], byte(r))
		switch {
		case r < utf8.RuneSelf && k >= 0:
			dst = append(dst, '\\', escapes[k])
		case r >= ' ' && r <= highest:
			dst = utf8.AppendRune(dst, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendHex4(appendHex4(dst, high), low)
		default:
			dst = appendHex4(dst, r)
		}
	}
	return append(append(dst, text[plain:]...), '"')
}

func appendHex4(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
