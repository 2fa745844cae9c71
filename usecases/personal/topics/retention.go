package topics

import (
	"context"
	"slices"

	"plexus/domain/conversations"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
)

// Oldest gives those topics that may go of the first so many, the longest untouched
// first: all but the one that speaks, and the one to keep.
func (t *Topics) Oldest(tx ports.PersonalView, first int, keep string) ([]conversations.Conversation, error) {
	list, err := tx.Conversations(ports.ConversationQuery{Kind: conversations.Topic, Limit: first, Oldest: true})
	return slices.DeleteFunc(list, func(c conversations.Conversation) bool { return c.ID == keep || t.voice.Owns(c.ID) }), err
}

// expire removes topics that nobody touched for long, and the oldest beyond the
// bound. The one named stays, and the one that speaks.
func (t *Topics) expire(tx ports.PersonalTx, keep string) error {
	count, err := tx.CountConversations(conversations.Topic)
	if err != nil {
		return err
	}
	late := t.hub.Timestamp().Add(-t.opts.MaxAge)
	for {
		oldest, err := t.Oldest(tx, 3, keep)
		if err != nil {
			return err
		}
		if len(oldest) == 0 || count <= t.opts.MaxTopics && !oldest[0].UpdatedAt.Before(late) {
			return nil
		}
		if err := stored.DropConversation(tx, oldest[0].ID); err != nil {
			return err
		}
		count--
	}
}

// KeepBounds removes the topics that were untouched for longest while the texts of
// all messages have more than MaxBytes together. When none is left to remove, no
// more text is taken.
func (t *Topics) KeepBounds(ctx context.Context) error {
	for {
		sizes, err := t.archive.PersonalSizes(ctx)
		if err != nil || sizes.MessageBytes <= t.opts.MaxBytes {
			t.full.Store(false)
			return err
		}
		dropped := ""
		err = t.hub.Update(ctx, func(tx ports.PersonalTx) error {
			oldest, err := t.Oldest(tx, 2, "")
			if err != nil {
				return err
			}
			if len(oldest) == 0 {
				return hub.ErrUnchanged
			}
			dropped = oldest[0].ID
			return stored.DropConversation(tx, dropped)
		})
		if err != nil || dropped == "" {
			t.full.Store(err == nil)
			return err
		}
		t.dropTurns(dropped)
	}
}

// Full reports whether there is no room for another text. The figure may be out of
// date, so it is read again before the answer is yes.
func (t *Topics) Full(ctx context.Context) (bool, error) {
	if !t.full.Load() {
		return false, nil
	}
	err := t.KeepBounds(ctx)
	return t.full.Load(), err
}
