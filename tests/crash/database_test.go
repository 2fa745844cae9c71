package crash

import (
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // driver "sqlite"

	schema "plexus/sql"
)

// openDatabase opens the file beside the program, with the driver alone.
// mode is ro or rw.
func openDatabase(t *testing.T, path, mode string) *sql.DB {
	t.Helper()
	address := url.URL{Scheme: "file", Path: path, OmitHost: true, RawQuery: "mode=" + mode + "&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeDatabase(t *testing.T, db *sql.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// expectRow holds the first value of a query against want, as text.
func expectRow(t *testing.T, db *sql.DB, query, want string) {
	t.Helper()
	var got string
	if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
		t.Errorf("%s gives %q, %v; want %q", query, got, err, want)
	}
}

// Rows that no index may hide: NOT INDEXED reads the table itself.
const (
	sameExtensions = "SELECT count(*) FROM (SELECT 1 FROM extensions NOT INDEXED GROUP BY origin, key_hash HAVING count(*) > 1)"
	samePages      = "SELECT count(*) FROM (SELECT 1 FROM pages NOT INDEXED GROUP BY origin, url HAVING count(*) > 1)"
	wrongTotals    = "SELECT count(*) FROM page_totals WHERE (pages, bytes) IS NOT (SELECT count(*), coalesce(sum(length(CAST(body AS BLOB))), 0) FROM pages NOT INDEXED)"
	withoutWords   = "SELECT count(*) FROM pages NOT INDEXED WHERE id NOT IN (SELECT id FROM page_words_docsize)"
	withoutPage    = "SELECT count(*) FROM page_words_docsize WHERE id NOT IN (SELECT id FROM pages)"
	quickCheck     = "SELECT coalesce(min(found.quick_check), '') FROM sqlite_schema AS t, pragma_quick_check(t.name) AS found WHERE t.type = 'table' AND t.rootpage > 0 AND found.quick_check <> 'ok'"
	versions       = "SELECT (SELECT user_version FROM pragma_user_version) || ' ' || (SELECT group_concat(version) FROM migrations)"
)

// everyVersion is what versions gives once all scripts have run.
func everyVersion(t *testing.T) string {
	t.Helper()
	scripts, err := fs.Glob(schema.Migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range scripts {
		all = append(all, strconv.Itoa(i+1))
	}
	return strconv.Itoa(len(all)) + " " + strings.Join(all, ",")
}

// checkDatabase looks for damage and for rows that do not fit together, also
// while the program runs.
func checkDatabase(t *testing.T, path string) {
	t.Helper()
	db := openDatabase(t, path, "ro")
	defer closeDatabase(t, db)
	expectRow(t, db, quickCheck, "")
	expectRow(t, db, versions, everyVersion(t))
	for _, query := range []string{sameExtensions, samePages, wrongTotals, withoutWords, withoutPage} {
		expectRow(t, db, query, "0")
	}
}

// storedPages reads the size of every page past the indexes. The admin API lists
// the newest alone.
func storedPages(t *testing.T, path string) map[pageKey]int {
	t.Helper()
	db := openDatabase(t, path, "ro")
	defer closeDatabase(t, db)
	rows, err := db.QueryContext(t.Context(), "SELECT origin, url, length(CAST(body AS BLOB)) FROM pages NOT INDEXED")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // read to its end below
	found := map[pageKey]int{}
	for rows.Next() {
		var k pageKey
		var address string
		var size int
		if err := rows.Scan(&k.origin, &address, &size); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(address, pageURL, &k.number); err != nil {
			t.Errorf("a page at %s was never sent", address)
		}
		found[k] = size
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// checkClosedDatabase takes the time for the whole check, the full text's too.
func checkClosedDatabase(t *testing.T, path string) {
	t.Helper()
	checkDatabase(t, path)
	db := openDatabase(t, path, "rw")
	defer closeDatabase(t, db)
	expectRow(t, db, "PRAGMA integrity_check", "ok")
	if _, err := db.ExecContext(t.Context(), "INSERT INTO page_words (page_words) VALUES ('integrity-check')"); err != nil {
		t.Errorf("the words of the pages: %v", err)
	}
}
