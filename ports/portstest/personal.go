package portstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/ports"
)

// PersonalKeeper is a store with its archive.
type PersonalKeeper interface {
	ports.PersonalStore
	ports.PersonalArchive
}

// PersonalStore runs the contract of ports.PersonalStore. build gives an empty
// store and cleans up by t.Cleanup.
func PersonalStore(t *testing.T, build func(t *testing.T) PersonalKeeper) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, k *keeper)
	}{
		{"a change reads what it has written", readsItsWrites},
		{"an error undoes everything", errorUndoes},
		{"a panic undoes everything", panicUndoes},
		{"an ended context changes nothing", changesNothingOnceEnded},
		{"a context ends the wait", contextEndsTheWait},
		{"a change that has begun is seen through", seenThrough},
		{"changes never overlap and all land", changesLand},
		{"changes that fail harm no others", failuresHarmNoOthers},
		{"a view sees one state", viewSeesOneState},
		{"a view is not older than what has returned", viewIsFresh},
		{"views see whole changes only", viewsSeeWholeChanges},
		{"a view's error comes back", viewErrors},
		{"conversations come back as they were put", conversationsComeBack},
		{"lists of conversations", listsConversations},
		{"subjects", subjects},
		{"a dropped conversation", dropsConversation},
		{"messages come back as they were added", messagesComeBack},
		{"messages before", messagesBefore},
		{"a walk within a walk", walksWithin},
		{"messages that are not there", messagesUnknown},
		{"messages are replaced", setsMessages},
		{"seq is never given again", seqRises},
		{"messages are dropped", dropsMessages},
		{"unread messages", countsUnread},
		{"pending messages are interrupted", interruptsPending},
		{"records in order", recordsInOrder},
		{"records are kept up to a bound", recordsKept},
		{"record bodies", recordBodies},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, &keeper{build(t)}) })
	}
}

// keeper is a store under test.
type keeper struct{ PersonalKeeper }

// errOops is what a change of a test fails with.
var errOops = errors.New("oops")

