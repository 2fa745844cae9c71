package nova

import (
	"crypto/sha256"
	"encoding/json"
)

// Command is the envelope of every client message after hello. Its payload is
// an object, and nothing more is known of it until DecodeControl.
type Command struct {
	RequestID    string // 1…128 UTF-16 units
	ConnectionID string // 1…128 UTF-16 units
	Payload      json.RawMessage
}

// Fingerprint is the SHA-256 of a normalised control: equal for two payloads
// that mean the same.
type Fingerprint [sha256.Size]byte

// Status is the verdict of a receipt.
type Status string

// The three verdicts.
const (
	Applied  Status = "applied"  // handed to the host, which returned normally
	Rejected Status = "rejected" // conflicting retry, full ledger, refused or failed
	Stale    Status = "stale"    // another connection's id
)

// Receipt is client.command_result.
type Receipt struct {
	RequestID string
	Status    Status
}
