package personal

import (
	"context"
	"errors"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/ports"
)

// conversationSteps are those of the conversations.* methods. Most answer with
// the conversations as the snapshot shows them.
func (h *Host) conversationSteps(req request) (steps, bool) {
	switch op := req.op.(type) {
	case workbench.CreateConversation:
		return showing(func(tx ports.PersonalTx) (string, error) { return h.createChat(tx, op.Title) }), true
	case workbench.SelectConversation:
		return showing(func(tx ports.PersonalTx) (string, error) {
			_, err := conversation(tx, op.ID)
			return op.ID, err
		}), true
	case workbench.ReadConversation:
		return showing(func(tx ports.PersonalTx) (string, error) { return "", read(tx, op) }), true
	case workbench.ClearConversation:
		return h.clearing(op), true
	case workbench.OpenFeed:
		return h.openingFeed(op, req.from), true
	case workbench.SetVoice:
		return h.voicing(op, req.from), true
	case workbench.OpenWork:
		return refusing(workbench.ConversationNotFound), true // there is no work
	case workbench.Confirm:
		return refusing(workbench.ConfirmationNotOwned), true
	case workbench.Approve:
		return refusing(workbench.ApprovalNotOwned), true
	case workbench.CodingTargets:
		return doing(func(ports.PersonalTx) (any, error) { return map[string]any{"targets": []any{}}, nil }), true
	case workbench.CodingTarget:
		return refusing(workbench.CodingUnavailable), true
	}
	return steps{}, false
}

// showing is a change that answers with the conversations; the one that change
// names, if any, is selected.
func showing(change func(tx ports.PersonalTx) (selectID string, err error)) steps {
	s := doing(func(tx ports.PersonalTx) (any, error) {
		selected, err := change(tx)
		if err == nil && selected != "" {
			err = selectConversation(tx, selected)
		}
		return nil, err
	})
	s.shows = true
	return s
}

// conversationsView is the conversations member of a snapshot.
func (h *Host) conversationsView(tx ports.PersonalView) (any, error) {
	parts, err := h.conversationParts(tx, nil)
	if err != nil {
		return nil, err
	}
	return workbench.ConversationsData(parts)
}

// conversation looks one up; a missing one is workbench.ConversationNotFound.
func conversation(tx ports.PersonalView, id string) (conversations.Conversation, error) {
	c, err := tx.Conversation(id)
	if errors.Is(err, ports.ErrConversationUnknown) {
		return c, workbench.ConversationNotFound
	}
	return c, err
}

func (h *Host) createChat(tx ports.PersonalTx, title string) (id string, err error) {
	chats, err := tx.Conversations(ports.ConversationQuery{Kind: conversations.Chat, Limit: conversations.MaxChats})
	if err != nil {
		return "", err
	}
	if len(chats) >= conversations.MaxChats {
		return "", workbench.ConversationLimit
	}
	if title = conversations.NewTitle(title); title == "" {
		title = conversations.FreeTitle(h.words().chat, chats)
	}
	c := conversations.Conversation{ID: h.newID("chat:"), Kind: conversations.Chat, Title: title, CreatedAt: h.now()}
	c.UpdatedAt = c.CreatedAt
	return c.ID, tx.PutConversation(c)
}

// read acknowledges a prefix. It never takes an acknowledgement back.
func read(tx ports.PersonalTx, op workbench.ReadConversation) error {
	c, err := conversation(tx, op.ID)
	if err != nil {
		return err
	}
	m, err := tx.Message(op.ID, op.Through)
	switch {
	case errors.Is(err, ports.ErrMessageUnknown):
		return workbench.MessageNotFound
	case err != nil:
		return err
	case m.Seq <= c.ReadThrough:
		return nil
	}
	c.ReadThrough = m.Seq
	if c.Unread, err = unread(tx, c); err != nil {
		return err
	}
	return tx.PutConversation(c)
}

// unread counts what has not been acknowledged: reminders alone are.
func unread(tx ports.PersonalView, c conversations.Conversation) (int, error) {
	if c.Kind != conversations.Proactive {
		return 0, nil
	}
	return tx.UnreadAfter(c.ID, c.ReadThrough)
}

// clearing empties a conversation. Its turns end first, as far as anybody sees,
// and really once the store agrees.
func (h *Host) clearing(op workbench.ClearConversation) steps {
	s := showing(func(tx ports.PersonalTx) (string, error) { return "", h.clear(tx, op) })
	s.before = func(context.Context) error { h.lines.mute(op.ID); return nil }
	s.after = func() {
		h.dropTurns(op.ID)
		h.eraseTraces()
	}
	s.always = func() { h.lines.unmute(op.ID) }
	return s
}

// eraseTraces sees to it that nobody can read what was deleted, beside the caller.
func (h *Host) eraseTraces() {
	h.group.start(func(ctx context.Context) {
		if err := h.deps.Archive.EraseTraces(ctx); err != nil && ctx.Err() == nil {
			h.deps.Log.Warn("deleted texts stay in the log of the database for now", "cause", err)
		}
	})
}

