package personal

import (
	"database/sql"
	"math"

	"plexus/domain/conversations"
	"plexus/ports"
)

// Message implements ports.MessageReader.
func (w *work) Message(conversationID, id string) (conversations.Message, error) {
	return w.message(messageByID, conversationID, id)
}

// MessageByRequest implements ports.MessageReader.
func (w *work) MessageByRequest(conversationID, requestID string) (conversations.Message, error) {
	return w.message(messageByRequest, conversationID, requestID)
}

func (w *work) message(k statement, conversationID, key string) (m conversations.Message, err error) {
	scan := func(row scanner) error { return scanMessage(row, conversationID, &m) }
	err = w.row(k, "read message", ports.ErrMessageUnknown, scan, conversationID, key)
	return m, err
}

// MessagesBefore implements ports.MessageReader. A walk within a walk has a
// statement of its own, since the prepared one is busy.
func (w *work) MessagesBefore(conversationID string, before int64, limit int, visit func(conversations.Message) bool) error {
	if w.failed != nil {
		return w.failed
	}
	if before == 0 {
		before = math.MaxInt64
	}
	args := []any{conversationID, before, max(limit, 0)}
	query := func() (*sql.Rows, error) { return w.use(messagesBefore).QueryContext(w.ctx, args...) }
	if w.visits > 0 {
		query = func() (*sql.Rows, error) { return w.tx.QueryContext(w.ctx, messagesBefore.text(), args...) }
	}
	w.visits++
	defer func() { w.visits-- }()
	return w.fail("read messages", eachRow(query, func(row scanner) (bool, error) {
		var m conversations.Message
		if err := scanMessage(row, conversationID, &m); err != nil {
			return false, err
		}
		return visit(m), nil
	}))
}

// UnreadAfter implements ports.MessageReader.
func (w *work) UnreadAfter(conversationID string, after int64) (n int, err error) {
	err = w.row(unreadAfter, "count unread messages", nil, into(&n), conversationID, after)
	return n, err
}

// AddMessage implements ports.MessageWriter.
func (w *work) AddMessage(m conversations.Message) (seq int64, err error) {
	err = w.row(addMessage, "add message", ports.ErrConversationUnknown, into(&seq),
		m.ConversationID, m.ID, string(m.Role), m.CreatedAt.UnixMilli(), m.TurnID, m.ReplyTo, m.RequestID,
		string(m.Status), string(m.Delivery), m.Todo.ID, int64(m.Todo.Version), m.Text)
	if err != nil {
		return 0, err
	}
	return seq, w.indexWords(seq, m.Text)
}

// SetMessage implements ports.MessageWriter.
func (w *work) SetMessage(m conversations.Message) error {
	var seq int64
	var sameText bool
	err := w.row(findMessage, "find message", ports.ErrMessageUnknown, into(&seq, &sameText), m.ConversationID, m.ID, m.Text)
	if err != nil {
		return err
	}
	_, err = w.exec(setMessage, "set message", seq, string(m.Role), m.CreatedAt.UnixMilli(), m.TurnID, m.ReplyTo, m.RequestID,
		string(m.Status), string(m.Delivery), m.Todo.ID, int64(m.Todo.Version), m.Text)
	if err != nil || sameText {
		return err
	}
	return w.indexWords(seq, m.Text)
}

func (w *work) indexWords(seq int64, text string) error {
	_, err := w.exec(setWords, "index message", seq, joinWords(text))
	return err
}

// DropMessages implements ports.MessageWriter.
func (w *work) DropMessages(conversationID string) (int, error) {
	return w.exec(dropMessages, "drop messages", conversationID)
}

// InterruptPending implements ports.MessageWriter.
func (w *work) InterruptPending() (int, error) {
	return w.exec(interruptPending, "interrupt messages")
}

func scanMessage(row scanner, conversationID string, m *conversations.Message, more ...any) error {
	var created, version int64
	err := row.Scan(append([]any{&m.Seq, &m.ID, &m.Role, &created, &m.TurnID, &m.ReplyTo, &m.RequestID,
		&m.Status, &m.Delivery, &m.Todo.ID, &version, &m.Text}, more...)...)
	m.ConversationID, m.CreatedAt, m.Todo.Version = conversationID, fromMillis(created), uint64(version)
	return err
}
