package crash

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	schema "plexus/sql"
)

// oldRows make the copy that is put aside, and so the whole upgrade, long enough
// to be hit.
const oldRows = 8_000

// TestCrash_WhileTheProgramMigrates kills the program within the first moments
// of its first start on a database of each older version. The stages of a step
// are hit one by one in adapters/sqlite.
func TestCrash_WhileTheProgramMigrates(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 1))
	scripts, err := fs.Glob(schema.Migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for version := range len(scripts) {
		left := map[int]int{} // version after a kill to how often it was so
		// A database restored from a dump has to get into WAL mode first.
		old := [][]byte{oldDatabase(t, scripts[:version], "wal"), oldDatabase(t, scripts[:version], "delete")}
		for kill := range kills(t, 60) / 4 {
			p := newPlace(t)
			if version > 0 {
				putDatabase(t, p, old[kill/2%2])
			}
			d := p.start(t)
			window := []int{100_000, 30_000}[kill%2] // µs; an upgrade is soon done
			<-time.After(time.Duration(random.IntN(window)) * time.Microsecond)
			d.kill(t)
			left[versionOf(t, p.database())]++
			checkUpgrade(t, p, version)
		}
		t.Logf("from version %d: kills that left each version: %v", version, left)
	}
}

// oldDatabase makes a database of an older program in a journal mode.
func oldDatabase(t *testing.T, scripts []string, mode string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	db := openDatabase(t, path, "rwc")
	expectRow(t, db, "PRAGMA journal_mode = "+mode, mode)
	execute := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	execute("CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT")
	for i, script := range scripts {
		text, err := fs.ReadFile(schema.Migrations, script)
		if err != nil {
			t.Fatal(err)
		}
		execute(string(text))
		sum := sha256.Sum256(text)
		execute("INSERT INTO migrations VALUES (?, ?, ?, 0)", i+1, filepath.Base(script), hex.EncodeToString(sum[:]))
		execute(fmt.Sprintf("PRAGMA user_version = %d", i+1))
	}
	if len(scripts) > 0 {
		execute(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO extensions (origin, key_hash, state, first_seen, last_seen)
			SELECT 'chrome-extension://old' || i, randomblob(32), iif(i % 2, 'allowed', 'blocked'), i, i FROM n`, oldRows)
	}
	closeDatabase(t, db)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func putDatabase(t *testing.T, p place, content []byte) {
	t.Helper()
	if err := os.MkdirAll(p.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.database(), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// versionOf looks at what a kill left; 0 is an empty file or none. It opens a
// copy: the program has to meet the log as it was left.
func versionOf(t *testing.T, path string) (version int) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(image+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db := openDatabase(t, image, "rwc")
	defer closeDatabase(t, db)
	if err := db.QueryRowContext(t.Context(), "SELECT user_version FROM pragma_user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// checkUpgrade starts the program on what a kill left and expects all rows, at
// the newest version.
func checkUpgrade(t *testing.T, p place, from int) {
	t.Helper()
	d := p.start(t)
	d.awaitReady(t)
	d.stop(t)
	checkClosedDatabase(t, p.database())
	want := 0
	if from > 0 {
		want = oldRows
	}
	const rows = "SELECT count(*) || ' ' || count(*) FILTER (WHERE state = iif(first_seen % 2, 'allowed', 'blocked')) FROM extensions NOT INDEXED"
	db := openDatabase(t, p.database(), "ro")
	defer closeDatabase(t, db)
	expectRow(t, db, rows, fmt.Sprintf("%d %d", want, want))
	copies, err := filepath.Glob(p.database() + ".partial-copy*")
	if err != nil || len(copies) > 0 {
		t.Errorf("unfinished copies are left: %q, %v", copies, err)
	}
	whole, err := filepath.Glob(p.database() + ".before-*")
	if err != nil || from > 0 && len(whole) == 0 || len(whole) > 2 {
		t.Errorf("%d copies are aside, %v", len(whole), err)
	}
	for _, path := range whole {
		saved := openDatabase(t, path, "ro")
		expectRow(t, saved, quickCheck, "")
		expectRow(t, saved, rows, fmt.Sprintf("%d %d", want, want))
		closeDatabase(t, saved)
	}
}
