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

// isNumber reports whether f is allowed on the wire. From 2^53 up every double is
// integral.
func isNumber(f float64) bool { return math.Abs(f) <= MaxSafe && !math.IsNaN(f) }

// document is a text and the positions of its values. nodes[0] is the whole.
type document struct {
	text  string
	nodes []node
}

// node is one value. The values in an object or an array follow it, up to next.
type node struct {
	kind        byte    // its first byte: { [ " t f n, and 0 for a number
	asked       bool    // a schema asked for this member
	name, colon int32   // of a member: its name, without quotes, is text[name:colon]
	start, end  int32   // of the value in the text, of a string without its quotes
	next        int32   // the first node that is not part of this one
	number      float64 // of a number, never -0; NaN if it is not allowed on the wire
}

// parse reads text, one JSON value.
func (d *document) parse(text []byte) error {
	if !utf8.Valid(text) {
		return ErrUTF8
	}
	d.text, d.nodes = string(text), make([]node, 0, 8+len(text)/32)
	s := jsonscan.Scan(d.text)
	d.value(&s, node{}, 0)
	s.End()
	switch s.Err() {
	case nil, ErrSurrogate, ErrDepth:
		return s.Err()
	}
	return ErrSyntax
}

// value reads the next value, which is in depth others; n has its name.
func (d *document) value(s *jsonscan.Scanner, n node, depth int) {
	i := len(d.nodes)
	n.kind, n.start = s.Peek(), int32(s.Pos())
	d.nodes = append(d.nodes, n)
	quotes := int32(0)
	switch n.kind {
	case '{', '[':
		if depth == maxDepth {
			s.Fail(ErrDepth)
		}
		d.items(s, n.kind, depth+1)
	case '"':
		s.Raw(true)
		quotes = 1
	case 't', 'f', 'n':
		s.Scalar()
	default:
		f, err := strconv.ParseFloat(s.Number(), 64)
		if n.kind, n.number = 0, f+0; err != nil || !isNumber(f) {
			n.number = math.NaN()
		}
	}
	n.start, n.end, n.next = n.start+quotes, int32(s.Pos())-quotes, int32(len(d.nodes))
	d.nodes[i] = n
}

// items reads an object or an array, whose items are in depth values.
func (d *document) items(s *jsonscan.Scanner, open byte, depth int) {
	s.Take(open)
	closing := open + 2 // } and ] are two after { and [
	if s.Take(closing) {
		return
	}
	for s.Err() == nil {
		var n node
		if open == '{' {
			name := s.Raw(true)
			n.colon = int32(s.Pos() - 1)
			n.name = n.colon - int32(len(name))
			s.Expect(':')
		}
		if d.value(s, n, depth); s.Take(closing) {
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
	return jsonscan.Unescape(d.text[d.nodes[i].start:d.nodes[i].end]), true
}

// nameOf is the name of the member at i.
func (d *document) nameOf(i int32) string {
	return jsonscan.Unescape(d.text[d.nodes[i].name:d.nodes[i].colon])
}

// children yields the values in the object or array at i.
func (d *document) children(i int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for at := i + 1; i >= 0 && at < d.nodes[i].next; at = d.nodes[at].next {
			if !yield(at) {
				return
			}
		}
	}
}
