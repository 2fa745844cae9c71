package portstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plexus/domain/conversations"
	"plexus/ports"
)

func messagesUnknown(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.say(t, "one", "a")
	k.update(t, func(tx ports.PersonalTx) error {
		for _, key := range [][2]string{{"one", "none"}, {"two", "a"}, {"none", "a"}} {
			if _, err := tx.Message(key[0], key[1]); !errors.Is(err, ports.ErrMessageUnknown) {
				t.Errorf("message %q gave %v", key, err)
			}
			if err := tx.SetMessage(spoken(key[0], key[1])); !errors.Is(err, ports.ErrMessageUnknown) {
				t.Errorf("setting message %q gave %v", key, err)
			}
		}
		for _, request := range []string{"", "r"} {
			if _, err := tx.MessageByRequest("one", request); !errors.Is(err, ports.ErrMessageUnknown) {
				t.Errorf("request %q gave %v", request, err)
			}
		}
		if _, err := tx.AddMessage(spoken("none", "b")); !errors.Is(err, ports.ErrConversationUnknown) {
			t.Errorf("a message for an unknown conversation gave %v", err)
		}
		return nil
	})
	for _, again := range []conversations.Message{
		spoken("one", "a"),
		{ID: "other", ConversationID: "one", Role: conversations.User, RequestID: "r"},
	} {
		err := k.Update(t.Context(), func(tx ports.PersonalTx) error {
			_, first := tx.AddMessage(conversations.Message{ID: "q", ConversationID: "one", Role: conversations.User, RequestID: "r"})
			if first != nil {
				t.Errorf("a new message: %v", first)
			}
			_, err := tx.AddMessage(again)
			return err
		})
		if err == nil {
			t.Errorf("%+v went in beside one with the same key", again)
		}
	}
	k.saidBefore(t, "one", 0, 10, "a")
}

func setsMessages(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.say(t, "two", "a")
	k.say(t, "one", "a", "b")
	var old conversations.Message
	k.update(t, func(tx ports.PersonalTx) (err error) {
		if old, err = tx.Message("one", "a"); err != nil {
			return err
		}
		return tx.SetMessage(conversations.Message{
			Seq: 99, ID: "a", ConversationID: "one", Role: conversations.User, Text: "new", RequestID: "r",
			CreatedAt: old.CreatedAt, Status: conversations.Completed,
		})
	})
	k.view(t, func(v ports.PersonalView) error {
		got, err := v.MessageByRequest("one", "r")
		if got.Seq != old.Seq || got.Text != "new" || got.Role != conversations.User || got.Status != conversations.Completed {
			t.Errorf("message is %+v, %v; want Seq %d", got, err, old.Seq)
		}
		return err
	})
	k.saidBefore(t, "one", 0, 10, "b new")
	k.saidBefore(t, "two", 0, 10, "a")
}

func seqRises(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	last := int64(0)
	add := func(conversation, text string) {
		t.Helper()
		seq := k.say(t, conversation, text)
		if seq <= last {
			t.Errorf("Seq %d was given after %d", seq, last)
		}
		last = seq
	}
	add("one", "a")
	add("two", "b")
	add("one", "c")
	k.update(t, func(tx ports.PersonalTx) error {
		_, err := tx.DropMessages("one")
		return err
	})
	add("one", "d")
	k.update(t, func(tx ports.PersonalTx) error { return tx.DropConversation("one") })
	add("two", "e")
	k.update(t, func(tx ports.PersonalTx) error { return tx.DropConversation("two") })
	k.put(t, "one")
	add("one", "f")
}

func dropsMessages(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.say(t, "one", "a", "b")
	k.say(t, "two", "c")
	for conversation, want := range map[string]int{"one": 2, "none": 0} {
		k.update(t, func(tx ports.PersonalTx) error {
			if n, err := tx.DropMessages(conversation); n != want || err != nil {
				t.Errorf("dropped %d messages of %s, %v; want %d", n, conversation, err, want)
			}
			return nil
		})
	}
	k.saidBefore(t, "one", 0, 10, "")
	k.saidBefore(t, "two", 0, 10, "c")
	k.lists(t, ports.ConversationQuery{Limit: 10}, "two one")
}

