package personal

import (
	"time"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/conversations"
	"plexus/ports"
)

// Conversation implements ports.ConversationReader.
func (t *transaction) Conversation(id string) (conversations.Conversation, error) {
	return t.conversation(conversationByID, id)
}

// TopicBySubject implements ports.ConversationReader.
func (t *transaction) TopicBySubject(subjectKey string) (conversations.Conversation, error) {
	return t.conversation(conversationBySubject, subjectKey)
}

func (t *transaction) conversation(k statement, key string) (c conversations.Conversation, err error) {
	err = t.row(k, "read conversation", ports.ErrConversationUnknown, func(row sqlitex.Scanner) error { return scanConversation(row, &c) }, key)
	return c, err
}

// Conversations implements ports.ConversationReader.
func (t *transaction) Conversations(q ports.ConversationQuery) (list []conversations.Conversation, err error) {
	k, args := listAll, []any{max(q.Limit, 0), max(q.Offset, 0)}
	switch {
	case q.Kind != "" && q.Oldest && q.UpdatedBefore > 0:
		k, args = listKindAged, append([]any{q.UpdatedBefore}, args...)
	case q.Kind != "" && q.Oldest:
		k = listKindOldest
	case q.Kind != "":
		k = listKind
	case q.Oldest:
		k = listAllOldest
	}
	if q.Kind != "" {
		args = append([]any{string(q.Kind)}, args...)
	}
	err = t.rows(k, "list conversations", collect(&list, scanConversation), args...)
	return list, err
}

// CountConversations implements ports.ConversationReader.
func (t *transaction) CountConversations(kind conversations.Kind) (n int, err error) {
	if kind == "" {
		err = t.row(countAll, "count conversations", nil, scanInto(&n))
		return n, err
	}
	err = t.row(countKind, "count conversations", nil, scanInto(&n), string(kind))
	return n, err
}

// PutConversation implements ports.ConversationWriter.
func (t *transaction) PutConversation(c conversations.Conversation) error {
	if t.failed != nil {
		return t.failed
	}
	_, err := t.use(putConversation).ExecContext(t.ctx, c.ID, string(c.Kind), c.Title, c.SubjectKey,
		c.CreatedAt.UnixMilli(), c.UpdatedAt.UnixMilli(), int64(c.Generation), c.Unread, c.ReadThrough)
	if sqlitex.NotUnique(err) { // of the two keys a conflict of the other one is an update
		return ports.ErrSubjectTaken
	}
	return t.fail("store conversation", err)
}

// DropConversation implements ports.ConversationWriter.
func (t *transaction) DropConversation(id string) error {
	n, err := t.exec(dropConversation, "drop conversation", id)
	if err == nil && n == 0 {
		return ports.ErrConversationUnknown
	}
	return err
}

func scanConversation(row sqlitex.Scanner, c *conversations.Conversation) error {
	var created, updated, generation int64
	err := row.Scan(&c.ID, &c.Kind, &c.Title, &c.SubjectKey, &created, &updated, &generation, &c.Unread, &c.ReadThrough)
	c.CreatedAt, c.UpdatedAt, c.Generation = fromMillis(created), fromMillis(updated), uint64(generation)
	return err
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
