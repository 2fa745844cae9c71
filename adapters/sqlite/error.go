package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"plexus/adapters/sqlite/sqlitex"
)

// The errors of every store in the database, for SQLite's result codes
// (sqlitex/error.go has that table). oneRow and noRow give those of a port.
var (
	ErrDiskFull = sqlitex.ErrDiskFull
	ErrBusy     = sqlitex.ErrBusy
	ErrDamaged  = sqlitex.ErrDamaged
)

var (
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

// oneRow gives the error of a statement, or none when it changed no row.
func oneRow(op string, done sql.Result, err, none error) error {
	if err != nil {
		return sqlitex.Wrap(op, err)
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return none
	}
	return sqlitex.Wrap(op, err)
}

// noRow gives the error of reading one row, or none when there was no row.
func noRow(op string, err, none error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return none
	}
	return sqlitex.Wrap(op, err)
}
