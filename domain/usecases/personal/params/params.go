// Package params has the rules of parameters that the commands of several areas
// share. Lengths are in UTF-16 units (nova-personal §4 to §8).
package params

import (
	"strings"
	"time"

	"plexus/domain/nova/jsonform"
)

// Bounds of parameters that end up in no stored value of their own.
const (
	MaxID  = 128 // of a conversation, a message, a feed item, a card
	MaxRef = 512 // of a task, a session, an item, an origin
)

// Text is a string of 1 to high units.
func Text(f *jsonform.Form, name string, v *string, high int) {
	f.Text(name, jsonform.Required, v, jsonform.Units(1, high))
}

// OptionalText is a Text that may be left out.
func OptionalText(f *jsonform.Form, name string, v *string, high int) {
	f.Text(name, jsonform.Omitted, v, jsonform.Units(1, high))
}

// TrimmedText is a Text without the white space around it.
func TrimmedText(f *jsonform.Form, name string, v *string, high int) {
	trim := func(s string) string { return strings.TrimFunc(s, jsonform.IsTrimmed) }
	f.Text(name, jsonform.Required, v, func(s string) bool { return jsonform.Units(1, high)(trim(s)) })
	*v = trim(*v)
}

// OptionalTime is an ISO time that may be left out: RFC 3339 with a literal Z.
func OptionalTime(f *jsonform.Form, name string, v *time.Time) {
	var s string
	f.Text(name, jsonform.Omitted, &s, func(s string) bool {
		_, ok := parseTime(s)
		return ok
	})
	*v, _ = parseTime(s)
}

// parseTime refuses what time.Parse is lenient about: a comma before the
// fraction, hours of one digit.
func parseTime(s string) (time.Time, bool) {
	if !strings.HasSuffix(s, "Z") || strings.Contains(s, ",") || len(s) < len("0000-00-00T00:00:00Z") || s[len("0000-00-00T00")] != ':' {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// IsDate is the rule of a date: YYYY-MM-DD, and in the calendar.
func IsDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
