// Package nova holds the messages of the Nova client protocol, version 1, as
// types, and turns them into bytes and back: text messages in JSON, audio
// frames with their NOVA header. It keeps every bound of the protocol and knows
// nothing of connections, time or order. Pure.
package nova

import (
	"fmt"
	"log/slog"
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
const MaxSafeInteger = 1<<53 - 1

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

// Optional is a value that may be absent. Absent is not null: null is refused
// wherever this type stands.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some is a value that is there.
func Some[T any](v T) Optional[T] { return Optional[T]{v, true} }

// Secret is a token or a pairing code. Every way of printing it gives
// "[redacted]"; Reveal is the only way out.
type Secret struct{ value string }

// NewSecret wraps a secret.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal gives the secret itself, for the one place that needs it.
func (s Secret) Reveal() string { return s.value }

// Empty reports whether there is no secret at all.
func (s Secret) Empty() bool { return s.value == "" }

const redacted = "[redacted]"

func (Secret) String() string               { return redacted }
func (Secret) GoString() string             { return redacted }
func (Secret) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
