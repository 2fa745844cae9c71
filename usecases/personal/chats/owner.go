package chats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
)

// Conversations lists the conversations from offset on, the most recently updated
// first, and says how many there are.
func (c *Chats) Conversations(ctx context.Context, offset, limit int) (list []conversations.Conversation, total int, err error) {
	err = c.hub.Store.View(ctx, func(tx ports.PersonalView) error {
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
func (c *Chats) Conversation(ctx context.Context, id string) (found conversations.Conversation, about conversations.Background, err error) {
	err = c.hub.Store.View(ctx, func(tx ports.PersonalView) error {
		if found, err = tx.Conversation(id); err != nil {
			return err
		}
		about, _, err = stored.Background(tx, id)
		return err
	})
	if err != nil {
		return found, about, fmt.Errorf("look a conversation up: %w", err)
	}
	return found, about, nil
}

// Messages gives at most limit messages with a Seq below before (0: the newest),
// the oldest first.
func (c *Chats) Messages(ctx context.Context, id string, before int64, limit int) (page []conversations.Message, err error) {
	err = c.hub.Store.View(ctx, func(tx ports.PersonalView) error {
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
func (c *Chats) SearchMessages(ctx context.Context, text string, limit int) ([]ports.FoundMessage, error) {
	found, err := c.archive.SearchMessages(ctx, text, limit)
	if err != nil {
		return nil, fmt.Errorf("search messages: %w", err)
	}
	return found, nil
}

// Sizes says how much is stored.
func (c *Chats) Sizes(ctx context.Context) (ports.PersonalSizes, error) {
	sizes, err := c.archive.PersonalSizes(ctx)
	if err != nil {
		return sizes, fmt.Errorf("measure what is kept: %w", err)
	}
	return sizes, nil
}

// CreateChat makes a chat; without a title it gets one. It is not selected.
func (c *Chats) CreateChat(ctx context.Context, title string) (id string, err error) {
	err = c.hub.Change(ctx, hub.Mutation{Apply: func(tx ports.PersonalTx) (any, error) {
		id, err = c.create(tx, title)
		return nil, err
	}})
	if err != nil {
		return "", fmt.Errorf("create a chat: %w", err)
	}
	return id, nil
}

// Clear empties a conversation. A missing one is workbench.ConversationNotFound,
// one that speaks workbench.VoiceActive.
func (c *Chats) Clear(ctx context.Context, id string) error {
	if err := c.hub.Change(ctx, c.clearing(Clear{ID: id})); err != nil {
		return fmt.Errorf("clear a conversation: %w", err)
	}
	return nil
}

// Delete removes a conversation. The two permanent ones are
// workbench.InvalidRequest.
func (c *Chats) Delete(ctx context.Context, id string) error {
	err := c.hub.Change(ctx, c.ending(id, func(tx ports.PersonalTx) (any, error) {
		gone, err := stored.Conversation(tx, id)
		if err != nil {
			return nil, err
		}
		switch {
		case gone.Permanent():
			return nil, workbench.InvalidRequest
		case c.voice.Owns(id):
			return nil, workbench.VoiceActive
		}
		c.topics.Erased(gone)
		return nil, stored.DropConversation(tx, id)
	}))
	if err != nil {
		return fmt.Errorf("delete a conversation: %w", err)
	}
	return nil
}

// deleteStep is how many topics one write removes, so that other writes do not wait
// long.
const deleteStep = 200

// DeleteTopics removes every topic and says how many there were.
func (c *Chats) DeleteTopics(ctx context.Context) (n int, err error) {
	c.topics.AllErased()
	return c.deleteTopics(ctx, func(tx ports.PersonalView) ([]conversations.Conversation, error) {
		return c.topics.Oldest(tx, deleteStep, "")
	})
}

// DeleteTopicsAbout removes the topics of those pages whose address is to go, and says
// how many there were.
func (c *Chats) DeleteTopicsAbout(ctx context.Context, goes func(address string) bool) (n int, err error) {
	var going []string
	err = c.hub.Store.View(ctx, func(tx ports.PersonalView) error {
		for offset := 0; ; offset += deleteStep {
			list, err := tx.Conversations(ports.ConversationQuery{Kind: conversations.Topic, Limit: deleteStep, Offset: offset})
			if err != nil || len(list) == 0 {
				return err
			}
			for _, topic := range list {
				address := topic.SubjectKey
				if about, ok, err := stored.Background(tx, topic.ID); err != nil {
					return err
				} else if ok {
					address = about.URL // the key of a long one is a hash
				}
				if goes(address) {
					going = append(going, topic.ID)
				}
			}
		}
	})
	if err != nil {
		return 0, fmt.Errorf("look for topics: %w", err)
	}
	return c.deleteTopics(ctx, func(tx ports.PersonalView) (list []conversations.Conversation, err error) {
		for len(list) < deleteStep && len(going) > 0 {
			topic, err := tx.Conversation(going[0])
			if err != nil && !errors.Is(err, ports.ErrConversationUnknown) {
				return nil, err
			}
			if going = going[1:]; err == nil && !c.voice.Owns(topic.ID) {
				list = append(list, topic)
			}
		}
		return list, nil
	})
}

// deleteTopics removes what next gives, until it gives none.
func (c *Chats) deleteTopics(ctx context.Context, next func(tx ports.PersonalView) ([]conversations.Conversation, error)) (n int, err error) {
	defer c.eraseTraces() // also of those that were deleted before it failed
	for {
		var gone []conversations.Conversation
		err := c.hub.Change(ctx, hub.Mutation{
			Apply: func(tx ports.PersonalTx) (_ any, err error) {
				if gone, err = next(tx); err != nil {
					return nil, err
				}
				if len(gone) == 0 {
					return nil, hub.ErrUnchanged
				}
				for _, topic := range gone {
					c.topics.Erased(topic)
					if err := stored.DropConversation(tx, topic.ID); err != nil {
						return nil, err
					}
				}
				return nil, nil
			},
			Committed: func() {
				for _, topic := range gone {
					c.queue.Drop(topic.ID)
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
