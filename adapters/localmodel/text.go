package localmodel

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// appendUnquoted appends the content of a JSON string literal (syntax already
// checked) to dst. encoding/json would turn half a character into U+FFFD; here
// its bytes stay as they are, and a lone surrogate escape becomes its three-byte
// form, so that joiner can put the halves of two chunks together.
func appendUnquoted(dst, literal []byte) []byte {
	s := literal[1 : len(literal)-1]
	for len(s) > 0 {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		escape := s[i+1]
		s = s[i+2:]
		switch escape {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			if len(s) < 4 {
				return dst
			}
			unit, _ := strconv.ParseUint(string(s[:4]), 16, 16)
			if utf16.IsSurrogate(rune(unit)) {
				dst = append(dst, 0xED, 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
			} else {
				dst = utf8.AppendRune(dst, rune(unit))
			}
			s = s[4:]
		default:
			dst = append(dst, escape)
		}
	}
	return dst
}

// joiner makes valid UTF-8 of text that arrives in pieces cut anywhere: in a
// character or between the two halves of a surrogate pair.
type joiner struct {
	incomplete []byte // the beginning of a character, at most five bytes
}

// push takes a piece and gives what is complete. What can never become a
// character is U+FFFD; a begun character at the very end is never shown.
func (j *joiner) push(piece []byte) string {
	in := append(j.incomplete, piece...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		if in[0] < utf8.RuneSelf {
			out = append(out, in[0])
			in = in[1:]
			continue
		}
		r, size := decode(in)
		if size == 0 {
			break
		}
		out = utf8.AppendRune(out, r)
		in = in[size:]
	}
	j.incomplete = append([]byte(nil), in...)
	return string(out)
}

// decode takes one character off the front; size 0 says that more is needed.
func decode(in []byte) (r rune, size int) {
	unit, size, surrogate := decodeSurrogate(in)
	if !surrogate {
		if !utf8.FullRune(in) {
			return 0, 0
		}
		return utf8.DecodeRune(in)
	}
	if size == 0 {
		return 0, 0
	}
	if unit >= 0xDC00 {
		return utf8.RuneError, size
	}
	low, lowSize, ok := decodeSurrogate(in[size:])
	rest := in[size:]
	switch {
	case ok && lowSize == 0, len(rest) == 0, len(rest) == 1 && rest[0] == 0xED:
		return 0, 0
	case ok && low >= 0xDC00:
		return utf16.DecodeRune(unit, low), size + lowSize
	}
	return utf8.RuneError, size
}

// decodeSurrogate recognizes the three-byte form; size 0 with ok says that its
// last byte is still to come.
func decodeSurrogate(in []byte) (unit rune, size int, ok bool) {
	if len(in) < 2 || in[0] != 0xED || in[1] < 0xA0 || in[1] > 0xBF {
		return 0, 0, false
	}
	if len(in) == 2 {
		return 0, 0, true
	}
	if in[2]&0xC0 != 0x80 {
		return 0, 0, false
	}
	return 0xD000 | rune(in[1]&0x3F)<<6 | rune(in[2]&0x3F), 3, true
}
