package jsonform

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"plexus/domain/jsonscan"
)

// AppendCanonical appends the object that f reads so that two values that mean
// the same become the same bytes: no white space, names in the order of their
// code points, the last of equal names, numbers by value, the fewest escapes. The
// error is the first problem of f so far, or ErrNumber, see CheckNumbers; dst then
// comes back as it was.
func AppendCanonical(dst []byte, f *Form) ([]byte, error) {
	if err := CheckNumbers(f); err != nil {
		return dst, err
	}
	return f.in.appendCanonical(dst, f.at), nil
}

// CheckNumbers is ErrNumber if any number in the object that is read, also one
// that no schema asks for, is not finite or is integral and above MaxSafe; or the
// first problem so far. What an equal name overrides does not count.
func CheckNumbers(f *Form) error {
	if f.err == nil && !f.in.safe(f.at) {
		return ErrNumber
	}
	return f.err
}

// safe reports whether the numbers at i and below are allowed on the wire.
func (d *document) safe(i int32) bool {
	return !slices.ContainsFunc(d.nodes[i:d.nodes[i].next], func(n node) bool { return math.IsNaN(n.number) }) || d.overrides(i)
}

// overrides reports whether equal names override all unsafe numbers below i, where
// there are some.
func (d *document) overrides(i int32) bool {
	kind, seen := d.nodes[i].kind, map[string]bool{}
	for _, at := range slices.Backward(slices.Collect(d.children(i))) {
		if kind == '{' {
			name := d.nameOf(at)
			if seen[name] {
				continue
			}
			seen[name] = true
		}
		if !d.safe(at) {
			return false
		}
	}
	return kind != 0
}

// appendCanonical appends the value at i, whose numbers are safe.
func (d *document) appendCanonical(dst []byte, i int32) []byte {
	switch n := &d.nodes[i]; n.kind {
	case 0:
		return appendNumber(dst, n.number)
	case '"':
		s, _ := d.str(i)
		return jsonscan.AppendString(dst, s)
	case '[':
		dst = append(dst, '[')
		for at := range d.children(i) {
			if at > i+1 {
				dst = append(dst, ',')
			}
			dst = d.appendCanonical(dst, at)
		}
		return append(dst, ']')
	case '{':
		members := slices.Collect(d.children(i))
		slices.SortStableFunc(members, func(a, b int32) int { return strings.Compare(d.nameOf(a), d.nameOf(b)) })
		dst = append(dst, '{')
		for k, at := range members {
			name := d.nameOf(at)
			if k+1 < len(members) && d.nameOf(members[k+1]) == name {
				continue // the last of equal names counts
			}
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = d.appendCanonical(append(jsonscan.AppendString(dst, name), ':'), at)
		}
		return append(dst, '}')
	}
	return append(dst, d.written(i)...)
}

// appendNumber appends f with the fewest digits that give f back. The spelling
// depends on the value alone: 12, 12.0 and 1.2e1 come out the same, and so do 0
// and -0.
func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if math.Abs(f) < 1e-6 { // where plain decimals would begin to grow long
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
