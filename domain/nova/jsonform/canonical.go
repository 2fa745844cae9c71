package jsonform

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// MaxSafe is the largest integer that a double holds without rounding others
// onto it.
const MaxSafe = 1<<53 - 1

// Canonical rewrites a JSON value so that two values that mean the same become
// the same bytes: no white space, names in the order of their code points, the
// last of equal names, numbers by value, the fewest escapes. Every number must
// be finite and, if integral, at most MaxSafe.
func Canonical(text []byte) (json.RawMessage, error) {
	if err := wellFormed(text); err != nil {
		return nil, err
	}
	return appendCanonical(make([]byte, 0, len(text)), text)
}

// appendCanonical trusts wellFormed for grammar and depth.
func appendCanonical(dst []byte, value json.RawMessage) ([]byte, error) {
	switch first(value) {
	case '{':
		return appendObject(dst, value)
	case '[':
		return appendArray(dst, value)
	case '"':
		var s string
		if json.Unmarshal(value, &s) != nil {
			return dst, ErrSyntax
		}
		return AppendString(dst, s), nil
	case 't', 'f', 'n':
		var literal any
		if json.Unmarshal(value, &literal) != nil {
			return dst, ErrSyntax
		}
		if literal == nil {
			return append(dst, "null"...), nil
		}
		return strconv.AppendBool(dst, literal == true), nil
	}
	f, err := number(value)
	if err != nil {
		return dst, err
	}
	return AppendNumber(dst, f), nil
}

func appendObject(dst []byte, value json.RawMessage) ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return dst, ErrSyntax
	}
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, name), ':')
		var err error
		if dst, err = appendCanonical(dst, members[name]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendArray(dst []byte, value json.RawMessage) ([]byte, error) {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return dst, ErrSyntax
	}
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendCanonical(dst, item); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// number reads a token by its value: finite, and safe if it is integral.
func number(token []byte) (float64, error) {
	c := first(token)
	if c != '-' && (c < '0' || c > '9') {
		return 0, ErrType
	}
	f, err := strconv.ParseFloat(string(token), 64)
	if err != nil || !isNumber(f) {
		return 0, ErrNumber
	}
	return f, nil
}

// isNumber reports whether f may stand on the wire. From 2^53 up every double
// is integral.
func isNumber(f float64) bool { return math.Abs(f) <= MaxSafe && !math.IsNaN(f) }