func countsUnread(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	first := k.say(t, "one", "a")
	k.say(t, "two", "x")
	k.update(t, func(tx ports.PersonalTx) error {
		_, err := tx.AddMessage(conversations.Message{ID: "mine", ConversationID: "one", Role: conversations.User})
		return err
	})
	last := k.say(t, "one", "b", "c")
	k.view(t, func(v ports.PersonalView) error {
		for after, want := range map[int64]int{0: 3, first: 2, last - 1: 1, last: 0} {
			if n, err := v.UnreadAfter("one", after); n != want || err != nil {
				t.Errorf("%d unread after %d, %v; want %d", n, after, err, want)
			}
		}
		if n, err := v.UnreadAfter("none", 0); n != 0 || err != nil {
			t.Errorf("%d unread in no conversation, %v", n, err)
		}
		return nil
	})
}

func interruptsPending(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.update(t, func(tx ports.PersonalTx) error {
		for i, status := range []conversations.Status{"", conversations.Pending, conversations.Completed, conversations.Failed, conversations.Pending} {
			for _, conversation := range []string{"one", "two"} {
				m := conversations.Message{ID: fmt.Sprint(i), ConversationID: conversation, Role: conversations.User, Status: status}
				if _, err := tx.AddMessage(m); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, want := range []int{4, 0} {
		k.update(t, func(tx ports.PersonalTx) error {
			if n, err := tx.InterruptPending(); n != want || err != nil {
				t.Errorf("interrupted %d, %v; want %d", n, err, want)
			}
			return nil
		})
	}
	k.view(t, func(v ports.PersonalView) error {
		var states []string
		err := v.MessagesBefore("one", 0, 10, func(m conversations.Message) bool {
			states = append(states, string(m.Status))
			return true
		})
		if got := strings.Join(states, ","); got != "interrupted,failed,completed,interrupted," {
			t.Errorf("states are %s", got)
		}
		return err
	})
}

// PersonalArchive runs the contract of ports.PersonalArchive. build gives an
// empty store and cleans up by t.Cleanup.
func PersonalArchive(t *testing.T, build func(t *testing.T) PersonalKeeper) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, k *keeper)
	}{
		{"words", searchesWords},
		{"nothing stale", searchesNothingStale},
		{"sizes", countsSizes},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, &keeper{build(t)}) })
	}
}

// finds checks the IDs of what a search gives.
func (k *keeper) finds(t *testing.T, text string, limit int, want string) {
	t.Helper()
	found, err := k.SearchMessages(t.Context(), text, limit)
	if err != nil {
		t.Errorf("search %q: %v", text, err)
	}
	var ids []string
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("%q, at most %d, found %q; want %q", text, limit, got, want)
	}
}

// addMessage adds a message with an ID of its own.
func (k *keeper) addMessage(t *testing.T, conversation, id, text string) {
	t.Helper()
	k.update(t, func(tx ports.PersonalTx) error {
		m := spoken(conversation, id)
		m.Text = text
		_, err := tx.AddMessage(m)
		return err
	})
}

