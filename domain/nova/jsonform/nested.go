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
}

// Texts is an array of low to high strings under a rule.
func Texts[S ~string](f *Form, name string, need Need, v *[]S, low, high int, good func(S) bool) {
	raw, ok := f.begin(name, need, len(*v) > 0)
	if !ok {
		return
	}
	if f.Reading() {
		*v = (*v)[:0]
		for _, item := range f.items(name, raw) {
			*v = append(*v, S(f.text(name, item)))
		}
	}
	f.Want(name, low <= len(*v) && len(*v) <= high && !slices.ContainsFunc(*v, func(s S) bool { return !good(s) }))
	f.writeItems(len(*v), func(i int) { f.writeText(string((*v)[i])) })
}

// List is an array of low to high objects.
func List[T any](f *Form, name string, v *[]T, low, high int, schema func(*Form, *T)) {
	raw, ok := f.begin(name, Required, true)
	if !ok {
		return
	}
	if f.Reading() {
		items := f.items(name, raw)
		f.Want(name, len(items) <= high)
		if f.err != nil {
			return
		}
		*v = make([]T, len(items))
		for i, item := range items {
			f.object(name, item, func(sub *Form) { schema(sub, &(*v)[i]) })
		}
	}
	f.Want(name, low <= len(*v) && len(*v) <= high)
	f.writeItems(len(*v), func(i int) { f.object(name, nil, func(sub *Form) { schema(sub, &(*v)[i]) }) })
}

// OptionalObject is an object that may be missing.
func OptionalObject[T any](f *Form, name string, need Need, v *Optional[T], schema func(*Form, *T)) {
	raw, ok := f.begin(name, need, v.Set)
	if !ok {
		return
	}
	v.Set = true
	f.object(name, raw, func(sub *Form) { schema(sub, &v.Value) })
}

// Object is an object that must be there.
func (f *Form) Object(name string, schema func(*Form)) {
	if raw, ok := f.begin(name, Required, true); ok {
		f.object(name, raw, schema)
	}
}

// Raw is an object whose members no schema names. It is read as Canonical
// writes it; empty stands for a missing one.
func (f *Form) Raw(name string, need Need, v *json.RawMessage) {
	raw, ok := f.begin(name, need, len(*v) > 0)
	if !ok {
		return
	}
	if f.Reading() {
		*v = raw
	}
	canonical, err := Canonical(*v)
	switch {
	case err != nil:
		f.Fail(name, ErrValue)
	case first(canonical) != '{':
		f.Fail(name, ErrType)
	case f.Reading():
		*v = canonical
	default:
		f.out = append(f.out, canonical...)
	}
}

// Verbatim is an object that must be there, kept as it is written.
func (f *Form) Verbatim(name string, v *json.RawMessage) {
	raw, ok := f.begin(name, Required, true)
	switch {
	case !ok:
	case !f.Reading():
		f.out = append(f.out, *v...)
	case first(raw) != '{':
		f.Fail(name, ErrType)
	default:
		*v = raw
	}
}

// Value is any value that may be absent, kept as it is written.
func (f *Form) Value(name string, v *json.RawMessage) {
	raw, ok := f.begin(name, Omitted, len(*v) > 0)
	switch {
	case !ok:
	case f.Reading():
		*v = raw
	default:
		f.out = append(f.out, *v...)
	}
}

// object runs a schema over a nested object.
func (f *Form) object(name string, raw json.RawMessage, schema func(*Form)) {
	if f.err != nil {
		return
	}
	var sub *Form
	if f.Reading() {
		sub = Read(raw)
	} else {
		sub = Write(f.out)
	}
	sub.strict, sub.ascii = f.strict, f.ascii
	schema(sub)
	out, err := sub.Done()
	if err != nil {
		f.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	f.out = out
}

// items splits an array.
func (f *Form) items(name string, raw json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	if first(raw) != '[' || json.Unmarshal(raw, &items) != nil {
		f.Fail(name, ErrType)
	}
	return items
}

// writeItems writes an array of n items.
func (f *Form) writeItems(n int, item func(i int)) {
	if f.Reading() {
		return
	}
	f.out = append(f.out, '[')
	for i := range n {
		if i > 0 {
			f.out = append(f.out, ',')
		}
		item(i)
	}
	f.out = append(f.out, ']')
}
