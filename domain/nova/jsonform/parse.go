// Package jsonform reads and writes JSON objects member by member. A schema is a
// function over a Form and says names, order, types and bounds once: the same
// function reads a message and writes it. Pure.
//
// Reading follows the rules of the Nova wire: exact member names, the last of
// equal names counts, integers are judged by value and never above 2^53-1,
// strings are well-formed Unicode, nesting is bounded. No error quotes input.
package jsonform

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that no recursion over a value is deep. Messages
// of the protocol need six levels.
const maxDepth = 64

// Problem is why a text or a value was refused: a fixed phrase.
type Problem string

func (p Problem) Error() string { return string(p) }

// The problems.
const (
	ErrSyntax    Problem = "not JSON"
	ErrUTF8      Problem = "not UTF-8"
	ErrSurrogate Problem = "surrogate without its pair"
	ErrDepth     Problem = "nested too deep"
	ErrType      Problem = "wrong type"
	ErrMissing   Problem = "missing"
	ErrUnknown   Problem = "unknown member"
	ErrNumber    Problem = "number out of range"
	ErrValue     Problem = "value out of bounds"
)

// Object reads the members of one JSON object. Values stay as written.
func Object(text []byte) (map[string]json.RawMessage, error) {
	if err := wellFormed(text); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if first(text) != '{' {
		return nil, ErrType
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, ErrSyntax
	}
	return members, nil
}

// first is the first byte that is not white space, 0 if there is none.
func first(text []byte) byte {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// wellFormed checks what encoding/json would repair or follow without a bound.
func wellFormed(text []byte) error {
	if !utf8.Valid(text) {
		return ErrUTF8
	}
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			n := escapeLen(text[i:])
			if n == 0 {
				return ErrSurrogate
			}
			i += n - 1
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return ErrDepth
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !json.Valid(text) {
		return ErrSyntax
	}
	return nil
}

// escapeLen is the length of the escape at the start of b, both halves of a
// surrogate pair counted as one. 0 is a surrogate without its pair. Misspelt
// escapes are left to json.Valid.
func escapeLen(b []byte) int {
	r := hex4(b)
	if !utf16.IsSurrogate(r) {
		return 2
	}
	if utf16.DecodeRune(r, hex4(b[6:])) == utf8.RuneError {
		return 0
	}
	return 12
}

// hex4 is the value of an escape \uXXXX, -1 if b does not start with one.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}
