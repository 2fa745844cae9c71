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

// All runs a query and gives what scan makes of each row. doing is what an error
// says was being done.
func All[T any](ctx context.Context, db Queryer, doing string, scan func(Scanner) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, Wrap(doing, err)
		}
		all = append(all, one)
	}
	return all, Wrap(doing, rows.Err())
}
