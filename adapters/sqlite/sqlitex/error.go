package sqlitex

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
)

// Wrap says what the store was doing and gives SQLite's result codes their
// sentinel. The codes are compared by number; their texts vary by driver.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	var kind error
	switch code(err) & 0xff { // the low byte is the primary code
	case codes.SQLITE_FULL:
		kind = ErrDiskFull
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		kind = ErrBusy
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		kind = ErrDamaged
	}
	if kind != nil && !errors.Is(err, kind) {
		return fmt.Errorf("%s: %w: %w", op, kind, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// NeedsRollback: an unfinished transaction has to be taken back by a connection
// that may write.
func NeedsRollback(err error) bool { return code(err) == codes.SQLITE_READONLY_ROLLBACK }

// NotUnique: a row with the same key is there already.
func NotUnique(err error) bool { return code(err) == codes.SQLITE_CONSTRAINT_UNIQUE }

// code gives SQLite's extended result code, or 0.
func code(err error) int {
	var failed *driver.Error
	if !errors.As(err, &failed) {
		return 0
	}
	return failed.Code()
}
