package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/admission"
	"plexus/ports"
)

// Extensions is the registry of extensions. Times are kept to the millisecond.
type Extensions struct{ writer, reader *sql.DB }

var _ ports.ExtensionRegistry = (*Extensions)(nil)

const extensionColumns = "id, origin, key_hash, state, first_seen, last_seen"

// FindExtension implements ports.ExtensionRegistry.
func (x *Extensions) FindExtension(ctx context.Context, origin string, key admission.KeyHash) (admission.Extension, error) {
	row := x.reader.QueryRowContext(ctx,
		"SELECT "+extensionColumns+" FROM extensions WHERE origin = ? AND key_hash = ?", origin, key[:])
	e, err := scanExtension(row)
	return e, noRow("find extension", err, ports.ErrExtensionUnknown)
}

// SaveExtension implements ports.ExtensionRegistry.
func (x *Extensions) SaveExtension(ctx context.Context, e admission.Extension) (saved admission.Extension, err error) {
	err = sqlitex.InTx(ctx, x.writer, func(tx *sql.Tx) error {
		if e.ID == 0 {
			saved, err = insertExtension(ctx, tx, e)
		} else {
			saved, err = updateExtension(ctx, tx, e)
		}
		return err
	})
	return saved, sqlitex.Wrap("save extension", err)
}

// updateExtension keeps the state of a row when Waiting is to be stored: a
// visit must not undo what the owner has decided since the row was read.
func updateExtension(ctx context.Context, tx *sql.Tx, e admission.Extension) (admission.Extension, error) {
	row := tx.QueryRowContext(ctx, `UPDATE extensions
		SET state = CASE ?1 WHEN 'waiting' THEN state ELSE ?1 END, last_seen = ?2
		WHERE id = ?3 RETURNING `+extensionColumns, string(e.State), e.LastSeen.UnixMilli(), e.ID)
	saved, err := scanExtension(row)
	if errors.Is(err, sql.ErrNoRows) {
		return saved, ports.ErrExtensionUnknown
	}
	return saved, err
}

func insertExtension(ctx context.Context, tx *sql.Tx, e admission.Extension) (admission.Extension, error) {
	var id int64
	err := tx.QueryRowContext(ctx, "SELECT id FROM extensions WHERE origin = ? AND key_hash = ?", e.Origin, e.Key[:]).Scan(&id)
	if err == nil {
		e.ID, e.State = id, admission.Waiting // somebody else was first, and the owner may have decided
		return updateExtension(ctx, tx, e)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return admission.Extension{}, err
	}
	if e.State == admission.Waiting {
		if err := makeRoom(ctx, tx, e.Origin); err != nil {
			return admission.Extension{}, err
		}
	}
	row := tx.QueryRowContext(ctx, `INSERT INTO extensions (origin, key_hash, state, first_seen, last_seen)
		VALUES (?, ?, ?, ?, ?) RETURNING `+extensionColumns,
		e.Origin, e.Key[:], string(e.State), e.FirstSeen.UnixMilli(), e.LastSeen.UnixMilli())
	return scanExtension(row)
}

// makeRoom drops the waiting row that was seen longest ago when one more would
// be too many: of this origin if its own limit is met, else of all.
func makeRoom(ctx context.Context, tx *sql.Tx, origin string) error {
	var ofOrigin, ofAll int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE origin = ?), count(*) FROM extensions WHERE state = 'waiting'", origin).
		Scan(&ofOrigin, &ofAll)
	if err != nil {
		return err
	}
	const drop = "DELETE FROM extensions WHERE id = (SELECT id FROM extensions WHERE state = 'waiting' AND (?1 = '' OR origin = ?1) ORDER BY last_seen, id LIMIT 1)"
	switch {
	case ofOrigin >= admission.MaxWaitingPerOrigin:
		_, err = tx.ExecContext(ctx, drop, origin)
	case ofAll >= admission.MaxWaiting:
		_, err = tx.ExecContext(ctx, drop, "")
	}
	return err
}

// Extensions implements ports.ExtensionRegistry.
func (x *Extensions) Extensions(ctx context.Context) ([]admission.Extension, error) {
	return listExtensions(ctx, x.reader)
}

func listExtensions(ctx context.Context, db sqlitex.Queryer) ([]admission.Extension, error) {
	return sqlitex.All(ctx, db, "list extensions", scanExtension, "SELECT "+extensionColumns+" FROM extensions ORDER BY id")
}

// ForgetExtension implements ports.ExtensionRegistry.
func (x *Extensions) ForgetExtension(ctx context.Context, id int64) error {
	done, err := x.writer.ExecContext(ctx, "DELETE FROM extensions WHERE id = ?", id)
	return oneRow("forget extension", done, err, ports.ErrExtensionUnknown)
}

func scanExtension(row sqlitex.Scanner) (admission.Extension, error) {
	var (
		e           admission.Extension
		key         []byte
		first, last int64
	)
	if err := row.Scan(&e.ID, &e.Origin, &key, &e.State, &first, &last); err != nil {
		return admission.Extension{}, err
	}
	e.FirstSeen, e.LastSeen = time.UnixMilli(first), time.UnixMilli(last)
	hash, err := toHash(key)
	e.Key = admission.KeyHash(hash)
	return e, err
}
