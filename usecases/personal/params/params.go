// Package params has the rules of parameters that the commands of several areas
// share. Lengths are in UTF-16 units (nova-personal §4 to §8).
package params

import (
	"strings"

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
