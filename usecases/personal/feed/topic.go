package feed

import (
	"context"
	"errors"

	"plexus/domain/conversations"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/params"
	"plexus/usecases/personal/stored"
	"plexus/usecases/personal/turns"
)

// OpenTopic is the parameters of conversations.open_feed.
type OpenTopic struct{ FeedID, Label string } // Label "" when not given

func (p *OpenTopic) Read(f *jsonform.Form) {
	params.Text(f, "feed_id", &p.FeedID, params.MaxID)
	params.OptionalText(f, "label", &p.Label, maxLabel)
}

// openTopic opens the topic that an item stands for and says what it is about to
// the model (nova-personal §7.3).
func (f *Feed) openTopic(r hub.Request, p OpenTopic) hub.Mutation {
	var opened topic
	m := f.chats.Answer(func(tx ports.PersonalTx) (selectID string, err error) {
		opened, err = f.open(tx, p)
		return opened.id, err
	})
	paused := ""
	m.Prepare = func(ctx context.Context) error {
		return f.hub.Store.View(ctx, func(tx ports.PersonalView) (err error) {
			if paused, err = replacedTopic(tx, p); paused != "" {
				f.turns.Queue.Pause(paused) // a text about the new one must not be dropped with those about the old
			}
			return err
		})
	}
	m.Finally = func() {
		if paused != "" {
			f.turns.Queue.Resume(paused)
		}
	}
	m.Committed = func() {
		if opened.replaced {
			f.turns.Queue.Drop(opened.id)
		}
		if opened.turn != nil {
			f.turns.Enqueue(opened.turn, r.Client.Terms.Language)
		}
	}
	return m
}

// topic is a conversation that was opened on an item.
type topic struct {
	id       string
	replaced bool        // its background has changed: what is being said is about the old one
	turn     *turns.Turn // the first message, when there is one to answer
}

func (f *Feed) open(tx ports.PersonalTx, p OpenTopic) (opened topic, err error) {
	if err := f.expire(tx); err != nil {
		return opened, err
	}
	item, ok, err := stored.Load[Item](tx, itemKind, p.FeedID)
	switch {
	case err != nil:
		return opened, err
	case !ok:
		return opened, workbench.FeedNotFound
	case !Openable(item, f.hub.Timestamp()):
		return opened, workbench.Stale
	}
	c, err := knownTopic(tx, item)
	if errors.Is(err, ports.ErrConversationUnknown) {
		c = conversations.Conversation{
			ID: f.hub.NewID("topic:"), Kind: conversations.Topic, Title: conversations.NewTitle(item.Title),
			SubjectKey: item.SubjectKey, CreatedAt: f.hub.Timestamp(),
		}
		c.UpdatedAt = c.CreatedAt
	} else if err != nil {
		return opened, err
	}
	opened.id = c.ID
	label := p.Label
	if label == "" {
		label = f.label
	}
	asked, err := tx.MessageByRequest(c.ID, "feed:"+item.ID)
	known := err == nil
	switch {
	case err != nil && !errors.Is(err, ports.ErrMessageUnknown):
		return opened, err
	case known && asked.Text != label:
		return opened, workbench.RequestIDConflict
	}
	about := Background(item)
	if opened.replaced, err = replaces(tx, c.ID, about); err != nil {
		return opened, err
	}
	spoken := f.voice.Owns(c.ID)
	if opened.replaced && spoken {
		return opened, workbench.VoiceActive
	}
	if err := errors.Join(
		tx.PutConversation(c),
		stored.SaveBackground(tx, c.ID, about),
		stored.Save(tx, topicKind, item.ID, c.ID, maxItems),
	); err != nil || known || spoken || !f.turns.Answered() {
		return opened, err
	}
	opened.turn, err = f.turns.Admit(tx, c, turns.Text{Text: label, RequestID: "feed:" + item.ID})
	return opened, err
}

// replacedTopic gives the topic whose background the opening of an item replaces;
// "" for none.
func replacedTopic(tx ports.PersonalView, p OpenTopic) (id string, err error) {
	item, ok, err := stored.Load[Item](tx, itemKind, p.FeedID)
	if err != nil || !ok {
		return "", err
	}
	c, err := knownTopic(tx, item)
	if errors.Is(err, ports.ErrConversationUnknown) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	replaced, err := replaces(tx, c.ID, Background(item))
	if err != nil || !replaced {
		return "", err
	}
	return c.ID, nil
}

// replaces reports whether a topic has another background than about.
func replaces(tx ports.PersonalView, id string, about conversations.Background) (bool, error) {
	old, had, err := stored.Background(tx, id)
	return had && old.Text != about.Text, err
}

// knownTopic finds the topic of an item: the one that it opened before, or the one
// with its subject.
func knownTopic(tx ports.PersonalView, item Item) (c conversations.Conversation, err error) {
	id, ok, err := stored.Load[string](tx, topicKind, item.ID)
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
