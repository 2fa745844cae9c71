// Package chats keeps the conversations themselves: the commands conversations.*
// about one of them, the member conversations of the snapshot, and what the owner's
// page does with them (nova-personal §3.8, §7).
package chats

import (
	"context"
	"errors"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/params"
	"plexus/usecases/personal/stored"
	"plexus/usecases/personal/topics"
	"plexus/usecases/personal/turns"
	"plexus/usecases/personal/voice"
)

// Chats is all conversations.
type Chats struct {
	hub     *hub.Hub
	archive ports.PersonalArchive
	queue   *turns.Queue
	topics  *topics.Topics
	voice   *voice.Voice
	// Titles of the conversations that the host names.
	chatTitle, remindersTitle string
}

// New makes them for a host that speaks a language.
func New(h *hub.Hub, archive ports.PersonalArchive, q *turns.Queue, t *topics.Topics, v *voice.Voice, language answers.Language) *Chats {
	chat, reminders := "Chat", "Reminders"
	if language == answers.Chinese {
		chat, reminders = "新对话", "主动提醒"
	}
	return &Chats{h, archive, q, t, v, chat, reminders}
}

// Area is what the hub has to know of them.
func (c *Chats) Area() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "conversations.create", Phone: true, Do: hub.Mutate(func(_ hub.Request, p Create) hub.Mutation {
				return c.Answer(func(tx ports.PersonalTx) (string, error) { return c.create(tx, p.Title) })
			})},
			{Method: "conversations.select", Phone: true, Do: hub.Mutate(func(_ hub.Request, p Select) hub.Mutation {
				return c.Answer(func(tx ports.PersonalTx) (string, error) {
					_, err := stored.Conversation(tx, p.ID)
					return p.ID, err
				})
			})},
			{Method: "conversations.read", Phone: true, Do: hub.Mutate(func(_ hub.Request, p Acknowledge) hub.Mutation {
				return c.Answer(func(tx ports.PersonalTx) (string, error) { return "", acknowledge(tx, p) })
			})},
			{Method: "conversations.clear", Phone: true, Do: hub.Mutate(func(_ hub.Request, p Clear) hub.Mutation {
				return c.answered(c.clearing(p))
			})},
			{Method: "conversations.voice", Phone: true, Do: hub.Mutate(c.setVoice)},
		},
		Members: []hub.Member{{Name: memberName, Desktop: c.section, Phone: c.section}},
		Open:    c.open,
	}
}

// The parameters of conversations.create, select, read, clear and voice.
type (
	Create      struct{ Title string } // "" when not given
	Select      struct{ ID string }
	Acknowledge struct{ ID, Through string } // Through is a message
	Clear       struct {
		ID       string
		Expected nova.Optional[uint64] // generation
	}
	Voice struct {
		ID      string
		Enabled bool
	}
)

func (p *Create) Read(f *jsonform.Form) {
	params.OptionalText(f, "title", &p.Title, conversations.MaxTitle)
}

func (p *Select) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
}

func (p *Acknowledge) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	params.Text(f, "through_message_id", &p.Through, params.MaxID)
}

func (p *Clear) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	f.OptionalUint("expected_generation", jsonform.Omitted, &p.Expected, 0, jsonform.MaxSafe)
}

func (p *Voice) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	f.Bool("enabled", &p.Enabled)
}

// open makes sure that the two permanent conversations are there, titled in the
// host's language, and that the selected one is.
func (c *Chats) open(tx ports.PersonalTx) error {
	for _, permanent := range []conversations.Conversation{
		{ID: conversations.MainID, Kind: conversations.Chat, Title: conversations.FreeTitle(c.chatTitle, nil)},
		{ID: conversations.ProactiveID, Kind: conversations.Proactive, Title: c.remindersTitle},
	} {
		there, err := tx.Conversation(permanent.ID)
		switch {
		case errors.Is(err, ports.ErrConversationUnknown):
			permanent.CreatedAt = c.hub.Timestamp()
			permanent.UpdatedAt = permanent.CreatedAt
		case err != nil:
			return err
		case there.Title == permanent.Title:
			continue
		default: // the host's language has changed
			there.Title = permanent.Title
			permanent = there
		}
		if err := tx.PutConversation(permanent); err != nil {
			return err
		}
	}
	selected, err := stored.Selected(tx)
	if err != nil {
		return err
	}
	_, err = tx.Conversation(selected)
	if errors.Is(err, ports.ErrConversationUnknown) {
		return stored.Select(tx, conversations.MainID)
	}
	return err
}

// Answer is a change that is answered with the conversations as the snapshot shows
// them then; the one that change names, if any, is selected.
func (c *Chats) Answer(change func(tx ports.PersonalTx) (selectID string, err error)) hub.Mutation {
	return c.answered(hub.Mutation{Apply: func(tx ports.PersonalTx) (any, error) {
		selected, err := change(tx)
		if err == nil && selected != "" {
			err = stored.Select(tx, selected)
		}
		return nil, err
	}})
}

