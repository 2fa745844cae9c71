package pairing

import (
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDevices bounds the registry (nova-transport §21.2).
const MaxDevices = 32

// MaxDeviceName bounds a device's name, in UTF-16 units.
const MaxDeviceName = 80

var (
	// ErrDeviceName: the name is empty after trimming, longer than
	// MaxDeviceName, not UTF-8, or holds a control character.
	ErrDeviceName = errors.New("device name not usable")
	// ErrDeviceID: the text is no UUID.
	ErrDeviceID = errors.New("device ID is no UUID")
)

// DeviceID is a random UUID. It is public: it names a device to the owner and
// gives access to nothing.
type DeviceID [16]byte

// NewDeviceID makes a UUID of version 4.
func NewDeviceID(random [16]byte) DeviceID {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	return random
}

// ParseDeviceID reads a UUID of 36 characters in either case.
func ParseDeviceID(s string) (DeviceID, error) {
	var id DeviceID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return DeviceID{}, ErrDeviceID
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if n, err := hex.Decode(id[:], []byte(digits)); err != nil || n != len(id) {
		return DeviceID{}, ErrDeviceID
	}
	return id, nil
}

// String gives the UUID in lower case.
func (d DeviceID) String() string {
	h := hex.EncodeToString(d[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Device is one entry of the registry. Its token's hash stays in the store.
type Device struct {
	ID               DeviceID
	Name             string // as the device gave it, trimmed; may hold marks that move text
	CreatedAt        time.Time
	FirstConnectedAt time.Time // zero: never, so perhaps the orphan of a lost answer
	LastSeenAt       time.Time // zero: never
}

// NeverConnected reports whether the device's token has not yet been accepted
// in a hello.
func (d Device) NeverConnected() bool { return d.FirstConnectedAt.IsZero() }

// DeviceName trims a name and checks it, else ErrDeviceName. Names need not
// differ: only the ID tells devices apart.
func DeviceName(s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F // ASCII's four separators are blanks too
	})
	if s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", ErrDeviceName
	}
	units := 0
	for _, r := range s {
		units += utf16.RuneLen(r)
	}
	if units > MaxDeviceName {
		return "", ErrDeviceName
	}
	return s, nil
}
