// Package access is what the stores of one database share: how a transaction is
// run, and the errors that SQLite's result codes stand for.
package access

import (
	"context"
	"database/sql"
	"errors"
)

// InTx runs work in one immediate transaction. A failed commit is a failure.
func InTx(ctx context.Context, db *sql.DB, work func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		if undo := Undo(tx); undo != nil {
			err = errors.Join(err, undo)
		}
		return err
	}
	return tx.Commit()
}

// Undo takes a transaction back, unless it has ended.
func Undo(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}
