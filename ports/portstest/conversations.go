package portstest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/ports"
)

func conversationsComeBack(t *testing.T, k *keeper) {
	at := time.Date(2026, 3, 4, 5, 6, 7, int(890*time.Millisecond), time.UTC)
	wanted := []conversations.Conversation{
		{
			ID: "topic:\x00'\"; 题", Kind: conversations.Topic, Title: "Крем\n🍮", SubjectKey: "https://example.org/?a='b'",
			CreatedAt: at, UpdatedAt: at.Add(time.Hour), Generation: math.MaxUint64, Unread: 3, ReadThrough: math.MaxInt64,
		},
		{ID: "bare", Kind: conversations.Proactive}, // all zero, the times too
		{ID: "bare too", Kind: conversations.Chat},
	}
	put := func() {
		t.Helper()
		k.update(t, func(tx ports.PersonalTx) error {
			return errors.Join(tx.PutConversation(wanted[0]), tx.PutConversation(wanted[1]), tx.PutConversation(wanted[2]))
		})
		k.view(t, func(v ports.PersonalView) error {
			for _, want := range wanted {
				got, err := v.Conversation(want.ID)
				if got != want || err != nil {
					t.Errorf("conversation is %+v, %v; want %+v", got, err, want)
				}
			}
			return nil
		})
	}
	put()
	wanted[0] = conversations.Conversation{ID: wanted[0].ID, Kind: conversations.Chat, CreatedAt: at.Add(time.Millisecond), Generation: 1}
	wanted[1].Title, wanted[1].Unread = "no longer bare", 1
	put()
	k.view(t, func(v ports.PersonalView) error {
		if _, err := v.Conversation("none"); !errors.Is(err, ports.ErrConversationUnknown) {
			t.Errorf("an unknown conversation gave %v", err)
		}
		return nil
	})
}

// lists checks the IDs of a list.
func (k *keeper) lists(t *testing.T, q ports.ConversationQuery, want string) {
	t.Helper()
	k.view(t, func(v ports.PersonalView) error {
		list, err := v.Conversations(q)
		var ids []string
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%+v gave %q; want %q", q, got, want)
		}
		return err
	})
}

func listsConversations(t *testing.T, k *keeper) {
	k.put(t, "a", "b", "c")
	k.update(t, func(tx ports.PersonalTx) error {
		topic, same := chat("d", 1), chat("e", 1) // updated with b
		topic.Kind = conversations.Topic
		return errors.Join(tx.PutConversation(topic), tx.PutConversation(same), tx.PutConversation(chat("a", 5)))
	})
	type query = ports.ConversationQuery
	k.lists(t, query{Limit: 10}, "a c e d b")
	k.lists(t, query{Limit: 10, Oldest: true}, "b d e c a")
	k.lists(t, query{Limit: 2}, "a c")
	k.lists(t, query{Limit: 2, Offset: 1}, "c e")
	k.lists(t, query{Limit: 2, Offset: 1, Oldest: true}, "d e")
	k.lists(t, query{Limit: 10, Offset: 5}, "")
	k.lists(t, query{Kind: conversations.Chat, Limit: 10}, "a c e b")
	k.lists(t, query{Kind: conversations.Chat, Limit: 2, Offset: 1, Oldest: true}, "e c")
	k.lists(t, query{Kind: conversations.Topic, Limit: 1}, "d")
	k.lists(t, query{Kind: conversations.Proactive, Limit: 1}, "")
	k.view(t, func(v ports.PersonalView) error {
		for kind, want := range map[conversations.Kind]int{"": 5, conversations.Chat: 4, conversations.Topic: 1, conversations.Proactive: 0} {
			if n, err := v.CountConversations(kind); n != want || err != nil {
				t.Errorf("%d conversations of kind %q, %v; want %d", n, kind, err, want)
			}
		}
		return nil
	})
}

func topicOf(id, subject string) conversations.Conversation {
	c := chat(id, 0)
	c.Kind, c.SubjectKey = conversations.Topic, subject
	return c
}

func subjects(t *testing.T, k *keeper) {
	find := func(subject, want string) {
		t.Helper()
		k.view(t, func(v ports.PersonalView) error {
			c, err := v.TopicBySubject(subject)
			if c.ID != want || want == "" && !errors.Is(err, ports.ErrConversationUnknown) {
				t.Errorf("subject %q has the topic %q, %v; want %q", subject, c.ID, err, want)
			}
			return nil
		})
	}
	k.put(t, "none", "none too") // none is nobody's
	k.update(t, func(tx ports.PersonalTx) error {
		if err := tx.PutConversation(topicOf("one", "s")); err != nil {
			return err
		}
		if err := tx.PutConversation(topicOf("two", "s")); !errors.Is(err, ports.ErrSubjectTaken) {
			t.Errorf("a second topic gave %v; want ErrSubjectTaken", err)
		}
		if _, err := tx.Conversation("two"); !errors.Is(err, ports.ErrConversationUnknown) {
			t.Errorf("the second topic is there: %v", err)
		}
		// It is an answer and no failure: the change may go on.
		return errors.Join(tx.PutConversation(topicOf("one", "s")), tx.PutConversation(topicOf("two", "other")))
	})
	find("s", "one")
	find("other", "two")
	find("", "")
	find("S", "")
	err := k.Update(t.Context(), func(tx ports.PersonalTx) error { return tx.PutConversation(topicOf("two", "s")) })
	if !errors.Is(err, ports.ErrSubjectTaken) {
		t.Errorf("a changed topic gave %v; want ErrSubjectTaken", err)
	}
	find("other", "two")
	k.update(t, func(tx ports.PersonalTx) error {
		return errors.Join(tx.DropConversation("one"), tx.PutConversation(topicOf("two", "s")))
	})
	find("s", "two")
	find("other", "")
}

