// Package jsonscan reads JSON text strictly (RFC 8259), token by token, and writes
// strings. The messages of both protocols are read with it; each protocol adds its
// own rules for repeated members, depth and numbers. Pure.
//
// It does not use github.com/go-json-experiment/json/jsontext, which takes 7
// allocations and 960 ns for the tokens of a NERVE query that is wholly read here
// with 1 and 500 ns, and for those of a hello 8 and 1,300 ns against 7 and 1,000.
// It also refuses more than 10,000 levels of nesting, which NERVE V1 allows in
// members that are not read.
package jsonscan

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is why a text was refused: a fixed phrase that never quotes it.
type Problem string

func (p Problem) Error() string { return string(p) }

// The problems.
const (
	ErrSyntax    Problem = "not JSON"
	ErrType      Problem = "wrong type"
	ErrNumber    Problem = "number misspelt or out of range"
	ErrUTF8      Problem = "not UTF-8"
	ErrSurrogate Problem = "surrogate without its pair"
	ErrTwice     Problem = "member twice"
	ErrMissing   Problem = "member missing"
	ErrTrailing  Problem = "text after the value"
)

// Scanner reads one JSON text. A schema is a function that ranges over Object
// and picks by name.
//
// The first problem sticks and ends every loop; later reads return zero values.
// Strings without escapes are parts of the text and cost nothing.
type Scanner struct {
	src     string
	pos     int
	escaped bool // the last string has escapes
	err     error
}

// Scan starts to read text.
func Scan(text string) Scanner { return Scanner{src: text} }

// Err is the first problem so far.
func (s *Scanner) Err() error { return s.err }

// Pos is how many bytes of the text are consumed.
func (s *Scanner) Pos() int { return s.pos }

// Fail keeps the first problem and jumps to the end, where nothing more matches.
func (s *Scanner) Fail(p Problem) {
	if s.err == nil {
		s.err = p
	}
	s.pos = len(s.src)
}

// Peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// Take consumes c if it comes next.
func (s *Scanner) Take(c byte) bool {
	if s.Peek() != c || s.pos >= len(s.src) {
		return false
	}
	s.pos++
	return true
}

// Expect consumes c or fails.
func (s *Scanner) Expect(c byte) {
	if !s.Take(c) {
		s.Fail(ErrSyntax)
	}
}

// End fails unless only white space is left.
func (s *Scanner) End() {
	s.Peek()
	if s.pos < len(s.src) {
		s.Fail(ErrTrailing)
	}
}

// Object walks an object: for name := range s.Object(2, "a", "b", "c") { … }. It
// yields the members among names, decoded, and skips all others. It fails s when one
// of names comes twice, or when one of the first required ones is missing. The body
// consumes the value. A name with "?" before it is that of an extension, which older
// readers skip: it may come twice, and the body must take any value (Written).
func (s *Scanner) Object(required int, names ...string) iter.Seq[string] {
	return func(yield func(string) bool) { s.members(required, names, yield) }
}

// members is apart from Object so that Object is inlined, and allocates nothing.
func (s *Scanner) members(required int, names []string, yield func(string) bool) {
	if !s.Take('{') {
		s.Fail(ErrType)
		return
	}
	var seen uint64 // of names, one bit each
	for ended := s.Take('}'); !ended; {
		name := s.Text()
		s.Expect(':')
		if s.err != nil {
			return
		}
		i := slices.IndexFunc(names, func(n string) bool { return strings.TrimPrefix(n, "?") == name })
		if i < 0 {
			s.Skip()
		} else if seen&(1<<i) != 0 && names[i][0] != '?' {
			s.Fail(ErrTwice)
			return
		} else {
			seen |= 1 << i
			if !yield(name) {
				return
			}
		}
		if ended = s.Take('}'); !ended {
			s.Expect(',')
		}
	}
	if all := uint64(1)<<required - 1; s.err == nil && seen&all != all {
		s.Fail(ErrMissing)
	}
}

// Elements walks an array: for range s.Elements { … }. The body consumes the
// element.
func (s *Scanner) Elements(yield func() bool) {
	if !s.Take('[') {
		s.Fail(ErrType)
		return
	}
	if s.Take(']') {
		return
	}
	for {
		if !yield() || s.err != nil || s.Take(']') {
			return
		}
		s.Expect(',')
	}
}

// Text reads a string: UTF-8, escapes decoded, surrogates only in pairs.
func (s *Scanner) Text() string {
	if s.Peek() != '"' {
		s.Fail(ErrType)
		return ""
	}
	raw := s.Raw(true)
	if !utf8.ValidString(raw) {
		s.Fail(ErrUTF8)
	}
	switch {
	case s.err != nil:
		return ""
	case s.escaped:
		return Unescape(raw)
	}
	return raw
}

// TextOrNull reads a string, or null as "".
func (s *Scanner) TextOrNull() string {
	if s.Peek() == 'n' {
		s.Scalar()
		return ""
	}
	return s.Text()
}

// Written consumes any value and gives it as it is written.
func (s *Scanner) Written() string {
	s.Peek()
	begin := s.pos
	if s.Skip(); s.err != nil {
		return ""
	}
	return s.src[begin:s.pos]
}

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	c := s.Peek()
	if c != 't' && c != 'f' {
		s.Fail(ErrType)
	}
	s.Scalar()
	return c == 't' && s.err == nil
}

// Unsigned reads an integer 0..limit that is written in digits only: 1.0, 1e0
// and -0 are other types to the peers of NERVE.
func (s *Scanner) Unsigned(limit uint64) uint64 {
	n, err := strconv.ParseUint(s.Number(), 10, 64)
	if err != nil || n > limit {
		s.Fail(ErrNumber) // after any problem of its spelling
		return 0
	}
	return n
}

// Float reads a number as the nearest 32-bit float and refuses infinity.
func (s *Scanner) Float() float32 {
	f, err := strconv.ParseFloat(s.Number(), 32)
	if err != nil {
		s.Fail(ErrNumber) // after any problem of its spelling
		return 0
	}
	return float32(f)
}

// Number reads a number and returns it as written.
func (s *Scanner) Number() string {
	if c := s.Peek(); c != '-' && !isDigit(c) {
		s.Fail(ErrType)
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
func (s *Scanner) accept(set string) bool {
	if s.pos < len(s.src) && strings.IndexByte(set, s.src[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

// digits consumes one digit or more.
func (s *Scanner) digits() {
	start := s.pos
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		s.Fail(ErrSyntax)
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Scalar consumes true, false, null or a number.
func (s *Scanner) Scalar() {
	word := ""
	switch s.Peek() {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	default:
		s.Number()
		return
	}
	if !strings.HasPrefix(s.src[s.pos:], word) {
		s.Fail(ErrSyntax)
		return
	}
	s.pos += len(word)
}
