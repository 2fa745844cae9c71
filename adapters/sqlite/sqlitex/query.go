package sqlitex

import (
	"context"
	"database/sql"
	"errors"
)

// Queryer is a pool or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Scanner is a row.
type Scanner interface{ Scan(dest ...any) error }

// All runs a query and gives what scan makes of each row. op is what an error
// says was being done.
func All[T any](ctx context.Context, db Queryer, op string, scan func(Scanner) (T, error), query string, args ...any) (all []T, err error) {
	err = Each(func() (*sql.Rows, error) { return db.QueryContext(ctx, query, args...) }, func(row Scanner) (bool, error) {
		one, err := scan(row)
		all = append(all, one)
		return true, err
	})
	if err != nil {
		return nil, Wrap(op, err)
	}
	return all, nil
}

// Each runs a query and shows its rows until visit gives false.
func Each(query func() (*sql.Rows, error), visit func(row Scanner) (more bool, err error)) (err error) {
	rows, err := query()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if more, err := visit(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}
