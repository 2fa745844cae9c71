package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/retention"
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

// index keeps a page in a transaction that writes.
func (p *Pages) index(ctx context.Context, tx *sql.Tx, page pages.Page) error {
	title, body := strings.Join(text.Stems(page.Title), " "), strings.Join(text.Stems(page.Text), " ")
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO pages (origin, url, last_seen, last_day, bytes, title, body)
		VALUES (?, ?, ?, (SELECT day FROM run_days), ?, ?, ?)
		ON CONFLICT (origin, url) DO UPDATE SET
		  last_seen = excluded.last_seen, last_day = excluded.last_day, bytes = excluded.bytes, title = excluded.title, body = excluded.body
		RETURNING id`,
		page.Origin, page.URL, p.now().UnixMilli(), len(page.Text), page.Title, page.Text).Scan(&id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "REPLACE INTO page_words (rowid, title, body) VALUES (?, ?, ?)", id, title, body); err != nil {
		return err
	}
	return p.keepBounds(ctx, tx, id)
}

// keepBounds evicts the oldest seen until the rest fits. The page that was just
// indexed stays.
func (p *Pages) keepBounds(ctx context.Context, tx *sql.Tx, fresh int64) error {
	for {
		var count int
		var bytes int64
		if err := tx.QueryRowContext(ctx, "SELECT pages, bytes FROM page_totals").Scan(&count, &bytes); err != nil {
			return err
		}
		if count <= 1 || count <= p.bounds.Pages && bytes <= p.bounds.Bytes {
			return nil
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM pages WHERE id = (SELECT id FROM pages WHERE id <> ? ORDER BY last_day, last_seen, id LIMIT 1)", fresh)
		if err != nil {
			return err
		}
	}
}

// A page that several origins brought is one result; its best row stands for it.
// Only the rows that are given back have their texts read.
const searchSQL = `
WITH hits AS MATERIALIZED (
  SELECT pages.id, pages.url, pages.last_seen, -bm25(page_words, 4.0, 1.0) AS score
  FROM page_words JOIN pages ON pages.id = page_words.rowid
  WHERE page_words MATCH @words
    AND (@all OR pages.origin = @reader)
    AND pages.url <> @exclude
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
		sql.Named("limit", q.Limit))
}

// listedSQL is a part of the list. The part is chosen first, so that of the pages
// before it nothing is read.
const listedSQL = `SELECT url, title, origin, bytes, last_seen
FROM (SELECT id FROM pages %s ORDER BY last_seen DESC, id DESC LIMIT @limit OFFSET @offset) JOIN pages USING (id)
ORDER BY last_seen DESC, id DESC`

// wantedSQL holds for pages with all words, or with a text in address or title.
const wantedSQL = `WHERE instr(lower(url), @text) OR instr(lower(title), @text)
  OR @words <> '' AND id IN (SELECT rowid FROM page_words WHERE page_words MATCH @words)`

// Pages implements ports.PageIndex.
func (p *Pages) Pages(ctx context.Context, q ports.PageList) (list []pages.Listing, total int, err error) {
	where, count := "", "SELECT pages FROM page_totals"
	args := []any{sql.Named("limit", max(q.Limit, 0)), sql.Named("offset", max(q.Offset, 0))}
	var wanted []any
	if asked := strings.TrimSpace(q.Text); asked != "" {
		where, count = wantedSQL, "SELECT count(*) FROM pages "+wantedSQL
		words := text.Stems(asked)
		for i, w := range words {
			words[i] = `"` + w + `"` // letters and digits only
		}
		wanted = []any{sql.Named("text", strings.ToLower(asked)), sql.Named("words", strings.Join(words[:min(len(words), maxQueryWords)], " "))}
	}
	if err := p.reader.QueryRowContext(ctx, count, wanted...).Scan(&total); err != nil {
		return nil, 0, sqlitex.Wrap("count pages", err)
	}
	list, err = sqlitex.All(ctx, p.reader, "list pages", func(row sqlitex.Scanner) (l pages.Listing, err error) {
		var seen int64
		err = row.Scan(&l.URL, &l.Title, &l.Origin, &l.Bytes, &seen)
		l.LastSeen = time.UnixMilli(seen)
		return l, err
	}, fmt.Sprintf(listedSQL, where), append(args, wanted...)...)
	return list, total, err
}

