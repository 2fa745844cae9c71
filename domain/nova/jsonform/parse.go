// Package jsonform reads and writes JSON objects member by member. A schema is a
// function over a Form and says names, order, types and bounds once: the same
// function reads a message and writes it. Pure.
//
// Reading follows the rules of the Nova wire: exact member names, the last of
// equal names counts, integers are judged by value and never above 2^53-1,
// strings are well-formed Unicode, nesting is bounded. No error quotes input.
//
// A text is read once, whatever is asked of it: Read notes where each value
// stands, and forms, objects below them and the canonical form use these notes.
package jsonform

import (
	"iter"
	"math"
	"strconv"
	"unicode/utf8"

	"plexus/domain/jsonscan"
)

// maxDepth bounds nesting, so that no recursion over a value is deep. Messages
// of the protocol need six levels.
const maxDepth = 64

// Problem is why a text or a value was refused: a fixed phrase.
type Problem = jsonscan.Problem

// The problems.
const (
	ErrSyntax            = jsonscan.ErrSyntax
	ErrUTF8              = jsonscan.ErrUTF8
	ErrSurrogate         = jsonscan.ErrSurrogate
	ErrType              = jsonscan.ErrType
	ErrDepth     Problem = "nested too deep"
	ErrMissing   Problem = "missing"
	ErrUnknown   Problem = "unknown member"
	ErrNumber    Problem = "number out of range"
	ErrValue     Problem = "value out of bounds"
)

// MaxSafe is the largest integer that a double holds without rounding others
// onto it.
const MaxSafe = 1<<53 - 1

// isNumber reports whether f may stand on the wire. From 2^53 up every double
// is integral.
func isNumber(f float64) bool { return math.Abs(f) <= MaxSafe && !math.IsNaN(f) }

// document is a text and where its values stand in it. nodes[0] is the whole.
type document struct {
	text  string
	nodes []node
}

// node is one value. The values in an object or an array follow it, up to next.
type node struct {
	kind        byte // its first byte: { [ " t f n, and 0 for a number
	asked       bool // a schema asked for this member
	escaped     bool // a string with escapes
	nameEscaped bool
	start, end  int32   // of the value in the text, of a string without its quotes
	name, colon int32   // of a member: its name, without quotes, is text[name:colon]
	next        int32   // the first node that is not part of this one
	number      float64 // of a number, never -0; NaN if it may not stand on the wire
}

// parse reads text, one JSON value.
func (d *document) parse(text []byte) error {
	if !utf8.Valid(text) {
		return ErrUTF8
	}
	d.text, d.nodes = string(text), make([]node, 0, 8+len(text)/32)
	s := jsonscan.Scan(d.text)
	d.value(&s, 0)
	s.End()
	switch s.Err() {
	case nil, ErrSurrogate, ErrDepth:
		return s.Err()
	}
	return ErrSyntax
}

// value reads the next value, which is in depth others.
func (d *document) value(s *jsonscan.Scanner, depth int) {
	kind, i := s.Peek(), len(d.nodes)
	n := node{kind: kind, start: int32(s.Pos())}
	d.nodes = append(d.nodes, n)
	switch kind {
	case '{', '[':
		if depth == maxDepth {
			s.Fail(ErrDepth)
			return
		}
		d.items(s, depth+1, kind+2) // } and ] are two after { and [
	case '"':
		raw, escaped := s.Raw(true)
		n.escaped, n.start = escaped, int32(s.Pos()-1-len(raw))
	case 't':
		s.Literal("true")
	case 'f':
		s.Literal("false")
	case 'n':
		s.Literal("null")
	default:
		f, err := strconv.ParseFloat(s.Number(), 64)
		if n.kind, n.number = 0, f+0; err != nil || !isNumber(f) {
			n.number = math.NaN()
		}
	}
	if n.end = int32(s.Pos()); kind == '"' {
		n.end--
	}
	n.next = int32(len(d.nodes))
	d.nodes[i] = n
}

// items reads what stands in an object or an array, up to its end.
func (d *document) items(s *jsonscan.Scanner, depth int, end byte) {
	s.Take(end - 2)
	if s.Take(end) {
		return
	}
	for {
		i := len(d.nodes)
		var name, colon int
		var escaped bool
		if end == '}' {
			var raw string
			raw, escaped = s.Raw(true)
			colon = s.Pos() - 1
			name = colon - len(raw)
			s.Expect(':')
		}
		d.value(s, depth)
		if s.Err() != nil {
			return
		}
		n := &d.nodes[i]
		n.name, n.colon, n.nameEscaped = int32(name), int32(colon), escaped
		if s.Take(end) {
			return
		}
		s.Expect(',')
	}
}

// written is the value at i as it stands in the text, "" for no value.
func (d *document) written(i int32) string {
	if i < 0 {
		return ""
	}
	n := &d.nodes[i]
	if n.kind == '"' {
		return d.text[n.start-1 : n.end+1]
	}
	return d.text[n.start:n.end]
}

// str is the string at i; ok is false for another value, or none.
func (d *document) str(i int32) (s string, ok bool) {
	if i < 0 || d.nodes[i].kind != '"' {
		return "", false
	}
	n := &d.nodes[i]
	return unescape(d.text[n.start:n.end], n.escaped), true
}

// nameOf is the name of the member at i.
func (d *document) nameOf(i int32) string {
	n := &d.nodes[i]
	return unescape(d.text[n.name:n.colon], n.nameEscaped)
}

func unescape(raw string, escaped bool) string {
	if escaped {
		return jsonscan.Unescape(raw)
	}
	return raw
}

// children yields what stands in the object or array at i.
func (d *document) children(i int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for at := i + 1; i >= 0 && at < d.nodes[i].next; at = d.nodes[at].next {
			if !yield(at) {
				return
			}
		}
	}
}
