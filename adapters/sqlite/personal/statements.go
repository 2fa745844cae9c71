package personal

import (
	"context"
	"database/sql"
	"errors"

	"plexus/adapters/sqlite/sqlitex"
)

// statement names one of the store's statements.
type statement int

const (
	conversationByID statement = iota
	conversationBySubject
	listAll
	listAllOldest
	listKind
	listKindOldest
	listKindAged
	countAll
	countKind
	messageByID
	messageByRequest
	messagesBefore
	unreadAfter
	recordByID
	recordsInOrder
	lastRead // the rest is for a transaction that writes

	putConversation
	dropConversation
	addMessage
	findMessage
	setMessage
	setWords
	dropMessages
	interruptPending
	putRecord
	evictRecords
	dropRecord
	beginChange
	rollbackChange
	endChange
	lastStatement
)

const (
	conversationColumns = "id, kind, title, subject_key, created_at, updated_at, generation, unread, read_through"
	messageColumns      = "seq, id, role, created_at, turn_id, reply_to, request_id, status, delivery, todo_id, todo_version, text"

	fromConversations = "SELECT " + conversationColumns + " FROM conversations "
	fromMessages      = "SELECT " + messageColumns + " FROM messages WHERE conversation = " + numberOf
	// The planner might take a walk over every conversation's messages for cheaper.
	inOrder  = "messages INDEXED BY messages_conversation WHERE conversation = " + numberOf
	numberOf = "(SELECT number FROM conversations WHERE id = ?1)"
)

// text gives a statement's SQL. Of two conversations that were updated at the
// same time, the one that was put first is the older.
func (s statement) text() string {
	return [lastStatement]string{
		conversationByID:      fromConversations + "WHERE id = ?",
		conversationBySubject: fromConversations + "WHERE subject_key = ? AND subject_key <> ''",
		listAll:               fromConversations + "ORDER BY updated_at DESC, number DESC LIMIT ? OFFSET ?",
		listAllOldest:         fromConversations + "ORDER BY updated_at, number LIMIT ? OFFSET ?",
		listKind:              fromConversations + "WHERE kind = ? ORDER BY updated_at DESC, number DESC LIMIT ? OFFSET ?",
		listKindOldest:        fromConversations + "WHERE kind = ? ORDER BY updated_day, updated_at, number LIMIT ? OFFSET ?",
		listKindAged:          fromConversations + "WHERE kind = ? AND updated_day < ? ORDER BY updated_day, updated_at, number LIMIT ? OFFSET ?",
		countAll:              "SELECT conversations FROM personal_totals",
		countKind:             "SELECT count(*) FROM conversations WHERE kind = ?",
		messageByID:           fromMessages + " AND id = ?2",
		messageByRequest:      fromMessages + " AND request_id = ?2 AND request_id <> ''",
		messagesBefore:        "SELECT " + messageColumns + " FROM " + inOrder + " AND seq < ?2 ORDER BY seq DESC LIMIT ?3",
		unreadAfter:           "SELECT count(*) FROM " + inOrder + " AND seq > ?2 AND role = 'assistant'",
		recordByID:            "SELECT body FROM records WHERE area = ? AND id = ?",
		recordsInOrder:        "SELECT id, body FROM records WHERE area = ? ORDER BY number LIMIT ?",

		putConversation: "INSERT INTO conversations (" + conversationColumns + `, updated_day) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT day FROM run_days))
			ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, title = excluded.title, subject_key = excluded.subject_key,
			  created_at = excluded.created_at, updated_day = iif(excluded.updated_at = updated_at, updated_day, excluded.updated_day),
			  updated_at = excluded.updated_at, generation = excluded.generation,
			  unread = excluded.unread, read_through = excluded.read_through`,
		dropConversation: "DELETE FROM conversations WHERE id = ?",
		addMessage: `INSERT INTO messages (conversation, id, role, created_at, turn_id, reply_to, request_id,
			  status, delivery, todo_id, todo_version, text)
			SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM conversations WHERE id = ?1 RETURNING seq`,
		findMessage: "SELECT seq, text = ?3 FROM messages WHERE conversation = " + numberOf + " AND id = ?2",
		setMessage: `UPDATE messages SET role = ?2, created_at = ?3, turn_id = ?4, reply_to = ?5, request_id = ?6,
			  status = ?7, delivery = ?8, todo_id = ?9, todo_version = ?10, text = ?11 WHERE seq = ?1`,
		setWords:         "REPLACE INTO message_words (rowid, words) VALUES (?, ?)",
		dropMessages:     "DELETE FROM messages WHERE conversation = " + numberOf,
		interruptPending: "UPDATE messages SET status = 'interrupted' WHERE status = 'pending'",
		putRecord:        "INSERT INTO records (area, id, body) VALUES (?, ?, ?) ON CONFLICT (area, id) DO UPDATE SET body = excluded.body",
		evictRecords: `DELETE FROM records WHERE number IN (SELECT number FROM records WHERE area = ?1 ORDER BY number
			LIMIT max(0, (SELECT records FROM record_totals WHERE area = ?1) - ?2))`,
		dropRecord: "DELETE FROM records WHERE area = ? AND id = ?",

		beginChange:    "SAVEPOINT change",
		rollbackChange: "ROLLBACK TO change",
		endChange:      "RELEASE change",
	}[s]
}