func (h *Host) clear(tx ports.PersonalTx, op workbench.ClearConversation) error {
	c, err := conversation(tx, op.ID)
	switch {
	case err != nil:
		return err
	case op.Expected.Set && op.Expected.Value != c.Generation:
		return workbench.GenerationConflict
	case h.ownsVoice(op.ID):
		return workbench.VoiceActive
	}
	h.topics.wiped(c)
	if _, err := tx.DropMessages(c.ID); err != nil {
		return err
	}
	if err := tx.DropRecord(areaBackground, c.ID); err != nil {
		return err
	}
	c.Generation++
	c.Unread, c.ReadThrough, c.UpdatedAt = 0, 0, h.now()
	return tx.PutConversation(c)
}

// openingFeed opens the topic that a feed item stands for and says what it is
// about to the model (nova-personal §7.3).
func (h *Host) openingFeed(op workbench.OpenFeed, from *endpoint) steps {
	var opened feedTopic
	s := showing(func(tx ports.PersonalTx) (string, error) {
		var err error
		opened, err = h.openFeed(tx, op)
		return opened.id, err
	})
	muted := ""
	s.before = func(ctx context.Context) error {
		return h.deps.Store.View(ctx, func(tx ports.PersonalView) (err error) {
			if muted, err = replacing(tx, op); muted != "" {
				h.lines.mute(muted) // a text about the new one must not be dropped with those about the old
			}
			return err
		})
	}
	s.always = func() {
		if muted != "" {
			h.lines.unmute(muted)
		}
	}
	s.after = func() {
		if opened.replaced {
			h.dropTurns(opened.id)
		}
		if opened.turn != nil {
			opened.turn.language = from.terms.Language
			h.enqueue(*opened.turn)
		}
	}
	return s
}

// replacing gives the topic whose background the opening of a feed item replaces;
// "" for none.
func replacing(tx ports.PersonalView, op workbench.OpenFeed) (id string, err error) {
	item, ok, err := load[workbench.FeedItem](tx, areaFeed, op.FeedID)
	if err != nil || !ok {
		return "", err
	}
	c, err := knownFeedTopic(tx, item)
	if errors.Is(err, ports.ErrConversationUnknown) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	replaced, err := replaces(tx, c.ID, workbench.BackgroundOf(item))
	if err != nil || !replaced {
		return "", err
	}
	return c.ID, nil
}

// replaces reports whether a topic has another background than about.
func replaces(tx ports.PersonalView, id string, about conversations.Background) (bool, error) {
	old, had, err := load[conversations.Background](tx, areaBackground, id)
	return had && old.Text != about.Text, err
}

type feedTopic struct {
	id       string
	replaced bool  // its background has changed: what is being said is about the old one
	turn     *turn // the first message, when there is one to answer
}

func (h *Host) openFeed(tx ports.PersonalTx, op workbench.OpenFeed) (opened feedTopic, err error) {
	if err := h.expireFeed(tx); err != nil {
		return opened, err
	}
	item, ok, err := load[workbench.FeedItem](tx, areaFeed, op.FeedID)
	switch {
	case err != nil:
		return opened, err
	case !ok:
		return opened, workbench.FeedNotFound
	case !workbench.Openable(item, h.now()):
		return opened, workbench.Stale
	}
	c, err := h.feedTopic(tx, item)
	if err != nil {
		return opened, err
	}
	opened.id = c.ID
	label := op.Label
	if label == "" {
		label = h.words().discuss
	}
	asked, err := tx.MessageByRequest(c.ID, "feed:"+item.ID)
	known := err == nil
	switch {
	case err != nil && !errors.Is(err, ports.ErrMessageUnknown):
		return opened, err
	case known && asked.Text != label:
		return opened, workbench.RequestIDConflict
	}
	about := workbench.BackgroundOf(item)
	if opened.replaced, err = replaces(tx, c.ID, about); err != nil {
		return opened, err
	}
	if opened.replaced && h.ownsVoice(c.ID) {
		return opened, workbench.VoiceActive
	}
	if err := errors.Join(
		tx.PutConversation(c),
		save(tx, areaBackground, c.ID, about, 0),
		save(tx, areaFeedTopics, item.ID, c.ID, workbench.MaxFeed),
	); err != nil || known || !h.hasModel() || h.ownsVoice(c.ID) {
		return opened, err
	}
	opened.turn, err = h.admit(tx, c, submission{text: label, requestID: "feed:" + item.ID})
	return opened, err
}

// knownFeedTopic finds the topic of a feed item: the one that it opened before, or
// the one with its subject.
func knownFeedTopic(tx ports.PersonalView, item workbench.FeedItem) (c conversations.Conversation, err error) {
	id, ok, err := load[string](tx, areaFeedTopics, item.ID)
	if err != nil {
		return c, err
	}
	if ok {
		if c, err = tx.Conversation(id); !errors.Is(err, ports.ErrConversationUnknown) {
			return c, err
		}
	}
	return tx.TopicBySubject(item.SubjectKey)
}

// feedTopic is knownFeedTopic, or a new one.
func (h *Host) feedTopic(tx ports.PersonalTx, item workbench.FeedItem) (c conversations.Conversation, err error) {
	if c, err = knownFeedTopic(tx, item); !errors.Is(err, ports.ErrConversationUnknown) {
		return c, err
	}
	c = conversations.Conversation{
		ID: h.newID("topic:"), Kind: conversations.Topic, Title: conversations.NewTitle(item.Title),
		SubjectKey: item.SubjectKey, CreatedAt: h.now(),
	}
	c.UpdatedAt = c.CreatedAt
	return c, nil
}
