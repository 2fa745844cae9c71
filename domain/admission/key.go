package admission

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"plexus/domain/secret"
)

// SubprotocolPrefix stands before the key or token in Sec-WebSocket-Protocol.
// It is matched case-sensitively.
const SubprotocolPrefix = "anvesha-v1."

// KeyHash is the SHA-256 of an extension's key or of the host token. Only the
// hash is stored. The zero value matches nothing.
type KeyHash [sha256.Size]byte

// HashKey hashes a key or token as it was offered.
func HashKey(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// Hex gives 64 lower-case hex digits.
func (h KeyHash) Hex() string { return hex.EncodeToString(h[:]) }

// Equal compares in constant time.
func (h KeyHash) Equal(o KeyHash) bool { return subtle.ConstantTimeCompare(h[:], o[:]) == 1 }

// Digits are the four decimal digits that the panel and the host both show, so
// that the owner can tell this extension from a look-alike. They are made from
// the hash: the first four bytes, big-endian, modulo 10000.
func (h KeyHash) Digits() string {
	return fmt.Sprintf("%04d", binary.BigEndian.Uint32(h[:4])%10000)
}

// Secret is a token that must never be printed. Reveal is the only way out.
type Secret struct{ secret.Text }

// NewSecret wraps a secret.
func NewSecret(value string) Secret { return Secret{secret.New(value)} }

// Hash gives the secret's KeyHash.
func (s Secret) Hash() KeyHash { return HashKey(s.Reveal()) }

// KeyLength is the length of a key and of the host token, in hex digits.
const KeyLength = 64

// WellFormedKey reports whether s is KeyLength lower-case hex digits.
func WellFormedKey(s string) bool { return secret.LowerHex(s, KeyLength) }

// Offer is one entry of Sec-WebSocket-Protocol.
type Offer struct {
	Entry string  // as it has to be echoed
	Key   KeyHash // of what follows SubprotocolPrefix; zero for any other entry
	IsKey bool    // it has the prefix and a key of 64 lower-case hex digits
}

// ParseOffers reads every header line, splits at commas and trims blanks.
func ParseOffers(headers []string) []Offer {
	var offers []Offer
	for _, line := range headers {
		for entry := range strings.SplitSeq(line, ",") {
			entry = strings.Trim(entry, " \t")
			if entry == "" {
				continue
			}
			o := Offer{Entry: entry}
			if key, ok := strings.CutPrefix(entry, SubprotocolPrefix); ok && WellFormedKey(key) {
				o.Key, o.IsKey = HashKey(key), true
			}
			offers = append(offers, o)
		}
	}
	return offers
}
