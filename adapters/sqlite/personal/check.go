package personal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"plexus/adapters/sqlite/sqlitex"
)

// faultsSQL gives a row for each thing that contradicts another one. The tables
// themselves are checked elsewhere.
const faultsSQL = `
SELECT 'a message without a conversation' WHERE EXISTS (
  SELECT 1 FROM messages WHERE conversation NOT IN (SELECT number FROM conversations))
UNION ALL SELECT 'totals that are not those of the tables' WHERE NOT EXISTS (
  SELECT 1 FROM personal_totals WHERE conversations = (SELECT count(*) FROM conversations)
    AND topics = (SELECT count(*) FROM conversations WHERE kind = 'topic')
    AND (messages, message_bytes) = (SELECT count(*), ifnull(sum(octet_length(text)), 0) FROM messages))
UNION ALL SELECT 'record totals that are not those of the table' WHERE EXISTS (
  SELECT area, count(*) FROM records GROUP BY area EXCEPT SELECT area, records FROM record_totals
  UNION ALL SELECT area, records FROM record_totals WHERE records <> (SELECT count(*) FROM records AS r WHERE r.area = record_totals.area))
UNION ALL SELECT 'a message that the full text table does not know' WHERE EXISTS (
  SELECT seq FROM messages EXCEPT SELECT rowid FROM message_words)
UNION ALL SELECT 'a full text row without a message' WHERE EXISTS (
  SELECT rowid FROM message_words EXCEPT SELECT seq FROM messages)
LIMIT 1`

// Check holds the tables of the store against each other; what does not fit is
// sqlitex.ErrDamaged. It reads them whole. A database that is too old to have
// them fits.
func Check(ctx context.Context, db *sql.DB) error {
	var there bool
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'personal_totals'").Scan(&there)
	if err != nil || !there {
		return sqlitex.Wrap("look for conversations", err)
	}
	var fault string
	err = db.QueryRowContext(ctx, faultsSQL).Scan(&fault)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return sqlitex.Wrap("check conversations", err)
	}
	return fmt.Errorf("check conversations: %w: %s", sqlitex.ErrDamaged, fault)
}
