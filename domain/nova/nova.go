// Package nova holds the messages of the Nova client protocol, version 1, as
// types, and turns them into bytes and back: text messages in JSON, audio
// frames with their NOVA header. It keeps every bound of the protocol and knows
// nothing of connections, time or order. Pure.
package nova

import (
	"errors"
	"fmt"

	"plexus/domain/nova/jsonform"
	"plexus/domain/secret"
)

// ProtocolVersion is the only version there is.
const ProtocolVersion = 1

// Bounds of messages, in bytes.
const (
	MaxMessage      = 65_536    // of any WebSocket message to the host, after reassembly
	MaxText         = 16_384    // of a text message, both ways
	MaxPersonalText = 1_048_576 // of personal.state and personal.result on a personal connection
	MaxPCM          = 65_536    // of the samples in one audio message, both ways
	MaxAudioHeader  = 2_048     // of the JSON in an audio frame
	MaxPairText     = 4_096     // of a message on the pairing paths
)

// MaxSafeInteger is the largest integer on this wire, 2^53-1: above it a peer
// that reads numbers as doubles would round.
const MaxSafeInteger = jsonform.MaxSafe

// Rates of PCM16, little endian, one channel, in samples per second.
const (
	UplinkRate   = 16_000
	DownlinkRate = 24_000
)

// Bounds of text.
const (
	MaxInputUnits     = 4_000 // UTF-16 units of what a person sends or dictates
	MaxCaptionPoints  = 160   // code points that a caption shows: the last ones
	MaxFullTextPoints = 4_000 // code points of a final caption's full text
	MaxRoster         = 10    // workspaces in project.state
	MaxChanges        = 64    // files in one approval
	MaxWorks          = 64    // results that are replayed
	MaxTasks          = 16    // entries of executor.tasks
)

// Lifetimes of what waits for an answer, in seconds. A countdown never exceeds
// them.
const (
	MaxConfirmation = 360
	MaxApproval     = 60
)

// Secret is a token or a pairing code.
type Secret = secret.Text

// Optional is a value that may be absent. Where a field's comment does not say
// null, absent means that the member is left out, and null is refused.
type Optional[T any] = jsonform.Optional[T]

// Some is a value that is there.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// ErrTooLong refuses a message that would exceed its bound in bytes. It is the
// one error of Append that good values can meet: an approval with many long
// paths, say, which the host must decline or shorten.
var ErrTooLong = errors.New("message too long")

// schema reads a message from f, or writes it to f: names, order and bounds of
// its members after the type, said once.
type schema interface{ form(f *jsonform.Form) }

// appendObject appends v as one object of type kind and of at most limit bytes. On
// an error dst comes back as it was.
func appendObject(dst []byte, kind string, limit int, v schema) ([]byte, error) {
	f := jsonform.Write(dst)
	f.Kind(kind)
	v.form(f)
	out, err := f.Done()
	if err == nil && len(out)-len(dst) > limit {
		err = ErrTooLong
	}
	if err != nil {
		return dst, fmt.Errorf("nova: write %s: %w", kind, err)
	}
	return out, nil
}

// id256 is the rule of most identifiers: not blank, at most 256 code points,
// compared as they are, white space included.
func id256(s string) bool { return jsonform.NotBlank(256)(s) }

// id128 is the same with 128.
func id128(s string) bool { return jsonform.NotBlank(128)(s) }

// id128u is the rule of request ids: 1…128 UTF-16 units, blank or not.
func id128u(s string) bool { return jsonform.Units(1, 128)(s) }

// taskID is the rule of ids that are shown: id128u, not blank, printable.
func taskID(s string) bool { return id128u(s) && !jsonform.Blank(s) && jsonform.Printable(s) }

// uuid is 8-4-4-4-12 hexadecimal digits in either case.
func uuid(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return false
			}
		}
	}
	return true
}

// hex128 is 128 bits as 32 lower-case hexadecimal digits: a token or a code.
func hex128(s string) bool { return secret.LowerHex(s, 32) }

// formSecret is a string that must not be printed.
func formSecret(f *jsonform.Form, name string, need jsonform.Need, v *Secret, good jsonform.Rule) {
	text := v.Reveal()
	f.Text(name, need, &text, good)
	*v = secret.New(text)
}
