package pairing

import (
	"encoding/hex"
	"errors"
	"fmt"
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
	// ErrDeviceName: a name cannot be used; the three below say why.
	ErrDeviceName  = errors.New("device name not usable")
	ErrNameEmpty   = fmt.Errorf("%w: it holds nothing that can be seen", ErrDeviceName)
	ErrNameTooLong = fmt.Errorf("%w: it is longer than %d characters", ErrDeviceName, MaxDeviceName)
	ErrNameMarks   = fmt.Errorf("%w: it is no UTF-8, or holds control characters or marks that move text", ErrDeviceName)
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

// DeviceName trims a name and checks it: ErrNameEmpty, ErrNameTooLong, or, for
// control characters, ErrNameMarks. Names need not differ: only the ID tells
// devices apart.
func DeviceName(s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F // ASCII's four separators are blanks too
	})
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "", ErrNameMarks
	case !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }):
		return "", ErrNameEmpty
	case utf16Length(s) > MaxDeviceName:
		return "", ErrNameTooLong
	}
	return s, nil
}

func utf16Length(s string) (units int) {
	for _, r := range s {
		units += utf16.RuneLen(r)
	}
	return units
}

// ShownNames gives the names under which people see devices, in their order. Of
// devices with one name the later ones have a number, which makes no name that
// another device has, and none that is longer than MaxDeviceName (decision K18).
func ShownNames(list []Device) []string {
	taken := make(map[string]bool, len(list))
	for _, d := range list {
		taken[d.Name] = true
	}
	shown := make([]string, len(list))
	first := make(map[string]bool, len(list))
	for i, d := range list {
		shown[i] = d.Name
		for n := 2; first[d.Name] && taken[shown[i]]; n++ {
			shown[i] = numbered(d.Name, n)
		}
		first[d.Name], taken[shown[i]] = true, true
	}
	return shown
}

// numbered puts a number behind a name, of which it cuts off what has no room.
func numbered(name string, n int) string {
	number := fmt.Sprintf(" (%d)", n)
	for utf16Length(name)+len(number) > MaxDeviceName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + number
}
