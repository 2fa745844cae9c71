package framing

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonError is why a text was refused: a fixed phrase that never quotes it.
type jsonError string

func (e jsonError) Error() string { return string(e) }

const (
	errSyntax    jsonError = "not JSON"
	errType      jsonError = "wrong type"
	errNumber    jsonError = "number misspelt or out of range"
	errUTF8      jsonError = "not UTF-8"
	errSurrogate jsonError = "surrogate without its pair"
	errTwice     jsonError = "member twice"
	errMissing   jsonError = "member missing"
	errTrailing  jsonError = "text after the value"
)

// jsonScanner reads one JSON text strictly (RFC 8259, UTF-8, exact names). It
// holds the mechanics only: a schema is a function that ranges over members and
// picks by name, so every message of every protocol here shares this type.
//
// The first fault sticks in err and ends every loop; later reads return zero
// values. Strings without escapes are parts of src and cost nothing.
type jsonScanner struct {
	src string
	pos int
	err error
}

// fail keeps the first fault and jumps to the end, where nothing more matches.
func (s *jsonScanner) fail(e jsonError) {
	if s.err == nil {
		s.err = e
	}
	s.pos = len(s.src)
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take consumes c if it comes next.
func (s *jsonScanner) take(c byte) bool {
	if s.peek() != c || s.pos >= len(s.src) {
		return false
	}
	s.pos++
	return true
}

// expect consumes c or fails.
func (s *jsonScanner) expect(c byte) {
	if !s.take(c) {
		s.fail(errSyntax)
	}
}

// end fails unless only white space is left.
func (s *jsonScanner) end() {
	s.peek()
	if s.pos < len(s.src) {
		s.fail(errTrailing)
	}
}

// members walks an object: for name := range s.members { … }. Names come
// decoded. The body consumes the value, by a read method or by skip.
func (s *jsonScanner) members(yield func(name string) bool) {
	if !s.take('{') {
		s.fail(errType)
		return
	}
	if s.take('}') {
		return
	}
	for {
		name := s.text()
		s.expect(':')
		if s.err != nil || !yield(name) || s.take('}') {
			return
		}
		s.expect(',')
	}
}

// elements walks an array: for range s.elements { … }. The body consumes the
// element.
func (s *jsonScanner) elements(yield func() bool) {
	if !s.take('[') {
		s.fail(errType)
		return
	}
	if s.take(']') {
		return
	}
	for {
		if !yield() || s.err != nil || s.take(']') {
			return
		}
		s.expect(',')
	}
}

// memberSet remembers which known members of one object were seen, one bit each.
type memberSet uint32

// mark records bit m, or fails s when the member came before.
func (set *memberSet) mark(s *jsonScanner, m memberSet) {
	if *set&m != 0 {
		s.fail(errTwice)
	}
	*set |= m
}

// require fails s unless all bits of m were marked.
func (set memberSet) require(s *jsonScanner, m memberSet) {
	if s.err == nil && set&m != m {
		s.fail(errMissing)
	}
}

// text reads a string: UTF-8, escapes decoded, surrogates only in pairs.
func (s *jsonScanner) text() string {
	if s.peek() != '"' {
		s.fail(errType)
		return ""
	}
	raw, escaped := s.scanString()
	switch {
	case s.err != nil:
		return ""
	case !utf8.ValidString(raw):
		s.fail(errUTF8)
		return ""
	case !escaped:
		return raw
	}
	return s.unescape(raw)
}

// textOrNull reads a string, or null as "".
func (s *jsonScanner) textOrNull() string {
	if s.peek() == 'n' {
		s.literal("null")
		return ""
	}
	return s.text()
}

// boolean reads true or false.
func (s *jsonScanner) boolean() bool {
	switch s.peek() {
	case 't':
		s.literal("true")
		return s.err == nil
	case 'f':
		s.literal("false")
	default:
		s.fail(errType)
	}
	return false
}

// unsigned reads an integer 0..limit that is written in digits only: 1.0, 1e0
// and -0 are other types to the peers of these protocols.
func (s *jsonScanner) unsigned(limit uint64) uint64 {
	raw := s.number()
	if s.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(raw, 10, 64)
	if err != nil || n > limit {
		s.fail(errNumber)
		return 0
	}
	return n
}

// float reads a number as the nearest 32-bit float and refuses infinity.
func (s *jsonScanner) float() float32 {
	raw := s.number()
	if s.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(raw, 32)
	if err != nil {
		s.fail(errNumber)
		return 0
	}
	return float32(f)
}

// number reads a number and returns it as written.
func (s *jsonScanner) number() string {
	if c := s.peek(); c != '-' && !isDigit(c) {
		s.fail(errType)
		return ""
	}
	start := s.pos
	s.accept("-")
	if !s.accept("0") {
		s.digits()
	}
	if s.accept(".") {
		s.digits()
	}
	if s.accept("eE") {
		s.accept("+-")
		s.digits()
	}
	if s.err != nil {
		return ""
	}
	return s.src[start:s.pos]
}

// accept consumes one byte of set if it comes next, without skipping space.
func (s *jsonScanner) accept(set string) bool {
	if s.pos < len(s.src) && strings.IndexByte(set, s.src[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

// digits consumes one digit or more.
func (s *jsonScanner) digits() {
	start := s.pos
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		s.fail(errSyntax)
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// literal consumes word or fails.
func (s *jsonScanner) literal(word string) {
	if !strings.HasPrefix(s.src[s.pos:], word) {
		s.fail(errSyntax)
		return
	}
	s.pos += len(word)
}
