package sqlite

import (
	"context"
	"database/sql"
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/secret"
	"plexus/domain/text"
	"plexus/ports"
)

// PageSessions keeps the owner's page sessions. Times are kept to the
// millisecond.
type PageSessions struct{ writer, reader *sql.DB }

var _ ports.PageSessions = (*PageSessions)(nil)

const pageSessionColumns = "id, cookie_hash, prefix_hash, created_at, last_seen, user_agent"

// AddPageSession implements ports.PageSessions.
func (p *PageSessions) AddPageSession(ctx context.Context, s ports.PageSession) (added ports.PageSession, err error) {
	err = sqlitex.InTx(ctx, p.writer, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM page_sessions WHERE created_at <= ?", oldest(s.CreatedAt)); err != nil {
			return err
		}
		// Keeps one place free.
		_, err := tx.ExecContext(ctx, `DELETE FROM page_sessions WHERE id IN (
			SELECT id FROM page_sessions ORDER BY last_seen DESC, id DESC LIMIT -1 OFFSET ?)`, ports.MaxPageSessions-1)
		if err != nil {
			return err
		}
		row := tx.QueryRowContext(ctx, `INSERT INTO page_sessions (cookie_hash, prefix_hash, created_at, last_seen, user_agent)
			VALUES (?, ?, ?, ?, ?) RETURNING `+pageSessionColumns,
			s.Cookie[:], s.Prefix[:], s.CreatedAt.UnixMilli(), s.LastSeen.UnixMilli(), text.Truncate(s.UserAgent, ports.MaxPageUserAgent))
		added, err = scanPageSession(row)
		return err
	})
	return added, sqlitex.Wrap("add page session", err)
}

// oldest is the creation time, in Unix milliseconds, of what has just outlived
// its time.
func oldest(now time.Time) int64 { return now.Add(-ports.PageSessionLife).UnixMilli() }

// FindPageSession implements ports.PageSessions.
func (p *PageSessions) FindPageSession(ctx context.Context, cookie, prefix secret.Hash, now time.Time) (ports.PageSession, error) {
	row := p.reader.QueryRowContext(ctx, "SELECT "+pageSessionColumns+
		" FROM page_sessions WHERE cookie_hash = ? AND prefix_hash = ? AND created_at > ?", cookie[:], prefix[:], oldest(now))
	s, err := scanPageSession(row)
	if err != nil {
		return ports.PageSession{}, noRow("find page session", err, ports.ErrPageSessionUnknown)
	}
	if now.Sub(s.LastSeen) < ports.PageSessionStep {
		return s, nil
	}
	row = p.writer.QueryRowContext(ctx, "UPDATE page_sessions SET last_seen = ? WHERE id = ? RETURNING "+pageSessionColumns, now.UnixMilli(), s.ID)
	s, err = scanPageSession(row)
	return s, noRow("note a page session's visit", err, ports.ErrPageSessionUnknown) // revoked in between
}

// PageSessions implements ports.PageSessions.
func (p *PageSessions) PageSessions(ctx context.Context, now time.Time) ([]ports.PageSession, error) {
	return sqlitex.All(ctx, p.reader, "list page sessions", scanPageSession,
		"SELECT "+pageSessionColumns+" FROM page_sessions WHERE created_at > ? ORDER BY id", oldest(now))
}

// RevokePageSession implements ports.PageSessions.
func (p *PageSessions) RevokePageSession(ctx context.Context, id int64) error {
	done, err := p.writer.ExecContext(ctx, "DELETE FROM page_sessions WHERE id = ?", id)
	return oneRow("revoke page session", done, err, ports.ErrPageSessionUnknown)
}

func scanPageSession(row sqlitex.Scanner) (ports.PageSession, error) {
	var (
		s              ports.PageSession
		cookie, prefix []byte
		created, last  int64
	)
	err := row.Scan(&s.ID, &cookie, &prefix, &created, &last, &s.UserAgent)
	if err != nil {
		return ports.PageSession{}, err
	}
	s.CreatedAt, s.LastSeen = time.UnixMilli(created), time.UnixMilli(last)
	if s.Cookie, err = toHash(cookie); err != nil {
		return ports.PageSession{}, err
	}
	s.Prefix, err = toHash(prefix)
	return s, err
}
