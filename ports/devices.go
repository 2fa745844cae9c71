package ports

import (
	"context"
	"errors"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/sessions"
)

// DeviceRegistry keeps the paired devices. Every change is durable before it
// returns, and a change that failed has changed nothing.
//
// AddDevice stores a new device and its token's hash; with
// pairing.MaxDevices stored it is ErrDeviceLimit, also under concurrency.
// RemoveDevice deletes one; unknown is ErrDeviceUnknown. RenameDevice gives one
// another name and changes nothing else of it; unknown is ErrDeviceUnknown. Devices lists in the
// order they were added, without hashes. TouchDevice notes that the device was
// connected at a time: LastSeenAt never moves back, FirstConnectedAt is set
// once; unknown is ErrDeviceUnknown. FindDevice compares the hash with those of
// all devices in constant time and sees every removal that has returned; unknown
// is ErrDeviceUnknown. DeviceHash gives the hash of one device's token, for the
// list of revocations; unknown is ErrDeviceUnknown. Times are kept to the
// millisecond.
type DeviceRegistry interface {
	AddDevice(ctx context.Context, d pairing.Device, hash pairing.TokenHash) error
	RemoveDevice(ctx context.Context, id pairing.DeviceID) error
	RenameDevice(ctx context.Context, id pairing.DeviceID, name string) error
	Devices(ctx context.Context) ([]pairing.Device, error)
	TouchDevice(ctx context.Context, id pairing.DeviceID, at time.Time) error
	FindDevice(ctx context.Context, hash pairing.TokenHash) (pairing.Device, error)
	DeviceHash(ctx context.Context, id pairing.DeviceID) (pairing.TokenHash, error)
}

var (
	// ErrDeviceLimit: pairing.MaxDevices are registered.
	ErrDeviceLimit = errors.New("device list full")
	// ErrDeviceUnknown: no such device (any more).
	ErrDeviceUnknown = errors.New("device unknown")
)

// ClientLink is one admitted client's connection, so that the core can end it.
// Close never blocks, may be called often, and returns before the socket is
// gone. Links are compared by identity.
type ClientLink interface {
	Close(reason sessions.CloseReason)
}
