package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"plexus/adapters/sqlite/sqlitex"
)

// script is one numbered migration.
type script struct {
	version  int
	name     string // of the file, without its folder
	text     string
	checksum string // SHA-256 of text, hex
}

// loadScripts reads migrations/NNNN_name.sql and refuses a gap in the numbers.
func loadScripts(files fs.FS) ([]script, error) {
	entries, err := fs.ReadDir(files, "migrations")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var scripts []script
	for i, entry := range entries { // sorted by name
		name := entry.Name()
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 || len(number) != 4 {
			return nil, fmt.Errorf("migration %q does not have the number %04d", name, i+1)
		}
		text, err := fs.ReadFile(files, "migrations/"+name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		sum := sha256.Sum256(text)
		scripts = append(scripts, script{version, name, string(text), hex.EncodeToString(sum[:])})
	}
	return scripts, nil
}

// point names a place in a migration, for tests that break off there.
type point struct {
	version int // of the step; of the whole upgrade for copies
	stage   string
}

// migrator brings a database forward, step by step.
type migrator struct {
	path    string
	scripts []script // script i leads to version i+1
	now     func() time.Time
	at      func(point) error // an error breaks off; nil: nothing happens
}

func (m *migrator) reached(version int, stage string) error {
	if m.at == nil {
		return nil
	}
	return m.at(point{version, stage})
}

// probe looks at an existing file through a connection that cannot write, so
// that a refused database stays as it is. Where a crash has left a transaction
// half written outside the log, as on a database's way into WAL mode, the file cannot
// be read before that is rolled back.
func (m *migrator) probe(ctx context.Context) error {
	err := m.openAndCheck(ctx, "mode=ro", quickCheck)
	if sqlitex.NeedsRollback(err) {
		return m.openAndCheck(ctx, "mode=rw", quickCheck)
	}
	return err
}

// openAndCheck runs the checks on a database that this program can open.
func (m *migrator) openAndCheck(ctx context.Context, mode string, checks ...func(context.Context, *sql.DB) error) (err error) {
	db, err := connect(m.path, readerPragmas(), mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := m.version(ctx, db); err != nil {
		return err
	}
	for _, check := range checks {
		if err := check(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// quickCheck checks every table that has pages of its own. Left out is the full
// text table's check of itself, which takes seconds on a large index; the
// tables that it is made of are checked.
func quickCheck(ctx context.Context, db *sql.DB) error {
	var fault string
	err := db.QueryRowContext(ctx, `SELECT found.quick_check
		FROM sqlite_schema AS t, pragma_quick_check(t.name) AS found
		WHERE t.type = 'table' AND t.rootpage > 0 AND found.quick_check <> 'ok' LIMIT 1`).Scan(&fault)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return sqlitex.Wrap("check database", err)
	}
	return fmt.Errorf("check database: %w: %s", ErrDamaged, fault)
}

// run applies what is missing. Each script has its own transaction, which also
// records it; a crash leaves the database at one version or the next.
func (m *migrator) run(ctx context.Context, db *sql.DB) error {
	version, err := m.version(ctx, db)
	if err != nil {
		return err
	}
	pending := m.scripts[version:]
	if len(pending) == 0 {
		return nil
	}
	if version > 0 {
		if err := m.copyAside(ctx, db); err != nil {
			return err
		}
	}
	if version > 0 && len(pending) > 1 {
		if err := m.rehearse(ctx, db, pending); err != nil {
			return err
		}
	}
	for _, s := range pending {
		if err := m.apply(ctx, db, s); err != nil {
			return err
		}
	}
	return nil
}

// errRehearsed undoes the rehearsal.
var errRehearsed = errors.New("rehearsed")

// rehearse runs all pending scripts and takes them back: a script that cannot
// work on this database must not leave it between two versions, where neither
// this program nor the last one would start.
func (m *migrator) rehearse(ctx context.Context, db *sql.DB, pending []script) error {
	err := sqlitex.InTx(ctx, db, func(tx *sql.Tx) error {
		for _, s := range pending {
			if _, err := tx.ExecContext(ctx, s.text); err != nil {
				return sqlitex.Wrap("rehearse migration "+s.name, err)
			}
		}
		return errRehearsed
	})
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}

func (m *migrator) apply(ctx context.Context, db *sql.DB, s script) error {
	err := sqlitex.InTx(ctx, db, func(tx *sql.Tx) error {
		if err := m.reached(s.version, "begun"); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, s.text); err != nil {
			return err
		}
		if err := m.reached(s.version, "changed"); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, createHistory); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
			s.version, s.name, s.checksum, m.now().UnixMilli())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(s.version)); err != nil {
			return err
		}
		return m.reached(s.version, "recorded")
	})
	if err != nil {
		return sqlitex.Wrap("run migration "+s.name, err)
	}
	return m.reached(s.version, "committed")
}

const createHistory = `CREATE TABLE IF NOT EXISTS migrations (
  version    INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`

// version gives the database's version, 0 for an empty file, and refuses a
// database that this program did not make or is too old for.
func (m *migrator) version(ctx context.Context, db *sql.DB) (int, error) {
	var version, tables int
	err := db.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&version, &tables)
	switch {
	case err != nil:
		return 0, sqlitex.Wrap("read database version", err)
	case version > len(m.scripts):
		return 0, &NewerError{Database: version, Program: len(m.scripts), Copy: newestCopy(m.path)}
	case version < 0 || version == 0 && tables > 0:
		return 0, fmt.Errorf("%w: it has tables and no version", ErrHistory)
	case version == 0:
		return 0, nil
	}
	ran, err := sqlitex.All(ctx, db, "read migrations", func(row sqlitex.Scanner) (s script, err error) {
		err = row.Scan(&s.version, &s.name, &s.checksum)
		return s, err
	}, "SELECT version, name, checksum FROM migrations ORDER BY version")
	if err != nil {
		return 0, err
	}
	same := func(a, b script) bool {
		return a.version == b.version && a.name == b.name && a.checksum == b.checksum
	}
	if !slices.EqualFunc(ran, m.scripts[:version], same) {
		return 0, fmt.Errorf("%w: its migrations up to version %d are not those of this program", ErrHistory, version)
	}
	return version, nil
}
