package jsonform

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"plexus/domain/jsonscan"
)

// Optional is a value that may be absent, or null where a schema says so.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Need says what a missing value looks like.
type Need uint8

// The needs.
const (
	Required Need = iota
	Omitted       // no member; null is refused
	Null          // the member is null; it may not be left out
)

// Form is one object that is being read or written. The first problem sticks, and
// later calls do nothing. A method that reads sets what its pointer points to; one
// that writes only reads it.
type Form struct {
	in     *document // nil when writing
	at     int32     // the object that is read
	strict bool      // unknown members are a problem
	out    []byte    // nil when only reading
	open   int       // length of out before the first member
	ascii  bool
	err    error
}

// Read starts to read text, one JSON object of less than 2 GiB. Strings that are
// read are parts of one copy of text: clone a short one that is kept for long.
func Read(text []byte) *Form {
	var root struct {
		Form
		document
	}
	root.in, root.err = &root.document, root.parse(text)
	if root.err == nil && root.nodes[0].kind != '{' {
		root.err = ErrType
	}
	if root.err != nil {
		root.at = -1
	}
	return &root.Form
}

// Write starts to append an object to dst.
func Write(dst []byte) *Form { return new(Form).Echo(dst) }

// Echo makes a form append, while it reads, what its schema would write of the
// values: the same bytes for two objects that mean the same to the schema.
func (f *Form) Echo(dst []byte) *Form {
	f.out = append(dst, '{')
	f.open = len(f.out)
	return f
}

// Strict makes members that the schema does not name a problem, here and in
// objects below.
func (f *Form) Strict() *Form {
	f.strict = true
	return f
}

// ASCII makes strings come out in ASCII.
func (f *Form) ASCII() *Form {
	f.ascii = true
	return f
}

// Reading reports the direction.
func (f *Form) Reading() bool { return f.in != nil }

// Has reports whether the object that is read has a member.
func (f *Form) Has(name string) bool { return f.find(name, false) >= 0 }

// Err is the first problem so far.
func (f *Form) Err() error { return f.err }

// Fail records a problem with a member.
func (f *Form) Fail(name string, p Problem) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: %w", name, p)
	}
}

// Want records ErrValue for a member unless ok.
func (f *Form) Want(name string, ok bool) {
	if !ok {
		f.Fail(name, ErrValue)
	}
}

// Done ends the object. It returns what was appended to, nil if nothing was, or
// the first problem.
func (f *Form) Done() ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	if f.Reading() && f.strict {
		for i := range f.in.children(f.at) {
			if !f.in.nodes[i].asked {
				return nil, ErrUnknown
			}
		}
	}
	if f.out == nil {
		return nil, nil
	}
	return append(f.out, '}'), nil
}

// find gives the last member of a name in the object that is read, -1 if there is
// none. With ask, the name counts as known for Strict.
func (f *Form) find(name string, ask bool) int32 {
	found := int32(-1)
	if !f.Reading() {
		return found
	}
	for i := range f.in.children(f.at) {
		if f.in.nameOf(i) == name {
			f.in.nodes[i].asked = f.in.nodes[i].asked || ask
			found = i
		}
	}
	return found
}

// begin starts member name. When writing, set says whether there is a value; ok
// says whether the value follows. When reading, at is the value if ok.
func (f *Form) begin(name string, need Need, set bool) (at int32, ok bool) {
	if f.err != nil {
		return -1, false
	}
	ok = set || need == Required
	if f.Reading() {
		at = f.find(name, true)
		if at < 0 && need != Omitted {
			f.Fail(name, ErrMissing)
			return -1, false
		}
		ok = at >= 0 && (need != Null || f.in.nodes[at].kind != 'n')
	}
	if f.out != nil && (ok || need != Omitted) {
		if writeName(f, name); !ok {
			f.out = append(f.out, "null"...)
		}
	}
	return at, ok
}

func writeName(f *Form, name string) {
	switch {
	case f.out == nil:
		return
	case len(f.out) > f.open:
		f.out = append(f.out, ',')
	}
	f.out = append(append(append(f.out, '"'), name...), '"', ':')
}

// Kind is the member "type", always value.
func (f *Form) Kind(value string) {
	kind := value
	f.Text("type", Required, &kind, func(s string) bool { return s == value })
}

