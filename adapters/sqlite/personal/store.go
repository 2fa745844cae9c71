// Package personal keeps what the personal host knows in the database:
// conversations, their messages, and small records. Times are kept to the
// millisecond and come back in UTC.
//
// What is deleted is overwritten in the file at once (secure_delete of the
// writing connection), and its room is used again. Two traces go later: the log
// holds it until EraseTraces, until it is written over or the database is closed,
// and the full text table holds the words, though not their order, until their
// segment is merged.
package personal

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/pages"
	"plexus/ports"
)

// Store keeps what the personal host knows. All methods may be called
// concurrently.
type Store struct {
	writer, reader *sql.DB
	writes, reads  *statements
	indexPage      PageIndexer
	committed      func(changes int) // called after each commit; may be nil

	mu      sync.Mutex
	busy    bool      // the turn is taken
	waiting []*waiter // for the turn, in order of arrival
}

var (
	_ ports.PersonalStore   = (*Store)(nil)
	_ ports.PersonalArchive = (*Store)(nil)
	_ ports.PersonalTx      = (*transaction)(nil)
)

// PageIndexer writes a page to the page index, in a transaction of the store.
type PageIndexer func(ctx context.Context, tx *sql.Tx, page pages.Page) error

// New prepares the store in an open database, whose tables must be there. writer
// has one connection and begins transactions at once as writing ones. The store
// ends with its pools.
func New(ctx context.Context, writer, reader *sql.DB, indexPage PageIndexer) (*Store, error) {
	writes, err := prepare(ctx, writer, lastStatement)
	if err != nil {
		return nil, err
	}
	reads, err := prepare(ctx, reader, lastRead)
	if err != nil {
		return nil, err
	}
	return &Store{writer: writer, reader: reader, writes: writes, reads: reads, indexPage: indexPage}, nil
}

// View implements ports.PersonalStore.
func (s *Store) View(ctx context.Context, look func(tx ports.PersonalView) error) (err error) {
	conn, err := s.reader.Conn(ctx)
	if err != nil {
		return sqlitex.Wrap("wait for a reader", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// A context that cannot end saves a goroutine for each statement.
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return sqlitex.Wrap("begin to read", err)
	}
	defer func() {
		if failed := sqlitex.Rollback(tx); failed != nil {
			err = errors.Join(err, sqlitex.Wrap("end reading", failed))
		}
	}()
	return look(&transaction{session: &session{ctx: ctx, tx: tx, pool: s.reads}})
}
