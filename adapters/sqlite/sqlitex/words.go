package sqlitex

import (
	"context"
	"database/sql"
)

// mergeStep is how much one write of EraseWords moves, in database pages, so that
// other writes do not wait long.
const mergeStep = 500

// EraseWords takes the words of deleted rows out of a full text table without
// content: such a delete only marks them, until their segment is written anew. It
// writes all segments anew, in many short writes; ctx ends it between two of them.
func EraseWords(ctx context.Context, writer *sql.DB, table string) error {
	for step := -mergeStep; ; step = mergeStep { // a negative one begins with all segments
		changes, err := merge(ctx, writer, table, step)
		if err != nil || step > 0 && changes < 2 { // then there is nothing left, says the manual of FTS5
			return err
		}
	}
}

// merge makes one step and says how many rows it changed.
func merge(ctx context.Context, writer *sql.DB, table string, step int) (changes int64, err error) {
	var before, after int64
	err = InTx(ctx, writer, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO "+table+" ("+table+", rank) VALUES ('merge', ?)", step); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT total_changes()").Scan(&after)
	})
	return after - before, err
}

// EmptyLog moves what the write-ahead log holds into the database and empties it. A
// reader that outlasts the wait of the writing connection is ErrBusy, and leaves it
// as it is.
func EmptyLog(ctx context.Context, writer *sql.DB) error {
	var busy bool
	var inLog, moved int
	err := writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inLog, &moved)
	if err == nil && busy {
		err = ErrBusy
	}
	return err
}
