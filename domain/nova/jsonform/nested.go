package jsonform

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Choice is a string that is one of a few.
func Choice[S ~string](f *Form, name string, need Need, v *S, choices ...S) {
	s := string(*v)
	f.Text(name, need, &s, func(s string) bool { return slices.Contains(choices, S(s)) })
	*v = S(s)
	if i := slices.Index(choices, *v); i >= 0 {
		*v = choices[i] // which is no part of the text that was read
	}
}

// Texts is an array of low to high strings under a rule.
func Texts[S ~string](f *Form, name string, need Need, v *[]S, low, high int, good func(S) bool) {
	at, ok := f.begin(name, need, len(*v) > 0)
	if !ok {
		return
	}
	if f.Reading() {
		*v = (*v)[:0]
	}
	each(f, name, at, len(*v), func(i int, at int32) {
		if f.Reading() {
			*v = append(*v, S(readText(f, name, at)))
		}
		writeText(f, string((*v)[i]))
	})
	f.Want(name, low <= len(*v) && len(*v) <= high && !slices.ContainsFunc(*v, func(s S) bool { return !good(s) }))
}

// List is an array of low to high objects.
func List[T any](f *Form, name string, v *[]T, low, high int, schema func(*Form, *T)) {
	at, ok := f.begin(name, Required, true)
	if !ok {
		return
	}
	if f.Reading() {
		n := 0
		for range f.in.children(at) {
			n++
		}
		if f.Want(name, n <= high); f.err != nil {
			return
		}
		*v = make([]T, n)
	}
	each(f, name, at, len(*v), func(i int, at int32) {
		object(f, name, at, func(sub *Form) { schema(sub, &(*v)[i]) })
	})
	f.Want(name, low <= len(*v) && len(*v) <= high)
}

// OptionalObject is an object that may be missing.
func OptionalObject[T any](f *Form, name string, need Need, v *Optional[T], schema func(*Form, *T)) {
	at, ok := f.begin(name, need, v.Set)
	if !ok {
		return
	}
	v.Set = true
	object(f, name, at, func(sub *Form) { schema(sub, &v.Value) })
}

// Object is an object that must be there.
func (f *Form) Object(name string, schema func(*Form)) {
	if at, ok := f.begin(name, Required, true); ok {
		object(f, name, at, schema)
	}
}

// Part gives an object that must be there in the object that is read, for a
// schema that is run later. With a problem the part has it too.
func (f *Form) Part(name string) *Form {
	at, ok := f.begin(name, Required, true)
	if ok && f.in.nodes[at].kind != '{' {
		f.Fail(name, ErrType)
	}
	return &Form{in: f.in, at: at, err: f.err}
}

// Raw is an object whose members no schema names, {} if it is left out. It is
// read as AppendCanonical writes it.
func (f *Form) Raw(name string, v *json.RawMessage) {
	at, ok := f.begin(name, Omitted, true)
	switch {
	case f.err != nil:
		return
	case !f.Reading():
		if len(*v) == 0 {
			f.out = append(f.out, "{}"...)
		} else if out, err := AppendCanonical(f.out, Read(*v)); err != nil {
			f.Fail(name, ErrValue)
		} else {
			f.out = out
		}
		return
	case !ok:
		writeName(f, name)
		*v = json.RawMessage("{}")
	case f.in.nodes[at].kind != '{':
		f.Fail(name, ErrType)
	case !f.in.safe(at):
		f.Fail(name, ErrValue)
	default:
		*v = f.in.appendCanonical(make([]byte, 0, f.in.nodes[at].end-f.in.nodes[at].start), at)
	}
	if f.out != nil {
		f.out = append(f.out, *v...)
	}
}

// Strings gives the strings of the array under name in the object that is read,
// without taking it. Other items of the array, and any other value in its place,
// are ignored.
func Strings(f *Form, name string) (found []string) {
	at := f.find(name, false)
	if at < 0 || f.in.nodes[at].kind != '[' {
		return nil
	}
	for i := range f.in.children(at) {
		if s, ok := f.in.str(i); ok {
			found = append(found, s)
		}
	}
	return found
}

// object runs a schema over a nested object.
func object(f *Form, name string, at int32, schema func(*Form)) {
	if f.err != nil {
		return
	}
	sub := &Form{in: f.in, at: at, strict: f.strict, ascii: f.ascii}
	if f.Reading() && f.in.nodes[at].kind != '{' {
		sub.err = ErrType
	}
	if f.out != nil {
		sub.Echo(f.out)
	}
	schema(sub)
	out, err := sub.Done()
	if err != nil {
		f.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	f.out = out
}

// each calls item for each item of the array that is read, or for each of n that
// are to be written.
func each(f *Form, name string, at int32, n int, item func(i int, at int32)) {
	if f.Reading() && f.in.nodes[at].kind != '[' {
		f.Fail(name, ErrType)
		return
	}
	if f.out != nil {
		f.out = append(f.out, '[')
	}
	next := func(i int, at int32) {
		if f.out != nil && i > 0 {
			f.out = append(f.out, ',')
		}
		item(i, at)
	}
	if f.Reading() {
		i := 0
		for at := range f.in.children(at) {
			next(i, at)
			i++
		}
	} else {
		for i := range n {
			next(i, -1)
		}
	}
	if f.out != nil {
		f.out = append(f.out, ']')
	}
}
