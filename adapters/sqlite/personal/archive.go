package personal

import (
	"context"
	"slices"
	"strings"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/text"
	"plexus/ports"
)

const (
	searchSQL = `SELECT m.seq, m.id, m.role, m.created_at, m.turn_id, m.reply_to, m.request_id, m.status, m.delivery,
		  m.todo_id, m.todo_version, m.text, c.id, c.title
		FROM message_words AS w JOIN messages AS m ON m.seq = w.rowid JOIN conversations AS c ON c.number = m.conversation
		WHERE w.message_words MATCH ? ORDER BY w.rowid DESC LIMIT ?`
	sizesSQL = "SELECT conversations, topics, messages, message_bytes FROM personal_totals"
)

// SearchMessages implements ports.PersonalArchive.
func (s *Store) SearchMessages(ctx context.Context, wanted string, limit int) ([]ports.FoundMessage, error) {
	words := text.Stems(wanted)
	if len(words) == 0 || limit < 1 {
		return nil, nil
	}
	slices.Sort(words)
	match := `"` + strings.Join(slices.Compact(words), `" "`) + `"` // letters and digits only, so that a text cannot use the syntax of FTS5
	return sqlitex.All(ctx, s.reader, "search messages", func(row sqlitex.Scanner) (f ports.FoundMessage, err error) {
		var conversation string
		err = scanMessage(row, "", &f.Message, &conversation, &f.Title)
		f.ConversationID = conversation
		return f, err
	}, searchSQL, match, limit)
}

// PersonalSizes implements ports.PersonalArchive.
func (s *Store) PersonalSizes(ctx context.Context) (z ports.PersonalSizes, err error) {
	row := s.reader.QueryRowContext(ctx, sizesSQL)
	err = row.Scan(&z.Conversations, &z.Topics, &z.Messages, &z.MessageBytes)
	return z, sqlitex.Wrap("read personal totals", err)
}

// EraseTraces implements ports.PersonalArchive: the words of deleted messages go out
// of the full text table, what the log holds is moved into the database, and the log
// is emptied. A look that outlasts the wait of the writing connection is
// sqlitex.ErrBusy, and leaves it as it is.
func (s *Store) EraseTraces(ctx context.Context) error {
	if err := sqlitex.EraseWords(ctx, s.writer, "message_words"); err != nil {
		return sqlitex.Wrap("erase words of messages", err)
	}
	return sqlitex.Wrap("empty the log", sqlitex.EmptyLog(ctx, s.writer))
}
