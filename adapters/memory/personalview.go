package memory

import (
	"cmp"
	"math"
	"slices"
	"time"

	"plexus/domain/conversations"
	"plexus/ports"
)

// personalView reads one state.
type personalView struct{ personalState }

// toMillis keeps a time as a database would.
func toMillis(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }

// Conversation implements ports.ConversationReader.
func (v *personalView) Conversation(id string) (conversations.Conversation, error) {
	if t := v.threads[id]; t != nil {
		return t.Conversation, nil
	}
	return conversations.Conversation{}, ports.ErrConversationUnknown
}

// TopicBySubject implements ports.ConversationReader.
func (v *personalView) TopicBySubject(subjectKey string) (conversations.Conversation, error) {
	for _, t := range v.threads {
		if subjectKey != "" && t.SubjectKey == subjectKey {
			return t.Conversation, nil
		}
	}
	return conversations.Conversation{}, ports.ErrConversationUnknown
}

// Conversations implements ports.ConversationReader. Of two that were updated
// at the same time, the one that was put first is the older.
func (v *personalView) Conversations(q ports.ConversationQuery) ([]conversations.Conversation, error) {
	threads := v.ofKind(q.Kind)
	if q.UpdatedBefore > 0 {
		threads = slices.DeleteFunc(threads, func(t *thread) bool { return t.day >= q.UpdatedBefore })
	}
	slices.SortFunc(threads, func(a, b *thread) int {
		older := cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.put, b.put))
		if q.Oldest && q.Kind != "" {
			older = cmp.Or(cmp.Compare(a.day, b.day), older)
		}
		if q.Oldest {
			return older
		}
		return -older
	})
	threads = threads[min(max(q.Offset, 0), len(threads)):]
	var list []conversations.Conversation
	for _, t := range threads[:min(max(q.Limit, 0), len(threads))] {
		list = append(list, t.Conversation)
	}
	return list, nil
}

// CountConversations implements ports.ConversationReader.
func (v *personalView) CountConversations(kind conversations.Kind) (int, error) {
	return len(v.ofKind(kind)), nil
}

func (v *personalView) ofKind(kind conversations.Kind) []*thread {
	var list []*thread
	for _, t := range v.threads {
		if kind == "" || t.Kind == kind {
			list = append(list, t)
		}
	}
	return list
}

// Message implements ports.MessageReader.
func (v *personalView) Message(conversationID, id string) (conversations.Message, error) {
	return v.find(conversationID, func(m *conversations.Message) bool { return m.ID == id })
}

// MessageByRequest implements ports.MessageReader.
func (v *personalView) MessageByRequest(conversationID, requestID string) (conversations.Message, error) {
	return v.find(conversationID, func(m *conversations.Message) bool { return requestID != "" && m.RequestID == requestID })
}

func (v *personalView) find(conversationID string, wanted func(*conversations.Message) bool) (conversations.Message, error) {
	if t := v.threads[conversationID]; t != nil {
		if i := slices.IndexFunc(t.messages, wanted); i >= 0 {
			return *t.messages[i], nil
		}
	}
	return conversations.Message{}, ports.ErrMessageUnknown
}

// MessagesBefore implements ports.MessageReader.
func (v *personalView) MessagesBefore(conversationID string, before int64, limit int, visit func(conversations.Message) bool) error {
	if before == 0 {
		before = math.MaxInt64
	}
	t := v.threads[conversationID]
	if t == nil {
		return nil
	}
	end, _ := slices.BinarySearchFunc(t.messages, before, func(m *conversations.Message, seq int64) int { return cmp.Compare(m.Seq, seq) })
	for _, m := range slices.Backward(t.messages[max(0, end-max(limit, 0)):end]) {
		if !visit(*m) {
			return nil
		}
	}
	return nil
}

// UnreadAfter implements ports.MessageReader.
func (v *personalView) UnreadAfter(conversationID string, after int64) (n int, err error) {
	t := v.threads[conversationID]
	if t == nil {
		return 0, nil
	}
	for _, m := range slices.Backward(t.messages) {
		if m.Seq <= after {
			break
		}
		if m.Role == conversations.Assistant {
			n++
		}
	}
	return n, nil
}

// Record implements ports.RecordReader.
func (v *personalView) Record(kind, id string) ([]byte, error) {
	list := v.records[kind]
	if i := recordIndex(list, id); i >= 0 {
		return slices.Clone(list[i].Body), nil
	}
	return nil, ports.ErrRecordUnknown
}

// Records implements ports.RecordReader.
func (v *personalView) Records(kind string, limit int) ([]ports.Record, error) {
	var list []ports.Record
	for _, r := range v.records[kind] {
		if len(list) >= limit {
			break
		}
		list = append(list, ports.Record{ID: r.ID, Body: slices.Clone(r.Body)})
	}
	return list, nil
}
