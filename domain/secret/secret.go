// Package secret holds text that must never be printed, and the hashes that
// stand for it at rest. Pure.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
)

// Text is a secret. Whatever formats, marshals or logs it gets "[redacted]";
// Reveal is the only way out. Types of one kind of secret embed it. The zero
// value is no secret at all.
type Text struct{ value string }

// New wraps a secret.
func New(value string) Text { return Text{value} }

// Reveal gives the secret itself, for the one place that needs it.
func (t Text) Reveal() string { return t.value }

// Empty reports whether there is no secret at all.
func (t Text) Empty() bool { return t.value == "" }

// Hash gives the SHA-256 of the secret's bytes.
func (t Text) Hash() Hash { return sha256.Sum256([]byte(t.value)) }

const redacted = "[redacted]"

func (Text) String() string               { return redacted }
func (Text) GoString() string             { return redacted }
func (Text) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (Text) LogValue() slog.Value         { return slog.StringValue(redacted) }

// Hash is the SHA-256 of a secret, the only form in which one is stored.
type Hash [sha256.Size]byte

// ParseHash reads the 64 lower-case hex digits that Hex writes.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if !LowerHex(s, 2*len(h)) {
		return Hash{}, fmt.Errorf("hash: want %d lower-case hex digits", 2*len(h))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("hash: %w", err)
	}
	return h, nil
}

// Hex gives 64 lower-case hex digits.
func (h Hash) Hex() string { return hex.EncodeToString(h[:]) }

// Equal compares in constant time.
func (h Hash) Equal(o Hash) bool { return subtle.ConstantTimeCompare(h[:], o[:]) == 1 }

// LowerHex reports whether s is exactly length lower-case hex digits.
func LowerHex(s string, length int) bool {
	if len(s) != length {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}
