package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plexus/domain/admission"
	"plexus/ports/portstest"
	schema "plexus/sql"
)

func realScripts(t *testing.T) []script {
	t.Helper()
	scripts, err := loadScripts(schema.Migrations)
	if err != nil {
		t.Fatal(err)
	}
	return scripts
}

// testScripts makes scripts of SQL texts, numbered from 1.
func testScripts(t *testing.T, texts ...string) []script {
	t.Helper()
	files := fstest.MapFS{}
	for i, text := range texts {
		files[fmt.Sprintf("migrations/%04d_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	scripts, err := loadScripts(files)
	if err != nil {
		t.Fatal(err)
	}
	return scripts
}

// migrate brings the file at path forward as Open does, up to the writer.
func migrate(t *testing.T, path string, scripts []script, at func(point) error) error {
	t.Helper()
	fresh, err := prepareFile(path)
	if err != nil {
		return err
	}
	m := migrator{path: path, scripts: scripts, now: portstest.NewClock().Now, at: at}
	if !fresh {
		if err := m.probe(t.Context()); err != nil {
			return err
		}
	}
	db := writerOf(t, path)
	return errors.Join(m.run(t.Context(), db), db.Close())
}

func writerOf(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := connect(path, writerPragmas(), "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func mustMigrate(t *testing.T, path string, scripts []script) {
	t.Helper()
	if err := migrate(t, path, scripts, nil); err != nil {
		t.Fatal(err)
	}
}

// ask reads one value from the file.
func ask(t *testing.T, path, query string) string {
	t.Helper()
	db, err := connect(path, readerPragmas())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var value string
	if err := db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db := writerOf(t, path)
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func copies(t *testing.T, path string) []string {
	t.Helper()
	found, err := filesWithPrefix(path + ".before-")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestMigrate_FromEmptyRecordsEveryScript(t *testing.T) {
	path := tempPath(t)
	openAt(t, path)
	scripts := realScripts(t)
	if got := ask(t, path, "PRAGMA user_version"); got != fmt.Sprint(len(scripts)) {
		t.Errorf("version is %s; want %d", got, len(scripts))
	}
	for _, s := range scripts {
		got := ask(t, path, fmt.Sprintf("SELECT name || ' ' || checksum FROM migrations WHERE version = %d", s.version))
		if got != s.name+" "+s.checksum {
			t.Errorf("version %d is recorded as %q", s.version, got)
		}
	}
	if found := copies(t, path); len(found) != 0 {
		t.Errorf("a new database was copied aside: %q", found)
	}
}

// rowsOfVersion puts rows into every table that a released version had.
func rowsOfVersion(version int) string {
	added := []string{
		1: "INSERT INTO extensions (origin, key_hash, state, first_seen, last_seen) VALUES ('chrome-extension://old', zeroblob(32), 'by_token', 1000, 2000);",
		2: "INSERT INTO pages (origin, url, last_seen, bytes, title, body) VALUES ('chrome-extension://old', 'https://example.org/', 1772357400000, 4, 'Old', 'page');",
		3: "INSERT INTO devices (id, name, created_at, token_hash) VALUES (zeroblob(16), 'Old', 1000, zeroblob(32));",
		4: "INSERT INTO settings (key, value) VALUES ('old', 'kept');",
		5: "INSERT INTO page_sessions (cookie_hash, prefix_hash, created_at, last_seen, user_agent) VALUES (zeroblob(32), zeroblob(32), 1000, 2000, 'old');",
		6: "INSERT INTO conversations (id, kind, title, subject_key, created_at, updated_at, generation, unread, read_through) VALUES ('topic:old', 'topic', 'Old', 'old', 1000, 2000, 1, 0, 0);",
	}
	return strings.Join(added[:version+1], "")
}

func TestMigrate_FromEveryOlderVersionKeepsRows(t *testing.T) {
	scripts := realScripts(t)
	for version := 1; version < len(scripts); version++ {
		path := tempPath(t)
		mustMigrate(t, path, scripts[:version])
		execute(t, path, rowsOfVersion(version))
		s := openAt(t, path)
		row, err := s.Extensions().FindExtension(t.Context(), "chrome-extension://old", admission.KeyHash{})
		if err != nil || row.State != admission.ByToken || row.LastSeen.UnixMilli() != 2000 {
			t.Errorf("from version %d: row is %+v, %v", version, row, err)
		}
		for i, table := range []string{"pages", "devices", "settings", "page_sessions"} {
			want := map[bool]string{true: "1", false: "0"}[i+2 <= version]
			if got := ask(t, path, "SELECT count(*) FROM "+table); got != want {
				t.Errorf("from version %d: %s has %s rows, want %s", version, table, got, want)
			}
		}
		found := copies(t, path)
		if len(found) != 1 || !strings.HasPrefix(found[0], fmt.Sprintf("%s.before-%d-2026", path, len(scripts))) {
			t.Fatalf("from version %d: copies are %q", version, found)
		}
		checkModes(t, found)
		if got := ask(t, found[0], "PRAGMA user_version"); got != fmt.Sprint(version) {
			t.Errorf("the copy has version %s; want %d", got, version)
		}
		if got := ask(t, found[0], "SELECT count(*) FROM extensions"); got != "1" {
			t.Errorf("the copy has %s rows; want 1", got)
		}
	}
}

func TestCR46_NewerDatabaseIsRefusedUntouched(t *testing.T) {
	for name, prepare := range map[string]func(path string){
		"closed":                     func(string) {},
		"with a log left by a crash": func(path string) { leaveLog(t, path, "INSERT INTO a VALUES (2)") },
		"in another journal mode":    func(path string) { execute(t, path, "PRAGMA journal_mode = DELETE") },
	} {
		t.Run(name, func(t *testing.T) {
			path := tempPath(t)
			scripts := testScripts(t, "CREATE TABLE a (n INTEGER) STRICT", "INSERT INTO a VALUES (1)")
			mustMigrate(t, path, scripts[:1])
			mustMigrate(t, path, scripts)
			prepare(path)
			before := fileHash(t, path)
			err := migrate(t, path, scripts[:1], nil)
			var newer *NewerError
			if !errors.As(err, &newer) || newer.Database != 2 || newer.Program != 1 || newer.Copy != copies(t, path)[0] {
				t.Fatalf("got %v (%+v)", err, newer)
			}
			if text := err.Error(); !strings.Contains(text, "version 2") || !strings.Contains(text, "version 1") || !strings.Contains(text, newer.Copy) {
				t.Errorf("the message is %q", text)
			}
			if fileHash(t, path) != before {
				t.Error("the refused file was changed")
			}
		})
	}
}

// leaveLog runs a statement and puts the files back as they were before the
// last connection, in closing, folded the log into the database.
func leaveLog(t *testing.T, path, statement string) {
	t.Helper()
	db := writerOf(t, path)
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	saved := map[string][]byte{}
	for _, file := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		saved[file] = data
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for file, data := range saved {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCR46_FailingUpgradeLeavesTheOldVersionUsable(t *testing.T) {
	path := tempPath(t)
	scripts := testScripts(t,
		"CREATE TABLE a (n INTEGER) STRICT; INSERT INTO a VALUES (1)",
		"ALTER TABLE a ADD COLUMN more TEXT",
		"INSERT INTO nowhere VALUES (1)")
	mustMigrate(t, path, scripts[:1])
	for range 4 {
		if err := migrate(t, path, scripts, nil); err == nil || !strings.Contains(err.Error(), "0003_step.sql") {
			t.Fatalf("got %v; want a failure that names the script", err)
		}
	}
	mustMigrate(t, path, scripts[:1]) // the previous program starts
	if got := ask(t, path, "SELECT count(*) FROM a"); got != "1" {
		t.Errorf("%s rows; want 1", got)
	}
	if found := copies(t, path); len(found) == 0 || len(found) > keptCopies {
		t.Errorf("%d copies after four failed starts", len(found))
	}
	scripts[2] = testScripts(t, "", "", "INSERT INTO a VALUES (3, 'c')")[2]
	mustMigrate(t, path, scripts) // a mended program goes on
	if got := ask(t, path, "SELECT count(*) FROM a"); got != "2" {
		t.Errorf("%s rows; want 2", got)
	}
}

func TestMigrate_OldCopiesOfOneUpgradeGo(t *testing.T) {
	path := tempPath(t)
	scripts := testScripts(t, "CREATE TABLE a (n INTEGER) STRICT", "INSERT INTO nowhere VALUES (1)")
	mustMigrate(t, path, scripts[:1])
	db := writerOf(t, path)
	defer db.Close()
	clock := portstest.NewClock()
	for range 5 {
		clock.Pass(time.Hour)
		m := migrator{path: path, scripts: scripts, now: clock.Now}
		if err := m.run(t.Context(), db); err == nil {
			t.Fatal("a broken script passed")
		}
	}
	found := copies(t, path)
	if len(found) != keptCopies || newestCopy(path) != path+".before-2-20260301T143000Z" {
		t.Errorf("copies are %q", found)
	}
}

func TestMigrate_BrokenScriptRollsBack(t *testing.T) {
	path := tempPath(t)
	scripts := testScripts(t, "CREATE TABLE a (n INTEGER) STRICT", "CREATE TABLE b (n INTEGER) STRICT; INSERT INTO b VALUES ('no number')")
	mustMigrate(t, path, scripts[:1])
	if err := migrate(t, path, scripts, nil); err == nil {
		t.Fatal("a broken script passed")
	}
	if got := ask(t, path, "SELECT (SELECT user_version FROM pragma_user_version) || ' ' || count(*) FROM sqlite_schema WHERE name = 'b'"); got != "1 0" {
		t.Errorf("version and half-made tables are %q", got)
	}
}

func TestMigrate_FailedCommitIsNoSuccess(t *testing.T) {
	path := tempPath(t)
	scripts := testScripts(t, `CREATE TABLE p (id INTEGER PRIMARY KEY) STRICT;
		CREATE TABLE c (p INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED) STRICT;
		INSERT INTO c VALUES (99)`) // is refused at the commit and not before
	var reached []string
	err := migrate(t, path, scripts, func(p point) error {
		reached = append(reached, p.stage)
		return nil
	})
	if err == nil || strings.Join(reached, " ") != "begun changed recorded" {
		t.Fatalf("got %v after %q; want a failure of the commit", err, reached)
	}
	if got := ask(t, path, "SELECT count(*) FROM sqlite_schema"); got != "0" {
		t.Errorf("%s things are left in the database", got)
	}
}

func TestMigrate_BreakingOffAnywhereIsMadeGood(t *testing.T) {
	scripts := testScripts(t, "CREATE TABLE a (n INTEGER) STRICT; INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)", "INSERT INTO a VALUES (3)")
	stop := errors.New("stop")
	for breakAt := 0; ; breakAt++ {
		path := tempPath(t)
		mustMigrate(t, path, scripts[:1])
		reached := 0
		err := migrate(t, path, scripts, func(point) error {
			if reached++; reached > breakAt {
				return stop
			}
			return nil
		})
		if err == nil {
			if breakAt != 3+2*4 {
				t.Errorf("%d places to break off; want 11", breakAt)
			}
			return
		}
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		mustMigrate(t, path, scripts)
		if got := ask(t, path, "SELECT group_concat(n) FROM a"); got != "1,2,3" {
			t.Errorf("broken off at %d: rows are %s", breakAt, got)
		}
	}
}

func TestMigrate_RefusesAnotherHistory(t *testing.T) {
	scripts := testScripts(t, "CREATE TABLE a (n INTEGER) STRICT", "INSERT INTO a VALUES (1)")
	for name, harm := range map[string]string{
		"changed script":  "UPDATE migrations SET checksum = 'x' WHERE version = 1",
		"missing record":  "DELETE FROM migrations WHERE version = 1",
		"another name":    "UPDATE migrations SET name = '0002_other.sql' WHERE version = 2",
		"negative":        "PRAGMA user_version = -1",
		"no version":      "PRAGMA user_version = 0",
		"record too many": "INSERT INTO migrations VALUES (3, 'x', 'x', 0)",
	} {
		path := tempPath(t)
		mustMigrate(t, path, scripts)
		execute(t, path, harm)
		before := fileHash(t, path)
		if err := migrate(t, path, scripts, nil); !errors.Is(err, ErrHistory) {
			t.Errorf("%s: %v; want ErrHistory", name, err)
		}
		if fileHash(t, path) != before {
			t.Errorf("%s: the refused file was changed", name)
		}
	}
}

func TestLoadScripts_RefusesGapsAndOddNames(t *testing.T) {
	for _, name := range []string{"0002_late.sql", "1_short.sql", "first.sql", "0000_zero.sql"} {
		files := fstest.MapFS{"migrations/" + name: &fstest.MapFile{}}
		if _, err := loadScripts(files); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := loadScripts(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no scripts at all: %v", err)
	}
}

func TestMigrate_CopyNeedsRoom(t *testing.T) {
	path := tempPath(t)
	scripts := testScripts(t, "CREATE TABLE a (n INTEGER) STRICT", "INSERT INTO a VALUES (1)")
	mustMigrate(t, path, scripts[:1])
	if err := os.Mkdir(path+".partial-copy", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".partial-copy", "in the way"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t, path, scripts, nil); err == nil {
		t.Error("upgraded without a copy")
	}
	if got := ask(t, path, "PRAGMA user_version"); got != "1" {
		t.Errorf("version is %s; want 1", got)
	}
}

func TestMigrate_CanceledContextEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, tempPath(t), Options{Now: time.Now}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
}
