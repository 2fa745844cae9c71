// Package sqlitex is what the stores of one database share: running a
// transaction, reading rows, and the errors that SQLite's result codes stand for.
package sqlitex

import (
	"context"
	"database/sql"
	"errors"
)

// InTx runs do in one immediate transaction. A failed commit is a failure.
func InTx(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		if failed := Rollback(tx); failed != nil {
			err = errors.Join(err, failed)
		}
		return err
	}
	return tx.Commit()
}

// Rollback takes a transaction back, unless it has ended.
func Rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}
