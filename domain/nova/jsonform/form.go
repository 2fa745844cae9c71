package jsonform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
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

// Form is one object that is being read or written. The first problem sticks,
// and later calls do nothing. A method that reads sets what its pointer points
// to; one that writes only looks at it.
type Form struct {
	in     map[string]json.RawMessage // nil when writing
	taken  int                        // members of in that the schema asked for
	strict bool                       // unknown members are a problem
	out    []byte
	open   int // length of out before the first member
	ascii  bool
	err    error
}

// Read starts to read text, one JSON object.
func Read(text []byte) *Form {
	in, err := Object(text)
	return &Form{in: in, err: err}
}

// Write starts to append an object to dst.
func Write(dst []byte) *Form {
	dst = append(dst, '{')
	return &Form{out: dst, open: len(dst)}
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
func (f *Form) Reading() bool { return f.out == nil }

// Has reports whether the object that is read has a member.
func (f *Form) Has(name string) bool {
	_, ok := f.in[name]
	return ok
}

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

// Done ends the object. It returns what was appended to, or the first problem.
func (f *Form) Done() ([]byte, error) {
	switch {
	case f.err != nil:
		return nil, f.err
	case !f.Reading():
		return append(f.out, '}'), nil
	case f.strict && f.taken != len(f.in):
		return nil, ErrUnknown
	}
	return nil, nil
}

// begin starts member name. When writing, set says whether there is a value; ok
// says whether the value follows. When reading, raw is the value if ok.
func (f *Form) begin(name string, need Need, set bool) (raw json.RawMessage, ok bool) {
	switch {
	case f.err != nil:
		return nil, false
	case !f.Reading():
		return nil, f.beginWrite(name, need, set || need == Required)
	}
	raw, ok = f.in[name]
	switch {
	case !ok && need != Omitted:
		f.Fail(name, ErrMissing)
	case ok:
		f.taken++
	}
	return raw, ok && (need != Null || !bytes.Equal(raw, []byte("null")))
}

func (f *Form) beginWrite(name string, need Need, set bool) bool {
	if !set && need == Omitted {
		return false
	}
	if len(f.out) > f.open {
		f.out = append(f.out, ',')
	}
	f.out = append(append(append(f.out, '"'), name...), '"', ':')
	if !set {
		f.out = append(f.out, "null"...)
	}
	return set
}

// Kind is the member "type", always value.
func (f *Form) Kind(value string) {
	kind := value
	f.Text("type", Required, &kind, func(s string) bool { return s == value })
}

// Text is a string under a rule. "" stands for a missing value.
func (f *Form) Text(name string, need Need, v *string, good Rule) {
	raw, ok := f.begin(name, need, *v != "")
	if !ok {
		return
	}
	if f.Reading() {
		*v = f.text(name, raw)
	}
	if f.err == nil {
		f.Want(name, utf8.ValidString(*v) && good(*v))
	}
	f.writeText(*v)
}

func (f *Form) text(name string, raw json.RawMessage) (s string) {
	if first(raw) != '"' || json.Unmarshal(raw, &s) != nil {
		f.Fail(name, ErrType)
	}
	return s
}

func (f *Form) writeText(s string) {
	if !f.Reading() {
		f.out = appendString(f.out, s, f.ascii)
	}
}

// Bool is true or false.
func (f *Form) Bool(name string, v *bool) {
	raw, ok := f.begin(name, Required, true)
	switch {
	case !ok:
	case !f.Reading():
		f.out = strconv.AppendBool(f.out, *v)
	case string(raw) == "true":
		*v = true
	case string(raw) == "false":
		*v = false
	default:
		f.Fail(name, ErrType)
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
	raw, ok := f.begin(name, need, v.Set)
	if !ok {
		return
	}
	if f.Reading() {
		n := f.number(name, raw)
		v.Value, v.Set = uint64(max(n, 0)), true
		f.Want(name, float64(v.Value) == n)
	}
	f.Want(name, low <= v.Value && v.Value <= high)
	if !f.Reading() {
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
	raw, ok := f.begin(name, need, v.Set)
	if !ok {
		return
	}
	if f.Reading() {
		v.Value, v.Set = f.number(name, raw), true
	}
	f.Want(name, isNumber(v.Value) && low <= v.Value && v.Value <= high)
	if !f.Reading() {
		f.out = AppendNumber(f.out, v.Value)
	}
}

func (f *Form) number(name string, raw json.RawMessage) float64 {
	n, err := number(raw)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: %w", name, err)
	}
	return n
}

// Peek gives the string under name in the object that is read, without taking it.
func (f *Form) Peek(name string) (s string, ok bool) {
	raw := f.in[name]
	ok = first(raw) == '"' && json.Unmarshal(raw, &s) == nil
	return s, ok
}

// Strings gives the strings of the array under name, without taking it. Whatever
// else stands in it or in its place is passed over.
func (f *Form) Strings(name string) []string {
	var items []any
	if json.Unmarshal(f.in[name], &items) != nil {
		return nil
	}
	var found []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

// Token gives the value under name as it is written, without taking it.
func (f *Form) Token(name string) (json.RawMessage, bool) {
	raw, ok := f.in[name]
	return raw, ok
}

// Integer reads a token that is written as an integer from 0 to MaxSafe and in
// no other way: not 1.0, 1e0 or -0.
func Integer(token []byte) (uint64, bool) {
	if len(token) == 0 || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	for _, c := range token {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(token), 10, 64)
	return n, err == nil && n <= MaxSafe
}

// Null is a member that is null.
func (f *Form) Null(name string) {
	if _, ok := f.begin(name, Null, false); ok {
		f.Fail(name, ErrType)
	}
}
