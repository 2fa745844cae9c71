// Package sqlite keeps what must outlive the process in one SQLite file: the
// registries of extensions and of devices, the page index, conversations, the
// owner's settings and page sessions. One connection writes, a small pool reads,
// and every connection is checked for its settings.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"plexus/adapters/sqlite/personal"
	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/pages"
	"plexus/ports"
	schema "plexus/sql"
)

// maxReaders bounds the connections that read at once.
const maxReaders = 4

// Options are what a Store needs from outside.
type Options struct {
	Now    func() time.Time // required
	Bounds pages.Bounds     // of the page index; the zero value means pages.DefaultBounds
}

// Store is the open database. All methods may be called concurrently.
type Store struct {
	path       string
	writer     *sql.DB
	reader     *sql.DB
	extensions *Extensions
	pages      *Pages
	devices    *Devices
	settings   *Settings
	sessions   *PageSessions
	personal   *personal.Store
	days       *RunDays
}

// Open opens or creates the database at path, whose directory must exist, and
// brings it to this program's version. It refuses, without a change to the
// file: a link or another user's file (ErrUnsafeFile), a damaged file
// (ErrDamaged), a newer database (NewerError), one with other scripts
// (ErrHistory). Before the first upgrade of an old database a copy is put aside
// as <path>.before-<version>-<time>.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	scripts, err := loadScripts(schema.Migrations)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, opts, migrator{path: path, scripts: scripts, now: opts.Now})
}

// Check reads every table of the database at path, whether a host has it open or
// not, and changes nothing. It finds what Open would refuse (ErrDamaged,
// ErrHistory, a *NewerError) and, as ErrDamaged, conversations that are at odds
// with themselves.
func Check(ctx context.Context, path string) error {
	scripts, err := loadScripts(schema.Migrations)
	if err != nil {
		return err
	}
	m := migrator{path: path, scripts: scripts}
	return m.openAndCheck(ctx, "mode=ro", quickCheck, personal.Check)
}

func open(ctx context.Context, path string, opts Options, m migrator) (*Store, error) {
	if opts.Now == nil {
		return nil, errors.New("open database: no clock")
	}
	if opts.Bounds == (pages.Bounds{}) {
		opts.Bounds = pages.DefaultBounds()
	}
	fresh, err := prepareFile(path)
	if err != nil {
		return nil, err
	}
	if !fresh {
		_, noLog := os.Stat(path + "-wal")
		err := m.probe(ctx)
		// Who only looks leaves the files of the log, and whoever writes removes them. So
		// one that is interrupted while it looks opens for writing all the same, unless
		// somebody else has left a log.
		if interrupted := ctx.Err() != nil && errors.Is(noLog, fs.ErrNotExist); err != nil && !interrupted {
			return nil, err
		}
	}
	writer, err := connect(path, writerPragmas(), "_txlock=immediate")
	if err != nil {
		return nil, err
	}
	reader, err := connect(path, readerPragmas())
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	// One writer queues in order of arrival, which SQLite's own lock does not.
	writer.SetMaxOpenConns(1)
	reader.SetMaxOpenConns(maxReaders)
	reader.SetMaxIdleConns(maxReaders)
	s := &Store{
		path:       path,
		writer:     writer,
		reader:     reader,
		extensions: &Extensions{writer: writer, reader: reader},
		pages:      &Pages{writer: writer, reader: reader, now: opts.Now, bounds: opts.Bounds},
		devices:    &Devices{writer: writer, reader: reader},
		settings:   &Settings{writer: writer, reader: reader},
		sessions:   &PageSessions{writer: writer, reader: reader},
		days:       &RunDays{writer: writer, reader: reader},
	}
	err = sqlitex.Wrap("open database for writing", writer.PingContext(context.WithoutCancel(ctx)))
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = m.run(ctx, writer)
	}
	if err == nil {
		err = sqlitex.Wrap("open database for reading", reader.PingContext(ctx))
	}
	if err == nil {
		s.personal, err = personal.New(ctx, writer, reader, s.pages.index)
	}
	if err == nil { // the host stopped before it was through
		err = sqlitex.Wrap("erase forgotten pages", s.pages.erase(ctx))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Extensions is the registry of extensions.
func (s *Store) Extensions() *Extensions { return s.extensions }

// Pages is the page index.
func (s *Store) Pages() *Pages { return s.pages }

// Devices is the registry of paired devices.
func (s *Store) Devices() *Devices { return s.devices }

// Settings is what the owner set on the page.
func (s *Store) Settings() *Settings { return s.settings }

// PageSessions is the browsers that the owner signed in with.
func (s *Store) PageSessions() *PageSessions { return s.sessions }

// RunDays is the calendar by which age is counted.
func (s *Store) RunDays() *RunDays { return s.days }

// Personal is what the personal host knows.
func (s *Store) Personal() *personal.Store { return s.personal }

// Close ends every connection. Calls that are under way end first.
func (s *Store) Close() error {
	// The writer goes last, so that it is the one that folds the log back.
	return errors.Join(s.reader.Close(), s.writer.Close())
}

// Stats describe the database on disk.
type Stats struct {
	FileBytes int64 // of the database itself
	WALBytes  int64 // of the write-ahead log; far above 8 MiB: a reader never ends
	Pages     int   // in the page index
	PageBytes int64 // of their texts
	Personal  ports.PersonalSizes
}

// Stats reads the sizes now.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	row := s.reader.QueryRowContext(ctx, "SELECT pages, bytes FROM page_totals")
	if err := row.Scan(&st.Pages, &st.PageBytes); err != nil {
		return Stats{}, sqlitex.Wrap("read page totals", err)
	}
	var err error
	if st.Personal, err = s.personal.PersonalSizes(ctx); err != nil {
		return Stats{}, err
	}
	if st.FileBytes, err = fileSize(s.path); err != nil {
		return Stats{}, err
	}
	if st.WALBytes, err = fileSize(s.path + "-wal"); err != nil {
		return Stats{}, err
	}
	return st, nil
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read database size: %w", err)
	}
	return info.Size(), nil
}