// statements are prepared once for a pool, whose connections each keep them.
type statements [lastStatement]*sql.Stmt

// prepare readies the statements before end.
func prepare(ctx context.Context, pool *sql.DB, end statement) (*statements, error) {
	var all statements
	for s := range end {
		ready, err := pool.PrepareContext(ctx, s.text())
		if err != nil {
			return nil, sqlitex.Wrap("prepare statement", err)
		}
		all[s] = ready
	}
	return &all, nil
}

// session runs statements in one transaction.
type session struct {
	ctx    context.Context
	tx     *sql.Tx
	pool   *statements
	bound  statements // those of pool, tied to tx
	visits int        // walks over messages that go on

	indexPage PageIndexer // nil where nothing is written
}

func (s *session) use(k statement) *sql.Stmt {
	if s.bound[k] == nil {
		s.bound[k] = s.tx.StmtContext(s.ctx, s.pool[k])
	}
	return s.bound[k]
}

// transaction is what one change or one look does in its session. After a failure it
// does nothing more: SQLite may have taken the transaction back by itself, and
// what came then would be durable at once.
type transaction struct {
	*session
	failed error
}

// fail notes a failure of the store.
func (t *transaction) fail(op string, err error) error {
	if err != nil && t.failed == nil {
		t.failed = sqlitex.Wrap(op, err)
	}
	return t.failed
}

// row reads one row. Where there is none, the error is unknown.
func (t *transaction) row(k statement, op string, unknown error, scan func(row sqlitex.Scanner) error, args ...any) error {
	if t.failed != nil {
		return t.failed
	}
	err := scan(t.use(k).QueryRowContext(t.ctx, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return unknown
	}
	return t.fail(op, err)
}

// rows reads rows until visit gives false.
func (t *transaction) rows(k statement, op string, visit func(row sqlitex.Scanner) (more bool, err error), args ...any) error {
	if t.failed != nil {
		return t.failed
	}
	return t.fail(op, sqlitex.Each(func() (*sql.Rows, error) { return t.use(k).QueryContext(t.ctx, args...) }, visit))
}

// exec says how many rows it changed.
func (t *transaction) exec(k statement, op string, args ...any) (changed int, err error) {
	if t.failed != nil {
		return 0, t.failed
	}
	done, err := t.use(k).ExecContext(t.ctx, args...)
	if err != nil {
		return 0, t.fail(op, err)
	}
	n, err := done.RowsAffected()
	return int(n), t.fail(op, err)
}

func scanInto(dest ...any) func(sqlitex.Scanner) error {
	return func(row sqlitex.Scanner) error { return row.Scan(dest...) }
}

// collect appends each row, as scan reads it, to list.
func collect[T any](list *[]T, scan func(row sqlitex.Scanner, one *T) error) func(sqlitex.Scanner) (bool, error) {
	return func(row sqlitex.Scanner) (bool, error) {
		var one T
		if err := scan(row, &one); err != nil {
			return false, err
		}
		*list = append(*list, one)
		return true, nil
	}
}
