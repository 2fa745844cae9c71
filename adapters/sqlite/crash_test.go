package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/pages"
	"plexus/ports"
	schema "plexus/sql"
)

// What the process to be killed is told.
const (
	crashRole  = "PLEXUS_CRASH_ROLE"  // index, devices, or the stage of a migration to die at
	crashPath  = "PLEXUS_CRASH_PATH"  // of the database
	crashFrom  = "PLEXUS_CRASH_FROM"  // number of the first page, or of the step to die in
	crashKills = "PLEXUS_CRASH_KILLS" // how often the parent kills an indexing child
)

// crashChild never ends by itself in the roles index and devices.
func crashChild() error {
	from, err := strconv.Atoi(os.Getenv(crashFrom))
	if err != nil {
		return err
	}
	fmt.Println("started")
	switch role := os.Getenv(crashRole); role {
	case "index":
	case "devices":
		return crashDevices(context.Background(), os.Getenv(crashPath), os.Stdout)
	default:
		return dieMigrating(point{from, role})
	}
	s, err := Open(context.Background(), os.Getenv(crashPath), Options{Now: time.Now})
	if err != nil {
		return err
	}
	for n := from; ; n++ {
		if err := indexPage(context.Background(), s, crashPage(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func dieMigrating(at point) error {
	scripts, err := loadScripts(schema.Migrations)
	if err != nil {
		return err
	}
	path := os.Getenv(crashPath)
	m := migrator{path: path, scripts: scripts, now: time.Now, at: func(p point) error {
		if p != at {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Kill(); err != nil {
			return err
		}
		select {} // dead before the next step
	}}
	_, err = open(context.Background(), path, Options{Now: time.Now}, m)
	return errors.Join(errors.New("lived on"), err)
}

// crashPage is page n, whose text holds one word of its own.
func crashPage(n int) pages.Page {
	words := fmt.Sprintf("unique%d ", n) + strings.Repeat("filler words of no account ", n%200)
	return pages.Page{URL: fmt.Sprintf("https://example.org/%d", n), Title: "Crash", Text: words}
}

// startChild gives the running child and its output after the first line.
func startChild(t *testing.T, role, path string, from int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashRole+"="+role, crashPath+"="+path, crashFrom+"="+strconv.Itoa(from))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "started" {
		t.Fatalf("the child said %q, %v", lines.Text(), lines.Err())
	}
	return child, lines
}

// awaitKill reads the rest of the output and makes sure that the child died by
// the signal and not of a fault.
func awaitKill(t *testing.T, child *exec.Cmd, lines *bufio.Scanner) (rest []string) {
	t.Helper()
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if err := child.Wait(); err == nil || child.ProcessState.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
	return rest
}

func TestCrash_WithinEachMigrationStep(t *testing.T) {
	scripts := realScripts(t)
	for from := range len(scripts) {
		var points []point
		if from > 0 {
			for _, stage := range []string{"to copy", "copied", "put aside"} {
				points = append(points, point{len(scripts), stage})
			}
		}
		for _, s := range scripts[from:] {
			for _, stage := range []string{"begun", "changed", "recorded", "committed"} {
				points = append(points, point{s.version, stage})
			}
		}
		for _, at := range points {
			path := filepath.Join(t.TempDir(), "plexus.db")
			if from > 0 {
				mustMigrate(t, path, scripts[:from])
				execute(t, path, rowsOfVersion(from))
			}
			child, lines := startChild(t, at.stage, path, at.version)
			awaitKill(t, child, lines)
			s := openAt(t, path)
			rows, err := s.Extensions().Extensions(t.Context())
			if err != nil || len(rows) != min(from, 1) {
				t.Errorf("from %d, killed at %v: %d rows, %v", from, at, len(rows), err)
			}
			checkIntegrity(t, s)
		}
	}
}

// TestCrash_OnTheWayIntoWALMode: the files of a process that died with part of a
// transaction in the database and the old content in a rollback journal.
func TestCrash_OnTheWayIntoWALMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plexus.db")
	mustMigrate(t, path, realScripts(t)[:1])
	execute(t, path, rowsOfVersion(1))
	left := halfWritten(t, path)
	s := openAt(t, left)
	rows, err := s.Extensions().Extensions(t.Context())
	if err != nil || len(rows) != 1 || rows[0].Origin != "chrome-extension://old" {
		t.Errorf("%d rows, %v; want the one that was there", len(rows), err)
	}
	checkIntegrity(t, s)
}

// halfWritten copies a database and its journal from the middle of a transaction
// that is too large for the cache.
func halfWritten(t *testing.T, path string) (left string) {
	t.Helper()
	left = filepath.Join(t.TempDir(), "plexus.db")
	db := writerOf(t, path)
	var answer string
	for _, pragma := range []string{"journal_mode = DELETE", "cache_size = 1", "cache_size"} {
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&answer); err != nil && !errors.Is(err, sql.ErrNoRows) {
			t.Fatal(err)
		}
	}
	const many = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
		INSERT INTO extensions (origin, key_hash, state, first_seen, last_seen) SELECT i, randomblob(32), 'allowed', 0, 0 FROM n`
	err := sqlitex.InTx(t.Context(), db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(t.Context(), many); err != nil {
			return err
		}
		for _, suffix := range []string{"", "-journal"} {
			data, err := os.ReadFile(path + suffix)
			if err != nil {
				return err
			}
			if err := os.WriteFile(left+suffix, data, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return left
}

// TestCrash_EveryAcknowledgedPageIsThere kills a child that opens the database
// and indexes pages, and asks the next opening for all that it acknowledged.
// Every fourth kill comes at once, while the child still opens a new database.
func TestCrash_EveryAcknowledgedPageIsThere(t *testing.T) {
	kills := 24
	if more, err := strconv.Atoi(os.Getenv(crashKills)); err == nil {
		kills = more
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	lasting := filepath.Join(t.TempDir(), "plexus.db")
	acknowledged, next := map[int]bool{}, 0
	for kill := range kills {
		if kill%4 == 3 {
			path := filepath.Join(t.TempDir(), "plexus.db")
			seen := killIndexing(t, path, 0, 0, time.Duration(random.IntN(30))*time.Millisecond)
			checkPages(t, path, seen, seen)
			continue
		}
		pause := time.Duration(random.IntN(3000)) * time.Microsecond
		seen := killIndexing(t, lasting, next, random.IntN(40), pause)
		for n := range seen {
			acknowledged[n] = true
			next = max(next, n+1)
		}
		checkPages(t, lasting, acknowledged, seen)
	}
	t.Logf("%d kills, %d pages acknowledged", kills, len(acknowledged))
}

// killIndexing lets a child acknowledge some pages, waits for a moment longer,
// kills it and gives all that it acknowledged.
func killIndexing(t *testing.T, path string, from, pages int, pause time.Duration) map[int]bool {
	t.Helper()
	child, lines := startChild(t, "index", path, from)
	var said []string
	for len(said) < pages && lines.Scan() {
		said = append(said, lines.Text())
	}
	<-time.After(pause)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	said = append(said, awaitKill(t, child, lines)...)
	seen := map[int]bool{}
	for _, line := range said {
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatalf("the child said %q", line)
		}
		seen[n] = true
	}
	return seen
}

// checkPages expects all acknowledged pages in the list, and finds those that
// are new since the last check.
func checkPages(t *testing.T, path string, acknowledged, fresh map[int]bool) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Now: time.Now})
	if err != nil {
		t.Fatalf("after a kill: %v", err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	listed, _, err := s.Pages().Pages(t.Context(), ports.PageList{Limit: pages.MaxPages})
	if err != nil {
		t.Fatal(err)
	}
	bytes := map[string]int{}
	for _, l := range listed {
		bytes[l.URL] = l.Bytes
	}
	for n := range acknowledged {
		page := crashPage(n)
		if bytes[page.URL] != len(page.Text) {
			t.Errorf("page %d was acknowledged and has %d bytes of %d", n, bytes[page.URL], len(page.Text))
		}
	}
	for n := range fresh {
		found, err := s.Pages().SearchPages(t.Context(), ports.PageQuery{Text: fmt.Sprintf("unique%d", n), Limit: 2})
		if err != nil || len(found) != 1 || found[0].URL != crashPage(n).URL {
			t.Errorf("page %d was acknowledged and a search gives %d results, %v", n, len(found), err)
		}
	}
	checkIntegrity(t, s)
}
