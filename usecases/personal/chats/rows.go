package chats

import (
	"errors"
	"math"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
)

// memberName is the member of the snapshot.
const memberName = "conversations"

// Snapshot is what the member shows.
type Snapshot struct {
	// Conversations in the order in which they are shown, at most
	// workbench.MaxShownConversations: selected, voice owner, main, proactive, then the
	// most recently updated.
	Conversations []conversations.Conversation
	SelectedID    string
	VoiceID       string // "" for none
	// Messages visits those of the selected conversation, newest first, until visit
	// returns false.
	Messages func(visit func(conversations.Message) bool) error
}

func (c *Chats) section(tx ports.PersonalView, _ *hub.Client) (v hub.Value, err error) {
	s := Snapshot{VoiceID: c.voice.Owner()}
	if s.SelectedID, err = stored.Selected(tx); err != nil {
		return v, err
	}
	if s.Conversations, err = snapshotConversations(tx, s.SelectedID, s.VoiceID); err != nil {
		return v, err
	}
	s.Messages = func(visit func(conversations.Message) bool) error {
		return tx.MessagesBefore(s.SelectedID, 0, workbench.MaxShownMessages, visit)
	}
	return Value(s), nil
}

// snapshotConversations lists those of a snapshot in their order (decision K13).
func snapshotConversations(tx ports.PersonalView, selected, voice string) ([]conversations.Conversation, error) {
	var list []conversations.Conversation
	in := map[string]bool{"": true}
	for _, id := range []string{selected, voice, conversations.MainID, conversations.ProactiveID} {
		if in[id] {
			continue
		}
		in[id] = true
		c, err := tx.Conversation(id)
		switch {
		case err == nil:
			list = append(list, c)
		case !errors.Is(err, ports.ErrConversationUnknown):
			return nil, err
		}
	}
	newest, err := tx.Conversations(ports.ConversationQuery{Limit: workbench.MaxShownConversations})
	for _, c := range newest {
		if !in[c.ID] && len(list) < workbench.MaxShownConversations {
			list = append(list, c)
		}
	}
	return list, err
}

// Value is the member conversations. Only the messages grow: old ones are left out
// as a matter of course.
func Value(s Snapshot) hub.Value {
	member := workbench.ConversationsMember{
		SelectedID: s.SelectedID, VoiceID: workbench.OptionalText(s.VoiceID),
		Items: make([]workbench.ConversationRow, 0, len(s.Conversations)), Messages: []workbench.MessageRow{},
	}
	readThrough := int64(math.MaxInt64) // in all but the proactive one every message has been read (§7.4)
	for _, c := range s.Conversations {
		item := workbench.ConversationRow{
			ID: c.ID, Kind: c.Kind, Title: c.Title, SubjectKey: workbench.OptionalText(c.SubjectKey),
			CreatedAt: workbench.At(c.CreatedAt), UpdatedAt: workbench.At(c.UpdatedAt), Generation: c.Generation,
		}
		if c.Kind == conversations.Proactive {
			item.Unread = c.Unread
			if c.ID == s.SelectedID {
				readThrough = c.ReadThrough
			}
		}
		member.Unread += item.Unread
		member.Items = append(member.Items, item)
	}
	return hub.Value{Fixed: member, List: &hub.List{
		Rows: func(add func(row any) bool) error {
			n := 0
			return s.Messages(func(m conversations.Message) bool {
				row := &workbench.MessageRow{
					ID: m.ID, ConversationID: m.ConversationID, Role: m.Role, Text: m.Text, CreatedAt: workbench.At(m.CreatedAt),
					TurnID: m.TurnID, ReplyTo: m.ReplyTo, RequestID: m.RequestID, Status: m.Status, Delivery: m.Delivery,
					Read: m.Role != conversations.Assistant || m.Seq <= readThrough,
				}
				if m.Todo.ID != "" {
					row.Todo = &workbench.VersionRow{ID: m.Todo.ID, Version: m.Todo.Version}
				}
				n++
				return add(row) && n < workbench.MaxShownMessages
			})
		},
		OldestFirst: true, Closing: "}",
	}}
}
