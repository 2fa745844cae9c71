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

// keepNumber removes the topics beyond the bound that were untouched for longest. The
// one named stays, and the one that speaks.
func (t *Topics) keepNumber(tx ports.PersonalTx, keep string) error {
	count, err := tx.CountConversations(conversations.Topic)
	for ; err == nil && count > t.opts.MaxTopics; count-- {
		oldest, failed := t.Oldest(tx, 3, keep)
		if failed != nil || len(oldest) == 0 {
			return failed
		}
		err = stored.DropConversation(tx, oldest[0].ID)
	}
	return err
}

// expireStep is how many topics go in one change, so that nobody waits long for it.
const expireStep = 50

// Expire removes the topics that nobody touched since before a run-day, the one that
// speaks aside, and says how many.
func (t *Topics) Expire(ctx context.Context, before int64) (n int, err error) {
	for before > 0 {
		var gone []conversations.Conversation
		err := t.hub.Update(ctx, func(tx ports.PersonalTx) (err error) {
			query := ports.ConversationQuery{Kind: conversations.Topic, Limit: expireStep, Oldest: true, UpdatedBefore: before}
			if gone, err = tx.Conversations(query); err != nil {
				return err
			}
			gone = slices.DeleteFunc(gone, func(c conversations.Conversation) bool { return t.voice.Owns(c.ID) })
			if len(gone) == 0 {
				return hub.ErrUnchanged
			}
			for _, c := range gone {
				if err := stored.DropConversation(tx, c.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(gone) == 0 {
			return n, err
		}
		n += len(gone)
		for _, c := range gone {
			t.dropTurns(c.ID)
		}
	}
	return n, nil
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
