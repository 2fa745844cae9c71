package personal

import (
	"database/sql"
	"math"
	"strings"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/conversations"
	"plexus/domain/text"
	"plexus/ports"
)

// Message implements ports.MessageReader.
func (t *transaction) Message(conversationID, id string) (conversations.Message, error) {
	return t.message(messageByID, conversationID, id)
}

// MessageByRequest implements ports.MessageReader.
func (t *transaction) MessageByRequest(conversationID, requestID string) (conversations.Message, error) {
	return t.message(messageByRequest, conversationID, requestID)
}

func (t *transaction) message(k statement, conversationID, key string) (m conversations.Message, err error) {
	scan := func(row sqlitex.Scanner) error { return scanMessage(row, conversationID, &m) }
	err = t.row(k, "read message", ports.ErrMessageUnknown, scan, conversationID, key)
	return m, err
}

// MessagesBefore implements ports.MessageReader. A walk within a walk has a
// statement of its own, since the prepared one is busy.
func (t *transaction) MessagesBefore(conversationID string, before int64, limit int, visit func(conversations.Message) bool) error {
	if t.failed != nil {
		return t.failed
	}
	if before == 0 {
		before = math.MaxInt64
	}
	args := []any{conversationID, before, max(limit, 0)}
	query := func() (*sql.Rows, error) { return t.use(messagesBefore).QueryContext(t.ctx, args...) }
	if t.visits > 0 {
		query = func() (*sql.Rows, error) { return t.tx.QueryContext(t.ctx, messagesBefore.text(), args...) }
	}
	t.visits++
	defer func() { t.visits-- }()
	return t.fail("read messages", sqlitex.Each(query, func(row sqlitex.Scanner) (bool, error) {
		var m conversations.Message
		if err := scanMessage(row, conversationID, &m); err != nil {
			return false, err
		}
		return visit(m), nil
	}))
}

// UnreadAfter implements ports.MessageReader.
func (t *transaction) UnreadAfter(conversationID string, after int64) (n int, err error) {
	err = t.row(unreadAfter, "count unread messages", nil, scanInto(&n), conversationID, after)
	return n, err
}

// AddMessage implements ports.MessageWriter.
func (t *transaction) AddMessage(m conversations.Message) (seq int64, err error) {
	err = t.row(addMessage, "add message", ports.ErrConversationUnknown, scanInto(&seq),
		m.ConversationID, m.ID, string(m.Role), m.CreatedAt.UnixMilli(), m.TurnID, m.ReplyTo, m.RequestID,
		string(m.Status), string(m.Delivery), m.Todo.ID, int64(m.Todo.Version), m.Text)
	if err != nil {
		return 0, err
	}
	return seq, t.indexWords(seq, m.Text)
}

// SetMessage implements ports.MessageWriter.
func (t *transaction) SetMessage(m conversations.Message) error {
	var seq int64
	var sameText bool
	err := t.row(findMessage, "find message", ports.ErrMessageUnknown, scanInto(&seq, &sameText), m.ConversationID, m.ID, m.Text)
	if err != nil {
		return err
	}
	_, err = t.exec(setMessage, "set message", seq, string(m.Role), m.CreatedAt.UnixMilli(), m.TurnID, m.ReplyTo, m.RequestID,
		string(m.Status), string(m.Delivery), m.Todo.ID, int64(m.Todo.Version), m.Text)
	if err != nil || sameText {
		return err
	}
	return t.indexWords(seq, m.Text)
}

func (t *transaction) indexWords(seq int64, said string) error {
	_, err := t.exec(setWords, "index message", seq, strings.Join(text.Stems(said), " "))
	return err
}

// DropMessages implements ports.MessageWriter.
func (t *transaction) DropMessages(conversationID string) (int, error) {
	return t.exec(dropMessages, "drop messages", conversationID)
}

// InterruptPending implements ports.MessageWriter.
func (t *transaction) InterruptPending() (int, error) {
	return t.exec(interruptPending, "interrupt messages")
}

func scanMessage(row sqlitex.Scanner, conversationID string, m *conversations.Message, more ...any) error {
	var created, version int64
	err := row.Scan(append([]any{&m.Seq, &m.ID, &m.Role, &created, &m.TurnID, &m.ReplyTo, &m.RequestID,
		&m.Status, &m.Delivery, &m.Todo.ID, &version, &m.Text}, more...)...)
	m.ConversationID, m.CreatedAt, m.Todo.Version = conversationID, fromMillis(created), uint64(version)
	return err
}