// Text is a string under a rule. "" stands for a missing value.
func (f *Form) Text(name string, need Need, v *string, good Rule) {
	at, ok := f.begin(name, need, *v != "")
	if !ok {
		return
	}
	if f.Reading() {
		*v = readText(f, name, at)
	} else {
		f.Want(name, utf8.ValidString(*v))
	}
	if f.err == nil {
		f.Want(name, good(*v))
	}
	writeText(f, *v)
}

// readText gives the string at a member or in an array, "" with a problem.
func readText(f *Form, name string, at int32) string {
	s, ok := f.in.str(at)
	if !ok {
		f.Fail(name, ErrType)
	}
	return s
}

func writeText(f *Form, s string) {
	switch {
	case f.out == nil:
	case f.ascii:
		f.out = jsonscan.AppendASCII(f.out, s)
	default:
		f.out = jsonscan.AppendString(f.out, s)
	}
}

// Bool is true or false.
func (f *Form) Bool(name string, v *bool) {
	at, ok := f.begin(name, Required, true)
	if !ok {
		return
	}
	if f.Reading() {
		kind := f.in.nodes[at].kind
		if *v = kind == 't'; !*v && kind != 'f' {
			f.Fail(name, ErrType)
		}
	}
	if f.out != nil {
		f.out = strconv.AppendBool(f.out, *v)
	}
}

// Uint is an integer between low and high, in any spelling when read.
func (f *Form) Uint(name string, v *uint64, low, high uint64) {
	value := Optional[uint64]{*v, true}
	f.OptionalUint(name, Required, &value, low, high)
	*v = value.Value
}

// OptionalUint is a Uint that may be missing.
func (f *Form) OptionalUint(name string, need Need, v *Optional[uint64], low, high uint64) {
	at, ok := f.begin(name, need, v.Set)
	if !ok {
		return
	}
	if f.Reading() {
		n := readNumber(f, name, at)
		v.Value, v.Set = uint64(max(n, 0)), true
		f.Want(name, float64(v.Value) == n)
	}
	f.Want(name, low <= v.Value && v.Value <= high)
	if f.out != nil {
		f.out = strconv.AppendUint(f.out, v.Value, 10)
	}
}

// Number is any number between low and high.
func (f *Form) Number(name string, v *float64, low, high float64) {
	value := Optional[float64]{*v, true}
	f.OptionalNumber(name, Required, &value, low, high)
	*v = value.Value
}

// OptionalNumber is a Number that may be missing.
func (f *Form) OptionalNumber(name string, need Need, v *Optional[float64], low, high float64) {
	at, ok := f.begin(name, need, v.Set)
	if !ok {
		return
	}
	if f.Reading() {
		v.Value, v.Set = readNumber(f, name, at), true
	}
	f.Want(name, isNumber(v.Value) && low <= v.Value && v.Value <= high)
	if f.out != nil {
		f.out = appendNumber(f.out, v.Value)
	}
}

// readNumber gives the number at a member, 0 with a problem.
func readNumber(f *Form, name string, at int32) float64 {
	switch n := &f.in.nodes[at]; {
	case n.kind != 0:
		f.Fail(name, ErrType)
	case math.IsNaN(n.number):
		f.Fail(name, ErrNumber)
	default:
		return n.number
	}
	return 0
}

// Null is a member that is null.
func (f *Form) Null(name string) {
	if _, ok := f.begin(name, Null, false); ok {
		f.Fail(name, ErrType)
	}
}

// Peek gives the string under name in the object that is read, without taking it.
func (f *Form) Peek(name string) (s string, ok bool) {
	return f.in.str(f.find(name, false))
}

// Token gives the value under name as it is written, without taking it.
func (f *Form) Token(name string) (token string, ok bool) {
	at := f.find(name, false)
	return f.in.written(at), at >= 0
}

// Integer reads a token that is written as an integer from 0 to MaxSafe and in
// no other way: not 1.0, 1e0 or -0.
func Integer(token string) (uint64, bool) {
	n, err := strconv.ParseUint(token, 10, 64) // which accepts only digits
	return n, err == nil && n <= MaxSafe && (len(token) == 1 || token[0] != '0')
}

// Value is any value that may be absent, kept as it is written.
func (f *Form) Value(name string, v *json.RawMessage) {
	at, ok := f.begin(name, Omitted, len(*v) > 0)
	if !ok {
		return
	}
	if f.Reading() {
		*v = json.RawMessage(f.in.written(at))
	}
	if f.out != nil {
		f.out = append(f.out, *v...)
	}
}