// answered gives a mutation the conversations for its data.
func (c *Chats) answered(m hub.Mutation) hub.Mutation {
	apply := m.Apply
	m.Apply = func(tx ports.PersonalTx) (any, error) {
		if _, err := apply(tx); err != nil {
			return nil, err
		}
		value, err := c.section(tx, nil)
		if err != nil {
			return nil, err
		}
		return hub.Data(hub.Part{Name: memberName, Value: value})
	}
	return m
}

func (c *Chats) create(tx ports.PersonalTx, title string) (id string, err error) {
	chats, err := tx.Conversations(ports.ConversationQuery{Kind: conversations.Chat, Limit: conversations.MaxChats})
	if err != nil {
		return "", err
	}
	if len(chats) >= conversations.MaxChats {
		return "", workbench.ConversationLimit
	}
	if title = conversations.NewTitle(title); title == "" {
		title = conversations.FreeTitle(c.chatTitle, chats)
	}
	made := conversations.Conversation{ID: c.hub.NewID("chat:"), Kind: conversations.Chat, Title: title, CreatedAt: c.hub.Timestamp()}
	made.UpdatedAt = made.CreatedAt
	return made.ID, tx.PutConversation(made)
}

// acknowledge marks a prefix as read. It never takes an acknowledgement back.
func acknowledge(tx ports.PersonalTx, p Acknowledge) error {
	c, err := stored.Conversation(tx, p.ID)
	if err != nil {
		return err
	}
	m, err := tx.Message(p.ID, p.Through)
	switch {
	case errors.Is(err, ports.ErrMessageUnknown):
		return workbench.MessageNotFound
	case err != nil:
		return err
	case m.Seq <= c.ReadThrough:
		return nil
	}
	c.ReadThrough = m.Seq
	if c.Unread, err = stored.Unread(tx, c); err != nil {
		return err
	}
	return tx.PutConversation(c)
}

// clearing empties a conversation. Clients stop seeing its turns at once; the turns
// are ended only when the change is stored, and go on if it fails.
func (c *Chats) clearing(p Clear) hub.Mutation {
	return c.ending(p.ID, func(tx ports.PersonalTx) (any, error) {
		cleared, err := stored.Conversation(tx, p.ID)
		switch {
		case err != nil:
			return nil, err
		case p.Expected.Set && p.Expected.Value != cleared.Generation:
			return nil, workbench.GenerationConflict
		case c.voice.Owns(p.ID):
			return nil, workbench.VoiceActive
		}
		c.topics.Erased(cleared)
		if _, err := tx.DropMessages(cleared.ID); err != nil {
			return nil, err
		}
		if err := stored.DropBackground(tx, cleared.ID); err != nil {
			return nil, err
		}
		cleared.Generation++
		cleared.Unread, cleared.ReadThrough, cleared.UpdatedAt = 0, 0, c.hub.Timestamp()
		return nil, tx.PutConversation(cleared)
	})
}

// ending is a change that ends the turns of a conversation.
func (c *Chats) ending(id string, change func(tx ports.PersonalTx) (any, error)) hub.Mutation {
	return hub.Mutation{
		Prepare: func(context.Context) error { c.queue.Pause(id); return nil },
		Apply:   change,
		Committed: func() {
			c.queue.Drop(id)
			c.eraseTraces()
		},
		Finally: func() { c.queue.Resume(id) },
	}
}

// eraseTraces overwrites deleted texts in the store's files, in the background.
func (c *Chats) eraseTraces() {
	c.hub.Start(func(ctx context.Context) {
		if err := c.archive.EraseTraces(ctx); err != nil && ctx.Err() == nil {
			c.hub.Log.Warn("deleted texts stay in the log of the database for now", "cause", err)
		}
	})
}

// setVoice turns voice on or off in a conversation. The runtime starts before the
// command is stored, and stops again when it cannot be.
func (c *Chats) setVoice(r hub.Request, p Voice) hub.Mutation {
	started := false
	m := c.Answer(func(ports.PersonalTx) (string, error) { return "", nil })
	m.Prepare = func(ctx context.Context) error {
		err := c.hub.Store.View(ctx, func(tx ports.PersonalView) error {
			_, err := stored.Conversation(tx, p.ID)
			return err
		})
		if err != nil {
			return err
		}
		if !p.Enabled {
			if !c.voice.Owns(p.ID) {
				return workbench.VoiceNotOwned
			}
			c.voice.Stop()
			return nil
		}
		started, err = c.voice.Start(ctx, p.ID, r.Client)
		return err
	}
	m.Failed = func() workbench.Refusal {
		if started {
			c.voice.Stop()
		}
		return workbench.Unavailable
	}
	return m
}