// update makes a change that must work.
func (k *keeper) update(t *testing.T, change func(tx ports.PersonalTx) error) {
	t.Helper()
	if err := k.Update(t.Context(), change); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func (k *keeper) view(t *testing.T, look func(v ports.PersonalView) error) {
	t.Helper()
	if err := k.View(t.Context(), look); err != nil {
		t.Fatalf("view: %v", err)
	}
}

// put stores chats with these IDs, updated one second after the other.
func (k *keeper) put(t *testing.T, ids ...string) {
	t.Helper()
	k.update(t, func(tx ports.PersonalTx) error {
		for i, id := range ids {
			if err := tx.PutConversation(chat(id, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func chat(id string, second int) conversations.Conversation {
	at := visitTime().Add(time.Duration(second) * time.Second)
	return conversations.Conversation{ID: id, Kind: conversations.Chat, Title: "Chat " + id, CreatedAt: at, UpdatedAt: at, Generation: 1}
}

// say adds messages of one conversation, whose texts are also their IDs, and
// gives the last Seq.
func (k *keeper) say(t *testing.T, conversation string, texts ...string) (seq int64) {
	t.Helper()
	k.update(t, func(tx ports.PersonalTx) (err error) {
		for _, text := range texts {
			if seq, err = tx.AddMessage(spoken(conversation, text)); err != nil {
				return err
			}
		}
		return nil
	})
	return seq
}

func spoken(conversation, text string) conversations.Message {
	return conversations.Message{ID: text, ConversationID: conversation, Role: conversations.Assistant, Text: text, CreatedAt: visitTime()}
}

// dump writes down all that a test can have stored.
func (k *keeper) dump(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	k.view(t, func(v ports.PersonalView) error { return dumpTo(&b, v) })
	sizes, err := k.PersonalSizes(t.Context())
	if err != nil {
		t.Fatalf("sizes: %v", err)
	}
	fmt.Fprintf(&b, "%+v\n", sizes)
	return b.String()
}

func dumpTo(b *strings.Builder, v ports.PersonalView) error {
	list, err := v.Conversations(ports.ConversationQuery{Limit: 1000})
	if err != nil {
		return err
	}
	for _, c := range list {
		fmt.Fprintf(b, "%+v\n", c)
		err := v.MessagesBefore(c.ID, 0, 1000, func(m conversations.Message) bool {
			fmt.Fprintf(b, "  %+v\n", m)
			return true
		})
		if err != nil {
			return err
		}
	}
	for _, kind := range []string{"a", "b"} {
		records, err := v.Records(kind, 1000)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s %s\n", kind, records)
	}
	return nil
}

// spoil makes every kind of change.
func spoil(tx ports.PersonalTx) error {
	_, added := tx.AddMessage(spoken("one", "spoilt"))
	pending := conversations.Message{ID: "first", ConversationID: "one", Role: conversations.User, Text: "spoilt", Status: conversations.Pending}
	set := tx.SetMessage(pending)
	_, interrupted := tx.InterruptPending()
	_, emptied := tx.DropMessages("two")
	return errors.Join(added, set, interrupted, emptied,
		tx.PutConversation(chat("spoilt", 9)), tx.PutConversation(chat("one", 9)), tx.DropConversation("three"),
		tx.PutRecord("a", "r", []byte("spoilt"), 0), tx.PutRecord("a", "more", nil, 1), tx.DropRecord("b", "r"))
}

// settled gives a store that has something of everything.
func settled(t *testing.T, k *keeper) {
	t.Helper()
	k.put(t, "one", "two", "three")
	k.say(t, "one", "first", "second")
	k.say(t, "two", "third")
	k.say(t, "three", "fourth")
	k.update(t, func(tx ports.PersonalTx) error {
		return errors.Join(tx.PutRecord("a", "r", []byte("1"), 0), tx.PutRecord("b", "r", []byte("2"), 0))
	})
}

func readsItsWrites(t *testing.T, k *keeper) {
	settled(t, k)
	k.update(t, func(tx ports.PersonalTx) error {
		if err := spoil(tx); err != nil {
			return err
		}
		var inside strings.Builder
		if err := dumpTo(&inside, tx); err != nil {
			return err
		}
		for _, want := range []string{"ID:spoilt", "Text:spoilt", "{more }"} {
			if !strings.Contains(inside.String(), want) {
				t.Errorf("the change does not see its own %q:\n%s", want, &inside)
			}
		}
		for _, gone := range []string{"third", "fourth", "{r "} {
			if strings.Contains(inside.String(), gone) {
				t.Errorf("the change still sees %q:\n%s", gone, &inside)
			}
		}
		return nil
	})
}

func errorUndoes(t *testing.T, k *keeper) {
	settled(t, k)
	before := k.dump(t)
	err := k.Update(t.Context(), func(tx ports.PersonalTx) error { return errors.Join(spoil(tx), errOops) })
	if !errors.Is(err, errOops) || err.Error() != errOops.Error() {
		t.Errorf("update gave %v; want the error of the change as it is", err)
	}
	if after := k.dump(t); after != before {
		t.Errorf("a failed change left\n%swant\n%s", after, before)
	}
	k.say(t, "one", "still works")
}

func panicUndoes(t *testing.T, k *keeper) {
	settled(t, k)
	before := k.dump(t)
	func() {
		defer func() {
			if cause := recover(); cause != "oops" {
				t.Errorf("update panicked with %v; want the panic of the change", cause)
			}
		}()
		err := k.Update(t.Context(), func(tx ports.PersonalTx) error {
			if err := spoil(tx); err != nil {
				t.Error(err)
			}
			panic("oops")
		})
		t.Errorf("update returned %v after a panic", err)
	}()
	if after := k.dump(t); after != before {
		t.Errorf("a change that panicked left\n%swant\n%s", after, before)
	}
	k.say(t, "one", "still works")
}

func changesNothingOnceEnded(t *testing.T, k *keeper) {
	err := k.Update(endedContext(t), func(ports.PersonalTx) error {
		t.Error("the change ran")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("update gave %v; want context.Canceled", err)
	}
}

// hold keeps the store in a change until release is called, which waits for the
// change to land.
func (k *keeper) hold(t *testing.T) (release func()) {
	t.Helper()
	begun, free, landed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		landed <- k.Update(t.Context(), func(tx ports.PersonalTx) error {
			close(begun)
			<-free
			return tx.PutRecord("a", "held", nil, 0)
		})
	}()
	<-begun
	return func() {
		close(free)
		if err := <-landed; err != nil {
			t.Errorf("the change that held the store: %v", err)
		}
	}
}

func contextEndsTheWait(t *testing.T, k *keeper) {
	release := k.hold(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	err := returnsAtOnce(t, ctx.Done(), func() error {
		return k.Update(ctx, func(ports.PersonalTx) error {
			t.Error("a change ran in spite of its context")
			return nil
		})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("update gave %v; want context.Canceled", err)
	}
	release()
	k.put(t, "after")
}

func seenThrough(t *testing.T, k *keeper) {
	ctx, cancel := context.WithCancel(t.Context())
	err := k.Update(ctx, func(tx ports.PersonalTx) error {
		cancel()
		return tx.PutConversation(chat("one", 0))
	})
	if err != nil {
		t.Errorf("update gave %v", err)
	}
	k.view(t, func(v ports.PersonalView) error {
		_, err := v.Conversation("one")
		return err
	})
}

// addOne is a change that only holds if no other comes between its two steps.
func addOne(tx ports.PersonalTx) error {
	body, err := tx.Record("a", "count")
	if err != nil && !errors.Is(err, ports.ErrRecordUnknown) {
		return err
	}
	return tx.PutRecord("a", "count", append(body, '1'), 0)
}

func (k *keeper) count(t *testing.T) (n int) {
	t.Helper()
	k.view(t, func(v ports.PersonalView) error {
		body, err := v.Record("a", "count")
		n = len(body)
		return err
	})
	return n
}

func changesLand(t *testing.T, k *keeper) {
	const callers, each = 50, 10
	var inside atomic.Int32
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				err := k.Update(t.Context(), func(tx ports.PersonalTx) error {
					if inside.Add(1) > 1 {
						t.Error("two changes run at once")
					}
					defer inside.Add(-1)
					return addOne(tx)
				})
				if err != nil {
					t.Errorf("update: %v", err)
				}
			}
		})
	}
	all.Wait()
	if n := k.count(t); n != callers*each {
		t.Errorf("%d changes landed; want %d", n, callers*each)
	}
}

func failuresHarmNoOthers(t *testing.T, k *keeper) {
	const callers = 60
	release := k.hold(t) // so that they come together
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			defer func() {
				if cause := recover(); (cause == "oops") != (i%3 == 2) {
					t.Errorf("caller %d panicked with %v", i, cause)
				}
			}()
			err := k.Update(t.Context(), func(tx ports.PersonalTx) error {
				err := addOne(tx)
				switch {
				case i%3 == 1:
					return errors.Join(err, errOops)
				case i%3 == 2:
					panic("oops")
				}
				return err
			})
			if errors.Is(err, errOops) != (i%3 == 1) || i%3 == 0 && err != nil {
				t.Errorf("caller %d got %v", i, err)
			}
		})
	}
	release()
	all.Wait()
	if n := k.count(t); n != callers/3 {
		t.Errorf("%d changes landed; want %d", n, callers/3)
	}
}
