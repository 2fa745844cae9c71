package pairing

import (
	"encoding/hex"

	"plexus/domain/secret"
)

// TokenLength is the length of a device token, of the master token and of an
// invitation's code, in lower-case hex digits (128 bits).
const TokenLength = 32

// WellFormed reports whether s is TokenLength lower-case hex digits.
func WellFormed(s string) bool { return secret.LowerHex(s, TokenLength) }

// TokenHash is the SHA-256 of the 32 ASCII characters of a token or code.
type TokenHash = secret.Hash

// DeviceToken is what a paired device says hello with.
type DeviceToken struct{ secret.Text }

// MasterToken is the owner's token, which the registry of devices is bound to.
type MasterToken struct{ secret.Text }

// Code is what an invitation is redeemed by, once.
type Code struct{ secret.Text }

// NewDeviceToken makes a token of 128 random bits.
func NewDeviceToken(random [16]byte) DeviceToken { return DeviceToken{inHex(random)} }

// NewMasterToken makes a token of 128 random bits.
func NewMasterToken(random [16]byte) MasterToken { return MasterToken{inHex(random)} }

// NewCode makes a code of 128 random bits.
func NewCode(random [16]byte) Code { return Code{inHex(random)} }

func inHex(random [16]byte) secret.Text { return secret.New(hex.EncodeToString(random[:])) }
