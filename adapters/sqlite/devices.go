package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/pairing"
	"plexus/ports"
)

// Devices is the registry of paired devices. Times are kept to the millisecond.
type Devices struct{ writer, reader *sql.DB }

var _ ports.DeviceRegistry = (*Devices)(nil)

// BindingError says that the devices were paired under another master token.
// Nothing was touched.
type BindingError struct{}

// Error names the ways out.
func (*BindingError) Error() string {
	return "the devices in this database belong to another master token: put the right master-token file back, " +
		"or bring a backup in with `plexus restore FILE`, or let every device pair again with `plexus devices reset --yes`"
}

// Bind ties the registry to a master token at its first use, and later checks
// the tie: another token is a *BindingError.
func (d *Devices) Bind(ctx context.Context, master pairing.TokenHash) error {
	err := sqlitex.InTx(ctx, d.writer, func(tx *sql.Tx) error {
		var bound []byte
		err := tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'master_hash'").Scan(&bound)
		if err == nil {
			if hash, err := toHash(bound); err != nil || !hash.Equal(master) {
				return &BindingError{}
			}
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var orphans int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM devices").Scan(&orphans); err != nil {
			return err
		}
		if orphans > 0 {
			return &BindingError{}
		}
		return rebind(ctx, tx, master)
	})
	return sqlitex.Wrap("check the devices' master token", err)
}

// Rebind ties the registry, as it is, to a master token.
func (d *Devices) Rebind(ctx context.Context, master pairing.TokenHash) error {
	err := sqlitex.InTx(ctx, d.writer, func(tx *sql.Tx) error { return rebind(ctx, tx, master) })
	return sqlitex.Wrap("bind devices to the master token", err)
}

// Reset drops every device and ties the empty registry to a master token. It
// says how many were dropped.
func (d *Devices) Reset(ctx context.Context, master pairing.TokenHash) (dropped int, err error) {
	err = sqlitex.InTx(ctx, d.writer, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, "DELETE FROM devices")
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err != nil {
			return err
		}
		dropped = int(n)
		return rebind(ctx, tx, master)
	})
	return dropped, sqlitex.Wrap("reset devices", err)
}

func rebind(ctx context.Context, tx *sql.Tx, master pairing.TokenHash) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES ('master_hash', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", master[:])
	return err
}

// AddDevice implements ports.DeviceRegistry.
func (d *Devices) AddDevice(ctx context.Context, dev pairing.Device, hash pairing.TokenHash) error {
	// One statement counts and inserts, so that no other insert comes between.
	done, err := d.writer.ExecContext(ctx, `INSERT INTO devices (id, name, created_at, first_connected_at, last_seen_at, token_hash)
		SELECT ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM devices) < ?`,
		dev.ID[:], dev.Name, dev.CreatedAt.UnixMilli(), toMillis(dev.FirstConnectedAt), toMillis(dev.LastSeenAt), hash[:], pairing.MaxDevices)
	return oneRow("add device", done, err, ports.ErrDeviceLimit)
}

// RemoveDevice implements ports.DeviceRegistry.
func (d *Devices) RemoveDevice(ctx context.Context, id pairing.DeviceID) error {
	done, err := d.writer.ExecContext(ctx, "DELETE FROM devices WHERE id = ?", id[:])
	return oneRow("remove device", done, err, ports.ErrDeviceUnknown)
}

// RenameDevice implements ports.DeviceRegistry.
func (d *Devices) RenameDevice(ctx context.Context, id pairing.DeviceID, name string) error {
	done, err := d.writer.ExecContext(ctx, "UPDATE devices SET name = ? WHERE id = ?", name, id[:])
	return oneRow("rename device", done, err, ports.ErrDeviceUnknown)
}

// TouchDevice implements ports.DeviceRegistry.
func (d *Devices) TouchDevice(ctx context.Context, id pairing.DeviceID, at time.Time) error {
	done, err := d.writer.ExecContext(ctx, `UPDATE devices SET
		first_connected_at = coalesce(first_connected_at, ?1),
		last_seen_at = max(coalesce(last_seen_at, ?1), ?1) WHERE id = ?2`, at.UnixMilli(), id[:])
	return oneRow("note a device's visit", done, err, ports.ErrDeviceUnknown)
}

// Devices implements ports.DeviceRegistry.
func (d *Devices) Devices(ctx context.Context) ([]pairing.Device, error) {
	stored, err := listDevices(ctx, d.reader)
	var list []pairing.Device
	for _, s := range stored {
		list = append(list, s.Device)
	}
	return list, err
}

// FindDevice implements ports.DeviceRegistry. Every hash is compared, whether one
// has matched or not.
func (d *Devices) FindDevice(ctx context.Context, hash pairing.TokenHash) (found pairing.Device, err error) {
	stored, err := listDevices(ctx, d.reader)
	for _, s := range stored {
		if s.hash.Equal(hash) {
			found = s.Device
		}
	}
	if err == nil && found.ID == (pairing.DeviceID{}) {
		err = ports.ErrDeviceUnknown
	}
	return found, err
}

// DeviceHash implements ports.DeviceRegistry.
func (d *Devices) DeviceHash(ctx context.Context, id pairing.DeviceID) (pairing.TokenHash, error) {
	var hash []byte
	err := d.reader.QueryRowContext(ctx, "SELECT token_hash FROM devices WHERE id = ?", id[:]).Scan(&hash)
	if err != nil {
		return pairing.TokenHash{}, noRow("read a device's hash", err, ports.ErrDeviceUnknown)
	}
	return toHash(hash)
}

// storedDevice is a row of devices.
type storedDevice struct {
	pairing.Device
	hash pairing.TokenHash // of its token
}

// listDevices gives the devices in the order they were added.
func listDevices(ctx context.Context, db sqlitex.Queryer) ([]storedDevice, error) {
	scan := func(row sqlitex.Scanner) (dev storedDevice, err error) {
		var (
			id, hash    []byte
			created     int64
			first, last sql.NullInt64
		)
		if err := row.Scan(&id, &dev.Name, &created, &first, &last, &hash); err != nil {
			return dev, err
		}
		if copy(dev.ID[:], id) != len(dev.ID) {
			return dev, fmt.Errorf("%w: device ID of %d bytes", ErrDamaged, len(id))
		}
		dev.CreatedAt, dev.FirstConnectedAt, dev.LastSeenAt = time.UnixMilli(created), fromMillis(first), fromMillis(last)
		dev.hash, err = toHash(hash)
		return dev, err
	}
	return sqlitex.All(ctx, db, "list devices", scan,
		"SELECT id, name, created_at, first_connected_at, last_seen_at, token_hash FROM devices ORDER BY seq")
}

func toHash(b []byte) (pairing.TokenHash, error) {
	var h pairing.TokenHash
	if copy(h[:], b) != len(h) {
		return h, fmt.Errorf("%w: hash of %d bytes", ErrDamaged, len(b))
	}
	return h, nil
}

// toMillis keeps a zero time as NULL.
func toMillis(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

func fromMillis(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMilli(n.Int64)
}
