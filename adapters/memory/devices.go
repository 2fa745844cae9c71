package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"plexus/domain/pairing"
	"plexus/ports"
)

// Devices is a registry of devices that lives as long as the process.
type Devices struct {
	mu   sync.Mutex
	rows []deviceRow
}

type deviceRow struct {
	device pairing.Device
	hash   pairing.TokenHash
}

var _ ports.DeviceRegistry = (*Devices)(nil)

// NewDevices gives an empty registry.
func NewDevices() *Devices { return &Devices{} }

// AddDevice implements ports.DeviceRegistry.
func (d *Devices) AddDevice(ctx context.Context, dev pairing.Device, hash pairing.TokenHash) error {
	return d.locked(ctx, func() error {
		if len(d.rows) >= pairing.MaxDevices {
			return ports.ErrDeviceLimit
		}
		d.rows = append(d.rows, deviceRow{dev, hash})
		return nil
	})
}

// RemoveDevice implements ports.DeviceRegistry.
func (d *Devices) RemoveDevice(ctx context.Context, id pairing.DeviceID) error {
	return d.withRow(ctx, id, func(i int) { d.rows = slices.Delete(d.rows, i, i+1) })
}

// RenameDevice implements ports.DeviceRegistry.
func (d *Devices) RenameDevice(ctx context.Context, id pairing.DeviceID, name string) error {
	return d.withRow(ctx, id, func(i int) { d.rows[i].device.Name = name })
}

// TouchDevice implements ports.DeviceRegistry.
func (d *Devices) TouchDevice(ctx context.Context, id pairing.DeviceID, at time.Time) error {
	return d.withRow(ctx, id, func(i int) {
		dev := &d.rows[i].device
		if dev.FirstConnectedAt.IsZero() {
			dev.FirstConnectedAt = at
		}
		if at.After(dev.LastSeenAt) {
			dev.LastSeenAt = at
		}
	})
}

// Devices implements ports.DeviceRegistry.
func (d *Devices) Devices(ctx context.Context) (list []pairing.Device, err error) {
	err = d.locked(ctx, func() error {
		for _, row := range d.rows {
			list = append(list, row.device)
		}
		return nil
	})
	return list, err
}

// FindDevice implements ports.DeviceRegistry.
func (d *Devices) FindDevice(ctx context.Context, hash pairing.TokenHash) (found pairing.Device, err error) {
	err = d.locked(ctx, func() error {
		known := false
		for _, row := range d.rows {
			if row.hash.Equal(hash) {
				found, known = row.device, true
			}
		}
		if !known {
			return ports.ErrDeviceUnknown
		}
		return nil
	})
	return found, err
}

// DeviceHash implements ports.DeviceRegistry.
func (d *Devices) DeviceHash(ctx context.Context, id pairing.DeviceID) (hash pairing.TokenHash, err error) {
	err = d.withRow(ctx, id, func(i int) { hash = d.rows[i].hash })
	return hash, err
}

func (d *Devices) withRow(ctx context.Context, id pairing.DeviceID, work func(i int)) error {
	return d.locked(ctx, func() error {
		i := slices.IndexFunc(d.rows, func(row deviceRow) bool { return row.device.ID == id })
		if i < 0 {
			return ports.ErrDeviceUnknown
		}
		work(i)
		return nil
	})
}

func (d *Devices) locked(ctx context.Context, work func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return work()
}

// Revocations is a list of revoked tokens that lives as long as the process.
type Revocations struct {
	mu     sync.Mutex
	hashes []pairing.TokenHash
}

var _ ports.RevocationLog = (*Revocations)(nil)

// NewRevocations gives an empty list.
func NewRevocations() *Revocations { return &Revocations{} }

// AppendRevoked implements ports.RevocationLog.
func (r *Revocations) AppendRevoked(ctx context.Context, hash pairing.TokenHash) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.hashes, hash) {
		r.hashes = append(r.hashes, hash)
	}
	return nil
}

// RevokedHashes implements ports.RevocationLog.
func (r *Revocations) RevokedHashes(ctx context.Context) ([]pairing.TokenHash, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.hashes), nil
}