func searchesWords(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.addMessage(t, "one", "1", "The tower opened to the public in 1889; crème brûlée.")
	k.addMessage(t, "two", "2", "Towers and bridges: TOWER towers 1889")
	k.addMessage(t, "one", "3", "长江大桥于1957年建成通车。")
	k.addMessage(t, "one", "4", "京都でお茶を飲みました。 𞤀𞤣𞤤𞤢𞤥")
	k.addMessage(t, "two", "5", "")
	for text, want := range map[string]string{
		"tower": "2 1", "TOWERS 1889": "2 1", "tower bridge": "2", "public tower opening": "1", "creme": "1",
		"tower moon": "", "大桥": "3", "大桥建成": "", "大桥 1957 建成": "3", "お茶": "4", "飛行機": "", "𞤀𞤣𞤤𞤢𞤥": "4",
		"": "", " ?! ": "", `"`: "", "*": "", "(": "", `tower" OR "moon`: "", "tower*": "2 1", "words:tower": "", "NEAR(tower)": "",
		"tower tower 1889 tower": "2 1", strings.Repeat("tower ", 3000): "2 1", "pub": "",
	} {
		k.finds(t, text, 10, want)
	}
	k.finds(t, "tower", 1, "2")
	k.finds(t, "tower", 0, "")
	var many strings.Builder
	for i := range 500 {
		fmt.Fprint(&many, "tower ", i, " ")
	}
	k.finds(t, many.String(), 10, "")
	found, err := k.SearchMessages(t.Context(), "bridge", 1)
	if err != nil || len(found) != 1 || found[0].Title != "Chat two" || found[0].ConversationID != "two" || found[0].Role != conversations.Assistant {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := k.SearchMessages(endedContext(t), "tower", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gave %v", err)
	}
}

func searchesNothingStale(t *testing.T, k *keeper) {
	k.put(t, "one", "two")
	k.addMessage(t, "one", "1", "apples")
	k.addMessage(t, "one", "2", "apples pears")
	k.addMessage(t, "two", "3", "apples")
	k.addMessage(t, "two", "4", "apples")
	k.update(t, func(tx ports.PersonalTx) error {
		set, same := spoken("one", "2"), spoken("one", "1")
		set.Text, same.Text, same.Status = "plums", "apples", conversations.Failed
		return errors.Join(tx.SetMessage(set), tx.SetMessage(same))
	})
	k.finds(t, "apples", 10, "4 3 1")
	k.finds(t, "pears", 10, "")
	k.finds(t, "plums", 10, "2")
	k.update(t, func(tx ports.PersonalTx) error { return tx.DropConversation("two") })
	k.finds(t, "apples", 10, "1")
	k.update(t, func(tx ports.PersonalTx) error {
		_, err := tx.DropMessages("one")
		return err
	})
	k.finds(t, "apples", 10, "")
	k.finds(t, "plums", 10, "")
	_ = k.Update(t.Context(), func(tx ports.PersonalTx) error {
		_, err := tx.AddMessage(spoken("one", "apples"))
		return errors.Join(err, errOops)
	})
	k.finds(t, "apples", 10, "")
	k.addMessage(t, "one", "5", "apples")
	k.finds(t, "apples", 10, "5")
}

func countsSizes(t *testing.T, k *keeper) {
	check := func(conversations, topics, messages int, bytes int64) {
		t.Helper()
		want := ports.PersonalSizes{Conversations: conversations, Topics: topics, Messages: messages, MessageBytes: bytes}
		if got, err := k.PersonalSizes(t.Context()); got != want || err != nil {
			t.Errorf("sizes are %+v, %v; want %+v", got, err, want)
		}
	}
	change := func(change func(tx ports.PersonalTx) error) {
		t.Helper()
		k.update(t, change)
	}
	check(0, 0, 0, 0)
	k.put(t, "one", "two")
	change(func(tx ports.PersonalTx) error { return tx.PutConversation(topicOf("three", "s")) })
	check(3, 1, 0, 0)
	change(func(tx ports.PersonalTx) error { return tx.PutConversation(topicOf("two", "other")) })
	check(3, 2, 0, 0)
	change(func(tx ports.PersonalTx) error { return tx.PutConversation(chat("three", 0)) })
	check(3, 1, 0, 0)
	k.addMessage(t, "one", "1", "12345")
	k.addMessage(t, "one", "2", "题\x00")
	k.addMessage(t, "two", "3", "1")
	check(3, 1, 3, 10)
	change(func(tx ports.PersonalTx) error { return tx.SetMessage(spoken("one", "1")) })
	check(3, 1, 3, 6)
	change(func(tx ports.PersonalTx) error { return tx.DropConversation("two") })
	check(2, 0, 2, 5)
	_ = k.Update(t.Context(), func(tx ports.PersonalTx) error { return errors.Join(tx.DropConversation("one"), errOops) })
	check(2, 0, 2, 5)
	change(func(tx ports.PersonalTx) error {
		_, err := tx.DropMessages("one")
		return err
	})
	check(2, 0, 0, 0)
}
