package personal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Conversations lists the conversations from offset on, the most recently updated
// first, and says how many there are.
func (h *Host) Conversations(ctx context.Context, offset, limit int) (list []conversations.Conversation, total int, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		list, err = tx.Conversations(ports.ConversationQuery{Limit: limit, Offset: offset})
		if err == nil {
			total, err = tx.CountConversations("")
		}
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list conversations: %w", err)
	}
	return list, total, nil
}

// Conversation gives one, and what it is about. A missing one is
// ports.ErrConversationUnknown.
func (h *Host) Conversation(ctx context.Context, id string) (c conversations.Conversation, about conversations.Background, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		if c, err = tx.Conversation(id); err != nil {
			return err
		}
		about, _, err = load[conversations.Background](tx, areaBackground, id)
		return err
	})
	if err != nil {
		return c, about, fmt.Errorf("look a conversation up: %w", err)
	}
	return c, about, nil
}

// Messages gives at most limit messages with a Seq below before (0: the newest),
// the oldest first.
func (h *Host) Messages(ctx context.Context, id string, before int64, limit int) (page []conversations.Message, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		return tx.MessagesBefore(id, before, limit, func(m conversations.Message) bool {
			page = append(page, m)
			return true
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	slices.Reverse(page)
	return page, nil
}

// SearchMessages finds messages with every word of text, the newest first.
func (h *Host) SearchMessages(ctx context.Context, text string, limit int) ([]ports.FoundMessage, error) {
	found, err := h.deps.Archive.SearchMessages(ctx, text, limit)
	if err != nil {
		return nil, fmt.Errorf("search messages: %w", err)
	}
	return found, nil
}

// Sizes says how much is stored.
func (h *Host) Sizes(ctx context.Context) (ports.PersonalSizes, error) {
	sizes, err := h.deps.Archive.PersonalSizes(ctx)
	if err != nil {
		return sizes, fmt.Errorf("measure what is kept: %w", err)
	}
	return sizes, nil
}

// SubmitText admits what the owner writes at the page, of which the caller has
// checked what an input.text has to be. It is durable on return.
// Errors are workbench.Refusal, or failures of the store.
func (h *Host) SubmitText(ctx context.Context, conversationID, text string) error {
	return h.submit(ctx, submission{conversationID: conversationID, text: text})
}

// CreateChat makes a chat; without a title it gets one.
func (h *Host) CreateChat(ctx context.Context, title string) (id string, err error) {
	err = h.change(ctx, showing(func(tx ports.PersonalTx) (string, error) {
		id, err = h.createChat(tx, title)
		return "", err
	}))
	if err != nil {
		return "", fmt.Errorf("create a chat: %w", err)
	}
	return id, nil
}

// Clear empties a conversation. A missing one is workbench.ConversationNotFound,
// one that speaks workbench.VoiceActive.
func (h *Host) Clear(ctx context.Context, id string) error {
	if err := h.change(ctx, h.clearing(workbench.ClearConversation{ID: id})); err != nil {
		return fmt.Errorf("clear a conversation: %w", err)
	}
	return nil
}

// Delete removes a conversation. The two permanent ones are
// workbench.InvalidRequest.
func (h *Host) Delete(ctx context.Context, id string) error {
	err := h.change(ctx, steps{
		before: func(context.Context) error { h.lines.mute(id); return nil },
		change: func(tx ports.PersonalTx) (any, error) {
			c, err := conversation(tx, id)
			if err != nil {
				return nil, err
			}
			switch {
			case c.Permanent():
				return nil, workbench.InvalidRequest
			case h.ownsVoice(id):
				return nil, workbench.VoiceActive
			}
			h.topics.wiped(c)
			return nil, h.dropConversation(tx, id)
		},
		after: func() {
			h.dropTurns(id)
			h.eraseTraces()
		},
		always: func() { h.lines.unmute(id) },
	})
	if err != nil {
		return fmt.Errorf("delete a conversation: %w", err)
	}
	return nil
}

// deleteStep is how many topics one write removes, so that nobody waits long.
const deleteStep = 200

// DeleteTopics removes every topic and says how many there were.
func (h *Host) DeleteTopics(ctx context.Context) (n int, err error) {
	defer h.eraseTraces() // also of those that were deleted before it failed
	h.topics.allWiped()
	for {
		var gone []conversations.Conversation
		err := h.change(ctx, steps{
			change: func(tx ports.PersonalTx) (any, error) {
				var err error
				if gone, err = h.oldestTopics(tx, deleteStep, ""); err != nil {
					return nil, err
				}
				if len(gone) == 0 {
					return nil, errUnchanged
				}
				for _, c := range gone {
					if err := h.dropConversation(tx, c.ID); err != nil {
						return nil, err
					}
				}
				return nil, nil
			},
			after: func() {
				for _, c := range gone {
					h.dropTurns(c.ID)
				}
			},
		})
		if err != nil {
			return n, fmt.Errorf("delete topics: %w", err)
		}
		if n += len(gone); len(gone) == 0 {
			return n, nil
		}
	}
}

// Lists gives the owner's to-dos, ideas, goals and profile.
func (h *Host) Lists(ctx context.Context) (items []workbench.Item, profile workbench.Profile, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		if items, err = allItems(tx); err != nil {
			return err
		}
		profile, err = profileOf(tx)
		return err
	})
	if err != nil {
		return nil, profile, fmt.Errorf("read the lists: %w", err)
	}
	return items, profile, nil
}

// MutateLife changes the lists; op keeps the bounds of its members. The same
// request ID with the same change has the same outcome and happens once.
func (h *Host) MutateLife(ctx context.Context, requestID string, op workbench.LifeOp) (done workbench.LifeOutcome, err error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", op)) // quoted, so that no text can look like a member
	fingerprint := hex.EncodeToString(sum[:])
	err = h.change(ctx, doing(func(tx ports.PersonalTx) (any, error) {
		outcome, err := h.mutateLife(tx, "page:"+requestID, fingerprint, op)
		if err == nil {
			done = outcome.(workbench.LifeOutcome)
		}
		return nil, err
	}))
	if err != nil {
		return done, fmt.Errorf("change the lists: %w", err)
	}
	return done, nil
}

// change carries out steps that leave no receipt, in turn with the commands of
// clients.
func (h *Host) change(ctx context.Context, s steps) error {
	if err := h.commands.enter(ctx); err != nil {
		return err
	}
	defer h.commands.leave()
	ctx = context.WithoutCancel(ctx)
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return err
		}
	}
	if s.always != nil {
		defer s.always()
	}
	err := h.update(ctx, func(tx ports.PersonalTx) error {
		_, err := s.change(tx)
		return err
	})
	if err == nil && s.after != nil {
		s.after()
	}
	return err
}
