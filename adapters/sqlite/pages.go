package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
)

const (
	snippetLength = 200 // characters, about
	maxQueryWords = 32  // of a question that are searched for
)

// Pages is the page index. Texts are stored as they came; the full text table
// holds their words, endings folded, between blanks.
type Pages struct {
	writer, reader *sql.DB
	now            func() time.Time
	bounds         pages.Bounds
}

var _ ports.PageIndex = (*Pages)(nil)

// IndexPage implements ports.PageIndex.
func (p *Pages) IndexPage(ctx context.Context, page pages.Page, still func() bool) error {
	if still != nil && !still() {
		return nil
	}
	// Cut into words before the one writer is taken.
	title, body := strings.Join(text.Stems(page.Title), " "), strings.Join(text.Stems(page.Text), " ")
	now := p.now()
	err := sqlitex.InTx(ctx, p.writer, func(tx *sql.Tx) error {
		if still != nil && !still() {
			return nil
		}
		var id int64
		err := tx.QueryRowContext(ctx, `INSERT INTO pages (origin, url, last_seen, bytes, title, body)
			VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (origin, url) DO UPDATE SET
			  last_seen = excluded.last_seen, bytes = excluded.bytes, title = excluded.title, body = excluded.body
			RETURNING id`,
			page.Origin, page.URL, now.UnixMilli(), len(page.Text), page.Title, page.Text).Scan(&id)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "REPLACE INTO page_words (rowid, title, body) VALUES (?, ?, ?)", id, title, body); err != nil {
			return err
		}
		return p.keepBounds(ctx, tx, id, now)
	})
	return sqlitex.Wrap("index page", err)
}

// keepBounds evicts what is too old, then the oldest seen until the rest fits.
// The page that was just indexed stays.
func (p *Pages) keepBounds(ctx context.Context, tx *sql.Tx, fresh int64, now time.Time) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM pages WHERE last_seen < ? AND id <> ?", p.oldest(now), fresh)
	if err != nil {
		return err
	}
	for {
		var count int
		var bytes int64
		if err := tx.QueryRowContext(ctx, "SELECT pages, bytes FROM page_totals").Scan(&count, &bytes); err != nil {
			return err
		}
		if count <= 1 || count <= p.bounds.Pages && bytes <= p.bounds.Bytes {
			return nil
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM pages WHERE id = (SELECT id FROM pages WHERE id <> ? ORDER BY last_seen, id LIMIT 1)", fresh)
		if err != nil {
			return err
		}
	}
}

// oldest is the last-seen time, in Unix milliseconds, before which a page is
// too old.
func (p *Pages) oldest(now time.Time) int64 { return now.Add(-p.bounds.Age).UnixMilli() }

// A page that several origins brought is one result; its best row stands for it.
// Only the rows that are given back have their texts read.
const searchSQL = `
WITH hits AS MATERIALIZED (
  SELECT pages.id, pages.url, pages.last_seen, -bm25(page_words, 4.0, 1.0) AS score
  FROM page_words JOIN pages ON pages.id = page_words.rowid
  WHERE page_words MATCH @words
    AND (@all OR pages.origin = @reader)
    AND pages.url <> @exclude
    AND pages.last_seen >= @oldest
), best AS (
  SELECT id, last_seen, max(score) AS score FROM hits GROUP BY url
  ORDER BY score DESC, last_seen DESC, id DESC LIMIT @limit
)
SELECT pages.url, pages.title, pages.body, best.score
FROM best JOIN pages ON pages.id = best.id
ORDER BY best.score DESC, best.last_seen DESC, best.id DESC`

// SearchPages implements ports.PageIndex.
func (p *Pages) SearchPages(ctx context.Context, q ports.PageQuery) ([]framing.Result, error) {
	words := answers.Keywords(q.Text)
	words = words[:min(len(words), maxQueryWords)]
	if len(words) == 0 || q.Limit < 1 {
		return nil, nil
	}
	// Any of the words. Each is quoted and holds letters and digits only, so that a
	// question cannot use the syntax of FTS5.
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + text.Stem(w) + `"`
	}
	scan := func(row sqlitex.Scanner) (r framing.Result, err error) {
		var body string
		err = row.Scan(&r.URL, &r.Title, &body, &r.Score)
		r.Snippet = text.Snippet(body, words, snippetLength)
		return r, err
	}
	return sqlitex.All(ctx, p.reader, "search pages", scan, searchSQL,
		sql.Named("words", strings.Join(quoted, " OR ")),
		sql.Named("all", q.Shared || q.Reader == pages.Owner),
		sql.Named("reader", q.Reader),
		sql.Named("exclude", q.ExcludeURL),
		sql.Named("oldest", p.oldest(p.now())),
		sql.Named("limit", q.Limit))
}

// Pages implements ports.PageIndex.
func (p *Pages) Pages(ctx context.Context, limit int) ([]pages.Listing, error) {
	scan := func(row sqlitex.Scanner) (l pages.Listing, err error) {
		var seen int64
		err = row.Scan(&l.URL, &l.Title, &l.Origin, &l.Bytes, &seen)
		l.LastSeen = time.UnixMilli(seen)
		return l, err
	}
	return sqlitex.All(ctx, p.reader, "list pages", scan,
		"SELECT url, title, origin, bytes, last_seen FROM pages ORDER BY last_seen DESC, id DESC LIMIT ?", max(limit, 0))
}

// ClearPages implements ports.PageIndex. What was removed is also taken out of
// the file, so that its texts cannot be read there any more; the log follows at
// the next checkpoint if a reader holds it just now.
func (p *Pages) ClearPages(ctx context.Context) (n int, err error) {
	err = sqlitex.InTx(ctx, p.writer, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "SELECT pages FROM page_totals").Scan(&n); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM pages"); err != nil {
			return err
		}
		// Deleted rows leave their words behind until segments are merged.
		_, err := tx.ExecContext(ctx, "INSERT INTO page_words (page_words) VALUES ('delete-all')")
		return err
	})
	if err != nil {
		return 0, sqlitex.Wrap("clear pages", err)
	}
	_, err = p.writer.ExecContext(ctx, "VACUUM")
	if err == nil {
		var busy, inLog, moved int
		err = p.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inLog, &moved)
	}
	if err != nil {
		return n, sqlitex.Wrap("pages are cleared; give their room back", err)
	}
	return n, nil
}
