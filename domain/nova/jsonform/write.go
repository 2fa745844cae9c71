package jsonform

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends s as a JSON string with the fewest escapes. s must be
// valid UTF-8.
func AppendString(dst []byte, s string) []byte { return appendString(dst, s, false) }

// AppendASCII appends s as a JSON string in which everything from U+0080 up is
// written as \uXXXX, in lower case, above U+FFFF as a pair.
func AppendASCII(dst []byte, s string) []byte { return appendString(dst, s, true) }

func appendString(dst []byte, s string, ascii bool) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r < 0x20 || r == '"' || r == '\\':
			dst = appendEscape(dst, byte(r))
		case r < utf8.RuneSelf || !ascii:
			dst = utf8.AppendRune(dst, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendHex4(appendHex4(dst, high), low)
		default:
			dst = appendHex4(dst, r)
		}
	}
	return append(dst, '"')
}

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
	return appendHex4(dst, rune(c))
}

func appendHex4(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// smallest is where plain decimals would begin to grow long.
const smallest = 1e-6

// AppendNumber appends f with the fewest digits that give f back. The spelling
// depends on the value alone: 12, 12.0 and 1.2e1 come out the same, and so do 0
// and -0.
func AppendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if math.Abs(f) < smallest {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
