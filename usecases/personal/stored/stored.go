// Package stored reads and writes what several areas of the personal host keep in
// the store: records as JSON, the selected conversation, what a conversation is
// about, and the revision. A record of one area alone is that area's business.
package stored

import (
	"encoding/json"
	"errors"
	"fmt"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/ports"
)

// errDamaged stands for what is wrong with a record: the decoder's own errors
// quote it.
var errDamaged = errors.New("it is damaged")

// Load decodes a record; ok is false when it is not there.
func Load[T any](tx ports.PersonalView, kind, id string) (v T, ok bool, err error) {
	body, err := tx.Record(kind, id)
	if errors.Is(err, ports.ErrRecordUnknown) {
		return v, false, nil
	}
	if err == nil && json.Unmarshal(body, &v) != nil {
		err = errDamaged
	}
	if err != nil {
		return v, false, fmt.Errorf("read %s record: %w", kind, err)
	}
	return v, true, nil
}

// All decodes the records of a kind, the oldest first, at most limit.
func All[T any](tx ports.PersonalView, kind string, limit int) ([]T, error) {
	records, err := tx.Records(kind, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s records: %w", kind, err)
	}
	all := make([]T, len(records))
	for i, r := range records {
		if json.Unmarshal(r.Body, &all[i]) != nil {
			return nil, fmt.Errorf("read %s record: %w", kind, errDamaged)
		}
	}
	return all, nil
}

// Save encodes a record. keep bounds how many there are of its kind, the oldest
// go; 0 is no bound.
func Save(tx ports.PersonalTx, kind, id string, v any, keep int) error {
	body, err := json.Marshal(v)
	if err == nil {
		err = tx.PutRecord(kind, id, body, keep)
	}
	if err != nil {
		return fmt.Errorf("write %s record: %w", kind, err)
	}
	return nil
}

// Kinds of records that belong to no single area.
const (
	hostKind       = "host"       // revision, selected
	backgroundKind = "background" // conversation → what it is about

	revisionID = "revision"
	selectedID = "selected"
)

// Revision is the number of the newest write.
func Revision(tx ports.PersonalView) (uint64, error) {
	revision, _, err := Load[uint64](tx, hostKind, revisionID)
	return revision, err
}

// RaiseRevision adds one to the revision and gives it.
func RaiseRevision(tx ports.PersonalTx) (uint64, error) {
	revision, err := Revision(tx)
	if err != nil {
		return 0, err
	}
	return revision + 1, Save(tx, hostKind, revisionID, revision+1, 0)
}

// Selected is the ID of the conversation that clients show; main when none was
// chosen.
func Selected(tx ports.PersonalView) (string, error) {
	id, ok, err := Load[string](tx, hostKind, selectedID)
	if err == nil && !ok {
		id = conversations.MainID
	}
	return id, err
}

// Select chooses the conversation that clients show.
func Select(tx ports.PersonalTx, id string) error {
	return Save(tx, hostKind, selectedID, id, 0)
}

// Conversation looks one up; a missing one is workbench.ConversationNotFound.
func Conversation(tx ports.PersonalView, id string) (conversations.Conversation, error) {
	c, err := tx.Conversation(id)
	if errors.Is(err, ports.ErrConversationUnknown) {
		return c, workbench.ConversationNotFound
	}
	return c, err
}

// DropConversation removes a conversation and what belongs to it. If it was the
// selected one, main is selected instead.
func DropConversation(tx ports.PersonalTx, id string) error {
	if err := errors.Join(tx.DropConversation(id), DropBackground(tx, id)); err != nil {
		return err
	}
	selected, err := Selected(tx)
	if err != nil || selected != id {
		return err
	}
	return Select(tx, conversations.MainID)
}

// Unread counts what has not been acknowledged in a conversation: reminders alone
// are.
func Unread(tx ports.PersonalView, c conversations.Conversation) (int, error) {
	if c.Kind != conversations.Proactive {
		return 0, nil
	}
	return tx.UnreadAfter(c.ID, c.ReadThrough)
}

// Background is what a conversation is about; ok is false when nothing is known.
func Background(tx ports.PersonalView, conversationID string) (about conversations.Background, ok bool, err error) {
	return Load[conversations.Background](tx, backgroundKind, conversationID)
}

// SaveBackground replaces what a conversation is about.
func SaveBackground(tx ports.PersonalTx, conversationID string, about conversations.Background) error {
	return Save(tx, backgroundKind, conversationID, about, 0)
}

// DropBackground forgets what a conversation is about.
func DropBackground(tx ports.PersonalTx, conversationID string) error {
	return tx.DropRecord(backgroundKind, conversationID)
}