// unerased is the key of meta that is there while words of forgotten pages may be in
// the files.
const unerased = "pages_unerased"

// ForgetPages implements ports.PageIndex.
func (p *Pages) ForgetPages(ctx context.Context, goes func(url string) bool) (n int, err error) {
	err = sqlitex.InTx(ctx, p.writer, func(tx *sql.Tx) error {
		var ids []int64
		query := func() (*sql.Rows, error) { return tx.QueryContext(ctx, "SELECT id, url FROM pages") }
		err := sqlitex.Each(query, func(row sqlitex.Scanner) (bool, error) {
			var id int64
			var url string
			err := row.Scan(&id, &url)
			if err == nil && goes(url) {
				ids = append(ids, id)
			}
			return true, err
		})
		if n = len(ids); err != nil || n == 0 {
			return err
		}
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "DELETE FROM pages WHERE id = ?", id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO meta VALUES (?, x'01') ON CONFLICT DO NOTHING", unerased)
		return err
	})
	if err != nil {
		return 0, sqlitex.Wrap("forget pages", err)
	}
	return n, sqlitex.Wrap("pages are forgotten; erase their words", p.erase(ctx))
}

// ForgetUnseen implements ports.AgingPages.
func (p *Pages) ForgetUnseen(ctx context.Context, before int64) (n int, err error) {
	err = sqlitex.InTx(ctx, p.writer, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, "DELETE FROM pages WHERE last_day < ?", before)
		if err != nil {
			return err
		}
		gone, err := done.RowsAffected()
		if n = int(gone); err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO meta VALUES (?, x'01') ON CONFLICT DO NOTHING", unerased)
		return err
	})
	if err != nil {
		return 0, sqlitex.Wrap("forget old pages", err)
	}
	return n, sqlitex.Wrap("old pages are forgotten; erase their words", p.erase(ctx))
}

// erase takes what was forgotten, now or before, out of the file and its log.
func (p *Pages) erase(ctx context.Context) error {
	var there bool
	err := p.reader.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)", unerased).Scan(&there)
	if err != nil || !there {
		return err
	}
	if err := sqlitex.EraseWords(ctx, p.writer, "page_words"); err != nil {
		return err
	}
	switch err := sqlitex.EmptyLog(ctx, p.writer); {
	case errors.Is(err, sqlitex.ErrBusy):
		return nil // the next removal or start does it
	case err != nil:
		return err
	}
	_, err = p.writer.ExecContext(ctx, "DELETE FROM meta WHERE key = ?", unerased)
	return err
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

// RunDays is the calendar by which age is counted.
type RunDays struct{ writer, reader *sql.DB }

var _ ports.RunDays = (*RunDays)(nil)

// RunDays implements ports.RunDays.
func (r *RunDays) RunDays(ctx context.Context) (c retention.Calendar, err error) {
	var counted int64
	row := r.reader.QueryRowContext(ctx, "SELECT day, counted_at, resume_day, skip FROM run_days")
	if err := row.Scan(&c.Day, &counted, &c.ResumeDay, &c.Skip); err != nil {
		return retention.Calendar{}, sqlitex.Wrap("read run-days", err)
	}
	if counted != 0 {
		c.CountedAt = time.UnixMilli(counted).UTC()
	}
	return c, nil
}

// SetRunDays implements ports.RunDays.
func (r *RunDays) SetRunDays(ctx context.Context, c retention.Calendar) error {
	counted := int64(0)
	if !c.CountedAt.IsZero() {
		counted = c.CountedAt.UnixMilli()
	}
	_, err := r.writer.ExecContext(ctx, "UPDATE run_days SET day = ?, counted_at = ?, resume_day = ?, skip = ?", c.Day, counted, c.ResumeDay, c.Skip)
	return sqlitex.Wrap("store run-days", err)
}
