package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

var (
	// ErrDiskFull: the write was not made for want of room. The store goes on
	// working once there is room again.
	ErrDiskFull = errors.New("disk full")
	// ErrBusy: another process held the database for longer than the store waits.
	ErrBusy = errors.New("database busy")
	// ErrDamaged: the file is no database or failed its check.
	ErrDamaged = errors.New("database damaged")
	// ErrUnsafeFile: the file is a link, not a plain file, or another user's.
	ErrUnsafeFile = errors.New("database file not safe to use")
	// ErrHistory: the database was not made by this program's scripts.
	ErrHistory = errors.New("database has another history")
	// ErrSettings: a connection did not take the settings it must have.
	ErrSettings = errors.New("database connection has wrong settings")
)

// NewerError says that a later Plexus has written the database. Nothing was
// touched.
type NewerError struct {
	Database int    // version of the file
	Program  int    // latest version this program knows
	Copy     string // newest copy that was put aside before an upgrade, or ""
}

// Error names both versions and the copy.
func (e *NewerError) Error() string {
	s := fmt.Sprintf("the database has version %d, this Plexus knows up to version %d: use the newer Plexus", e.Database, e.Program)
	if e.Copy != "" {
		s += ", or go back to the copy " + e.Copy
	}
	return s
}

// wrap says what the store was doing and gives SQLite's result codes their
// sentinel. The codes are compared by number; their texts vary by driver.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	if kind := classify(err); kind != nil && !errors.Is(err, kind) {
		return fmt.Errorf("%s: %w: %w", doing, kind, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func classify(err error) error {
	var failed *driver.Error
	if !errors.As(err, &failed) {
		return nil
	}
	switch failed.Code() & 0xff { // the low byte is the primary code
	case codes.SQLITE_FULL:
		return ErrDiskFull
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return ErrBusy
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return ErrDamaged
	}
	return nil
}

// needsRollback: an unfinished transaction has to be taken back by a connection
// that may write.
func needsRollback(err error) bool {
	var failed *driver.Error
	return errors.As(err, &failed) && failed.Code() == codes.SQLITE_READONLY_ROLLBACK
}
