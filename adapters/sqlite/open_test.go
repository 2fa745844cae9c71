package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/ports/portstest"
)

func TestCR43_SettingsHoldOnEveryConnection(t *testing.T) {
	s := openAt(t, tempPath(t))
	for name, pool := range map[string]struct {
		db      *sql.DB
		conns   int
		pragmas []pragma
	}{
		"writer": {s.writer, 1, writerPragmas()},
		"reader": {s.reader, maxReaders, append(readerPragmas(), pragma{name: "journal_mode", want: "wal"})},
	} {
		for n := range pool.conns {
			conn, err := pool.db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close() // not before the others are open too
			for _, p := range pool.pragmas {
				var got string
				if err := conn.QueryRowContext(t.Context(), "PRAGMA "+p.name).Scan(&got); err != nil || got != p.want {
					t.Errorf("%s %d: %s is %q, %v; want %q", name, n, p.name, got, err, p.want)
				}
			}
		}
	}
}

func TestCR43_ConnectionWithoutItsSettingsIsRefused(t *testing.T) {
	path := tempPath(t)
	openAt(t, path)
	for _, p := range []pragma{
		{"journal_mod", "WAL", "wal"},     // misspelt: the driver says nothing
		{"journal_mode", "bogus", "off"},  // not taken
		{"synchronous", "NORMAL", "2"},    // another value than it must have
		{"busy_timeout", "-1", "unknown"}, // clamped
	} {
		db, err := connect(path, []pragma{p})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.PingContext(t.Context()); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v; want ErrSettings", p.name, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpen_FilesArePrivate(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path)
	if err := indexPage(t.Context(), s, testPage("1", "apples")); err != nil {
		t.Fatal(err)
	}
	files := []string{path, path + "-wal", path + "-shm"}
	checkModes(t, files)
	for _, f := range files {
		if err := os.Chmod(f, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	openAt(t, path) // repairs
	checkModes(t, files)
}

func checkModes(t *testing.T, files []string) {
	t.Helper()
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != privateMode {
			t.Errorf("%s has mode %v", filepath.Base(f), info.Mode())
		}
	}
}

func TestOpen_RefusesUnsafeFiles(t *testing.T) {
	elsewhere := tempPath(t)
	openAt(t, elsewhere)
	for name, make := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(elsewhere, path) },
		"dangling link": func(path string) error { return os.Symlink(path+"-nothing", path) },
		"directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"linked log": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Symlink(elsewhere, path+"-wal"))
		},
	} {
		path := filepath.Join(t.TempDir(), "plexus.db")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, Options{Now: time.Now}); !errors.Is(err, ErrUnsafeFile) {
			t.Errorf("%s: %v; want ErrUnsafeFile", name, err)
		}
	}
	if _, err := checkFile(elsewhere, os.Geteuid()+1); !errors.Is(err, ErrUnsafeFile) {
		t.Errorf("another user's file: %v; want ErrUnsafeFile", err)
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none", "plexus.db"), Options{Now: time.Now}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory that does not exist: %v", err)
	}
}

func TestOpen_RefusesDamage(t *testing.T) {
	for name, harm := range map[string]func(data []byte) []byte{
		"no database": func([]byte) []byte { return bytes.Repeat([]byte("not a database at all\n"), 500) },
		"bad page": func(data []byte) []byte {
			at := bytes.Index(data, []byte("https://example.org/50"))
			page := data[at/4096*4096:][:4096]
			copy(page[8:], bytes.Repeat([]byte{0xff}, 64))
			return data
		},
		"cut off": func(data []byte) []byte { return data[:len(data)/2/4096*4096] },
	} {
		path := tempPath(t)
		fillAndClose(t, path, 100)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, harm(data), 0o600); err != nil {
			t.Fatal(err)
		}
		before := fileHash(t, path)
		if _, err := Open(t.Context(), path, Options{Now: time.Now}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v; want ErrDamaged", name, err)
		}
		if fileHash(t, path) != before {
			t.Errorf("%s: the refused file was changed", name)
		}
	}
}

func TestOpen_NeedsAClock(t *testing.T) {
	if _, err := Open(t.Context(), tempPath(t), Options{}); err == nil {
		t.Error("opened without a clock")
	}
}