func dropsConversation(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.say(t, "one", "a", "b")
	k.say(t, "two", "c")
	k.update(t, func(tx ports.PersonalTx) error {
		if err := tx.DropConversation("none"); !errors.Is(err, ports.ErrConversationUnknown) {
			t.Errorf("dropping an unknown conversation gave %v", err)
		}
		return tx.DropConversation("one")
	})
	k.lists(t, ports.ConversationQuery{Limit: 10}, "two")
	k.put(t, "one") // a new one, under the old name
	k.saidBefore(t, "one", 0, 10, "")
	k.saidBefore(t, "two", 0, 10, "c")
}

// saidBefore checks the texts of a walk.
func (k *keeper) saidBefore(t *testing.T, conversation string, before int64, limit int, want string) {
	t.Helper()
	k.view(t, func(v ports.PersonalView) error {
		var texts []string
		err := v.MessagesBefore(conversation, before, limit, func(m conversations.Message) bool {
			texts = append(texts, m.Text)
			return true
		})
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("%s before %d, at most %d: %q; want %q", conversation, before, limit, got, want)
		}
		return err
	})
}

func messagesComeBack(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	full := conversations.Message{
		ID: "m:\x00'题", ConversationID: "one", Role: conversations.User, Text: "a\x00b '\"\n🍮 题", TurnID: "turn", ReplyTo: "earlier",
		CreatedAt: time.Date(2026, 3, 4, 5, 6, 7, int(890*time.Millisecond), time.UTC), RequestID: "r",
		Status: conversations.Pending, Delivery: conversations.CutOff, Todo: conversations.TodoRef{ID: "todo", Version: math.MaxUint64},
	}
	bare := conversations.Message{ID: "bare", ConversationID: "one", Role: conversations.Assistant}
	other := full
	other.ConversationID = "two" // the same IDs in another conversation
	for _, m := range []*conversations.Message{&full, &bare, &other} {
		k.update(t, func(tx ports.PersonalTx) (err error) {
			m.Seq, err = tx.AddMessage(*m)
			return err
		})
	}
	k.view(t, func(v ports.PersonalView) error {
		for _, want := range []conversations.Message{full, bare, other} {
			got, err := v.Message(want.ConversationID, want.ID)
			if got != want || err != nil {
				t.Errorf("message is %+v, %v; want %+v", got, err, want)
			}
		}
		for _, want := range []conversations.Message{full, other} {
			got, err := v.MessageByRequest(want.ConversationID, "r")
			if got != want || err != nil {
				t.Errorf("message of the request is %+v, %v; want %+v", got, err, want)
			}
		}
		return v.MessagesBefore("two", 0, 1, func(got conversations.Message) bool {
			if got != other {
				t.Errorf("visited %+v; want %+v", got, other)
			}
			return true
		})
	})
}

func messagesBefore(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.say(t, "one", "a", "b")
	k.say(t, "two", "x")
	middle := k.say(t, "one", "c")
	last := k.say(t, "one", "d", "e")
	k.saidBefore(t, "one", 0, 10, "e d c b a")
	k.saidBefore(t, "one", last+1, 10, "e d c b a")
	k.saidBefore(t, "one", last, 10, "d c b a")
	k.saidBefore(t, "one", middle, 1, "b")
	k.saidBefore(t, "one", 1, 10, "")
	k.saidBefore(t, "one", 0, 2, "e d")
	k.saidBefore(t, "one", 0, 0, "")
	k.saidBefore(t, "none", 0, 10, "")
	k.view(t, func(v ports.PersonalView) error {
		visits := 0
		err := v.MessagesBefore("one", 0, 10, func(conversations.Message) bool {
			visits++
			return visits < 3
		})
		if visits != 3 {
			t.Errorf("%d visits after the third had said stop", visits)
		}
		return err
	})
}

func walksWithin(t *testing.T, k *keeper) {
	k.put(t, "one")
	k.say(t, "one", "a", "b", "c")
	var seen strings.Builder
	look := func(v ports.PersonalView) error {
		seen.Reset()
		return v.MessagesBefore("one", 0, 10, func(m conversations.Message) bool {
			again, err := v.Message("one", m.ID)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprint(&seen, again.Text, ":")
			err = v.MessagesBefore("one", m.Seq, 10, func(m conversations.Message) bool {
				fmt.Fprint(&seen, m.Text)
				return true
			})
			if err != nil {
				t.Error(err)
			}
			return true
		})
	}
	k.view(t, look)
	inView := seen.String()
	k.update(t, func(tx ports.PersonalTx) error { return look(tx) })
	if inView != "c:bab:aa:" || seen.String() != inView {
		t.Errorf("walks gave %q in a view and %q in a change", inView, &seen)
	}
}