func fillAndClose(t *testing.T, path string, n int) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := indexPage(t.Context(), s, testPage(fmt.Sprint(i), strings.Repeat("apples ", 50))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func fileHash(t *testing.T, path string) [32]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(data)
}

func TestReaders_CannotWrite(t *testing.T) {
	s := openAt(t, tempPath(t))
	if _, err := s.reader.ExecContext(t.Context(), "DELETE FROM pages"); err == nil {
		t.Error("the reader pool wrote")
	}
}

func TestTwoStores_WriteAtOnce(t *testing.T) {
	path := tempPath(t)
	stores := []*Store{openAt(t, path), openAt(t, path)}
	var writers sync.WaitGroup
	const each = 25
	for n := range 8 {
		writers.Go(func() {
			for i := range each {
				page := testPage(fmt.Sprintf("%d-%d", n, i), "apples")
				if err := indexPage(t.Context(), stores[n%2], page); err != nil {
					t.Errorf("writer %d: %v", n, err)
				}
			}
		})
	}
	writers.Wait()
	if st, err := stores[0].Stats(t.Context()); err != nil || st.Pages != 8*each {
		t.Errorf("%d pages, %v; want %d", st.Pages, err, 8*each)
	}
}

func TestCR43_LockHeldByAnotherProcess(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path)
	release := holdWriteLock(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Settings().PutSetting(ctx, "a", "b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a write under a held lock: %v; want the caller's deadline", err)
	}
	if _, err := s.Pages().SearchPages(t.Context(), ports.PageQuery{Text: "apples", Limit: 1}); err != nil {
		t.Errorf("a read under a held lock: %v", err)
	}
	hasty, err := connect(path, []pragma{{"busy_timeout", "0", "0"}}, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer hasty.Close()
	if _, err := hasty.BeginTx(t.Context(), nil); !errors.Is(sqlitex.Wrap("begin", err), ErrBusy) {
		t.Errorf("without waiting: %v; want ErrBusy", err)
	}
	release()
	if err := indexPage(t.Context(), s, testPage("1", "apples")); err != nil {
		t.Errorf("after the lock was given up: %v", err)
	}
}

// holdWriteLock takes the lock from another connection until release is called.
func holdWriteLock(t *testing.T, path string) (release func()) {
	t.Helper()
	other, err := connect(path, writerPragmas(), "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), other.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestCR44_LogShrinksOnceAReaderLeaves(t *testing.T) {
	s := openAt(t, tempPath(t))
	pinned, err := s.reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := pinned.QueryRowContext(t.Context(), "SELECT count(*) FROM pages").Scan(&n); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("apples ", pages.MaxTextBytes/7)
	for i := range 140 {
		if err := indexPage(t.Context(), s, testPage(fmt.Sprint(i), long)); err != nil {
			t.Fatal(err)
		}
	}
	st, err := s.Stats(t.Context())
	if err != nil || st.WALBytes <= walCap {
		t.Fatalf("the log has %d bytes, %v; the test needs more than %d", st.WALBytes, err, walCap)
	}
	if err := pinned.Rollback(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // the first moves the log into the database, the second begins it anew
		if err := indexPage(t.Context(), s, testPage(fmt.Sprint("after", i), "apples")); err != nil {
			t.Fatal(err)
		}
	}
	if st, err = s.Stats(t.Context()); err != nil || st.WALBytes > walCap {
		t.Errorf("the log still has %d bytes, %v; the cap is %d", st.WALBytes, err, walCap)
	}
}

func TestCR45_DiskFullIsToldApartAndPasses(t *testing.T) {
	s := openAt(t, tempPath(t))
	var now, was int
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&now); err != nil {
		t.Fatal(err)
	}
	if err := s.writer.QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", now+40)).Scan(&was); err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	var err error
	for err == nil && acknowledged < 1000 {
		if err = indexPage(t.Context(), s, testPage(fmt.Sprint(acknowledged), strings.Repeat("apples ", 2000))); err == nil {
			acknowledged++
		}
	}
	if !errors.Is(err, ErrDiskFull) || acknowledged == 0 {
		t.Fatalf("after %d pages: %v; want ErrDiskFull", acknowledged, err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Pages != acknowledged {
		t.Errorf("%d pages, %v; want the %d acknowledged", st.Pages, err, acknowledged)
	}
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA max_page_count = 100000").Scan(&was); err != nil {
		t.Fatal(err)
	}
	if err := indexPage(t.Context(), s, testPage("again", "apples")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	checkIntegrity(t, s)
}

func checkIntegrity(t *testing.T, s *Store) {
	t.Helper()
	var verdict string
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %q, %v", verdict, err)
	}
}

func TestClearPages_LeavesNoTextInTheFiles(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path)
	for i := range 20 {
		if err := indexPage(t.Context(), s, testPage(fmt.Sprint(i), "zeppelin hangar")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Pages().ClearPages(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("zeppelin")) || bytes.Contains(data, []byte("hangar")) {
			t.Errorf("%s still holds the text", filepath.Base(file))
		}
	}
}

// expectGone fails when a word stands in the database or in its log.
func expectGone(t *testing.T, path string, words ...string) {
	t.Helper()
	for _, file := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				t.Errorf("%s still holds %q", filepath.Base(file), w)
			}
		}
	}
}

// One page of many: the words of its segment go too, and the others are found still.
func TestForgetPages_LeavesNoTextInTheFiles(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path)
	// Words that share no beginning with others: of those FTS5 would store a part.
	own := map[int]string{17: "quetzalcoatl", 18: "xylophone", 19: "jackfruit"}
	for i := range 40 {
		if err := indexPage(t.Context(), s, testPage(fmt.Sprint(i), "zeppelin hangar "+own[i])); err != nil {
			t.Fatal(err)
		}
	}
	for _, gone := range []int{17, 18} { // the second time all words are in one segment
		goes := func(url string) bool { return strings.HasSuffix(url, fmt.Sprint("/", gone)) }
		if n, err := s.Pages().ForgetPages(t.Context(), goes); n != 1 || err != nil {
			t.Fatalf("forgot %d, %v", n, err)
		}
		expectGone(t, path, own[gone][1:], fmt.Sprintf("/%d", gone))
	}
	if found, err := s.Pages().SearchPages(t.Context(), ports.PageQuery{Text: own[19], Reader: pages.Owner, Limit: 9}); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	checkIntegrity(t, s)
}

// The list is a walk along an index, so that its cost does not grow with what is
// stored.
func TestPages_TheListIsReadByItsIndex(t *testing.T) {
	s := openAt(t, tempPath(t))
	rows, err := s.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+fmt.Sprintf(listedSQL, ""), sql.Named("limit", 50), sql.Named("offset", 19_000))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil || !slices.ContainsFunc(plan, func(step string) bool { return strings.Contains(step, "USING COVERING INDEX pages_last_seen") }) {
		t.Errorf("%v, the plan is\n%s", err, strings.Join(plan, "\n"))
	}
}

// A stop in the middle of the erasing, or somebody who reads meanwhile: the next start
// is through with it.
func TestForgetPages_IsFinishedAtTheNextStart(t *testing.T) {
	path := tempPath(t)
	s, err := Open(t.Context(), path, Options{Now: portstest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"zeppelin hangar", "apples"} {
		if err := indexPage(t.Context(), s, testPage(words, words)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.reader.Close(); err != nil { // the erasing has to look first
		t.Fatal(err)
	}
	goes := func(url string) bool { return strings.Contains(url, "zeppelin") }
	if n, err := s.Pages().ForgetPages(t.Context(), goes); n != 1 || err == nil {
		t.Fatalf("forgot %d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
	expectGone(t, path, "zeppelin", "hangar")
}

func TestErrors_HoldNoQueryAndNoPage(t *testing.T) {
	s, err := Open(t.Context(), tempPath(t), Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), "DROP TABLE page_words"); err != nil {
		t.Fatal(err)
	}
	_, searching := s.Pages().SearchPages(t.Context(), ports.PageQuery{Text: "zeppelin", Limit: 1})
	indexing := indexPage(t.Context(), s, testPage("zeppelin", "zeppelin"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed := indexPage(t.Context(), s, testPage("zeppelin", "zeppelin"))
	for _, err := range []error{searching, indexing, closed} {
		if err == nil || strings.Contains(err.Error(), "zeppelin") {
			t.Errorf("error is %v", err)
		}
	}
}
