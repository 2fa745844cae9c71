package personal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"plexus/adapters/memory"
	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/life"
)

func TestTheOwnerWritesReadsAndSearches(t *testing.T) {
	staged(t, func(s *stage) {
		for i := range 5 {
			if err := s.SubmitText(s.Context(), conversations.MainID, fmt.Sprint("text ", i)); err != nil {
				s.Fatal(err)
			}
			synctest.Wait()
		}
		newest, err := s.Messages(s.Context(), conversations.MainID, 0, 3)
		if want := []string{"answer to text 3", "text 4", "answer to text 4"}; err != nil || !slices.Equal(texts(newest), want) {
			s.Fatalf("newest %q, %v", texts(newest), err)
		}
		older, err := s.Messages(s.Context(), conversations.MainID, newest[0].Seq, 2)
		if want := []string{"answer to text 2", "text 3"}; err != nil || !slices.Equal(texts(older), want) {
			s.Errorf("before them %q, %v", texts(older), err)
		}
		if first, err := s.Messages(s.Context(), conversations.MainID, 1, 2); err != nil || len(first) != 0 {
			s.Errorf("before the first %+v, %v", first, err)
		}
		if none, err := s.Messages(s.Context(), "chat:unknown", 0, 2); err != nil || len(none) != 0 {
			s.Errorf("of no conversation %+v, %v", none, err)
		}
		found, err := s.SearchMessages(s.Context(), "answer 2", 10)
		if err != nil || len(found) != 1 || found[0].Text != "answer to text 2" || found[0].ConversationID != conversations.MainID {
			s.Errorf("found %+v, %v", found, err)
		}
		sizes, err := s.Sizes(s.Context())
		if want := (ports.PersonalSizes{Conversations: 2, Messages: 10, MessageBytes: 5 * int64(len("text 0")+len("answer to text 0"))}); err != nil || sizes != want {
			s.Errorf("sizes %+v, %v, want %+v", sizes, err, want)
		}
		if err := s.SubmitText(s.Context(), "chat:unknown", "Hello"); !errors.Is(err, workbench.ConversationNotFound) {
			s.Errorf("a text to nowhere: %v", err)
		}
		if _, _, err := s.Conversation(s.Context(), "chat:unknown"); !errors.Is(err, ports.ErrConversationUnknown) {
			s.Errorf("no conversation: %v", err)
		}
	})
}

func TestTheOwnerMakesAndRemovesConversations(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		id := s.chat("  A   chat ")
		if selected := phone.see().Conversations.SelectedID; selected != conversations.MainID {
			s.Errorf("a chat made at the page was selected: %s", selected)
		}
		phone.done("sel", "conversations.select", `{"id":"`+id+`"}`)
		phone.accept("t", id, "Hello")
		s.messages(id)
		if err := s.Clear(s.Context(), id); err != nil {
			s.Fatal(err)
		}
		if c := s.conversation(id); c.Generation != 1 || len(s.messages(id)) != 0 {
			s.Errorf("cleared: %+v", c)
		}
		if err := s.Delete(s.Context(), id); err != nil {
			s.Fatal(err)
		}
		if selected := phone.see().Conversations.SelectedID; selected != conversations.MainID {
			s.Errorf("selected %s after the chat was deleted", selected)
		}
		if err := s.SubmitText(s.Context(), "", "to the selected one"); err != nil || len(s.messages(conversations.MainID)) != 2 {
			s.Errorf("a text without a target: %v", err)
		}
		for _, c := range []struct {
			doing string
			err   error
			want  error
		}{
			{"delete twice", s.Delete(s.Context(), id), workbench.ConversationNotFound},
			{"clear what is gone", s.Clear(s.Context(), id), workbench.ConversationNotFound},
			{"delete main", s.Delete(s.Context(), conversations.MainID), workbench.InvalidRequest},
			{"delete reminders", s.Delete(s.Context(), conversations.ProactiveID), workbench.InvalidRequest},
			{"clear reminders", s.Clear(s.Context(), conversations.ProactiveID), nil},
			{"write again after a refusal", s.SubmitText(s.Context(), conversations.MainID, "more"), nil},
		} {
			if !errors.Is(c.err, c.want) {
				s.Errorf("%s: %v, want %v", c.doing, c.err, c.want)
			}
		}
		for range conversations.MaxChats - 1 { // main is one
			s.chat("")
		}
		if _, err := s.CreateChat(s.Context(), ""); !errors.Is(err, workbench.ConversationLimit) {
			s.Errorf("one chat too many: %v", err)
		}
	})
}

// The page goes while the change that it asked for waits for the store.
func TestAChangeOfThePageIsSeenThrough(t *testing.T) {
	staged(t, func(s *stage) {
		free := s.stall()
		busy := make(chan error, 1)
		go func() { busy <- s.store.Update(s.Context(), func(ports.PersonalTx) error { return nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(s.Context())
		made := make(chan error, 1)
		go func() {
			_, err := s.CreateChat(ctx, "Made")
			made <- err
		}()
		synctest.Wait()
		cancel()
		free()
		if err := errors.Join(<-busy, <-made); err != nil || s.chats("Made") != 1 {
			s.Errorf("%d chats were made, %v", s.chats("Made"), err)
		}
	})
}

func TestTheOwnerDeletesEveryTopic(t *testing.T) {
	voice := &speaker{}
	staged(t, func(s *stage) {
		const topics = 450 // more than two steps
		for i := range topics {
			s.browse(framing.PageContext{URL: fmt.Sprintf("https://example.com/%d", i), Title: "A page", Extract: "Text"}, "What?", "This.")
		}
		list, total, err := s.Conversations(s.Context(), 0, 1)
		if err != nil || total != topics+2 {
			s.Fatalf("%d conversations, %v", total, err)
		}
		phone := s.phone()
		phone.done("v", "conversations.voice", `{"id":"`+list[0].ID+`","enabled":true}`)
		if n, err := s.DeleteTopics(s.Context()); err != nil || n != topics-1 {
			s.Errorf("%d topics were deleted, %v", n, err)
		}
		if _, total, _ := s.Conversations(s.Context(), 0, 1); total != 3 {
			s.Errorf("%d conversations are left, want main, reminders and the one that speaks", total)
		}
		if n := len(s.records("background")); n != 1 {
			s.Errorf("%d backgrounds are left", n)
		}
		if err := s.Delete(s.Context(), list[0].ID); !errors.Is(err, workbench.VoiceActive) {
			s.Errorf("delete where voice is on: %v", err)
		}
		if n, err := s.DeleteTopics(s.Context()); err != nil || n != 0 {
			s.Errorf("again: %d, %v", n, err)
		}
	}, voice.plug)
}

// eraser counts how often traces were erased.
type eraser struct {
	*memory.Personal
	times atomic.Int32
}

func (e *eraser) EraseTraces(context.Context) error {
	e.times.Add(1)
	return errors.New("somebody reads on")
}

func TestWhatIsDeletedLeavesNoTraces(t *testing.T) {
	archive := &eraser{}
	staged(t, func(s *stage) {
		phone, chat := s.phone(), s.chat("Secret")
		for _, c := range []struct {
			name string
			do   func() error
			want int32
		}{
			{"select", func() error { phone.done("s", "conversations.select", `{"id":"`+chat+`"}`); return nil }, 0},
			{"clear", func() error { phone.done("c", "conversations.clear", `{"id":"chat:main"}`); return nil }, 1},
			{"clear at the page", func() error { return s.Clear(s.Context(), chat) }, 1},
			{"delete", func() error { return s.Delete(s.Context(), chat) }, 1},
			{"delete topics", func() error { _, err := s.DeleteTopics(s.Context()); return err }, 1},
		} {
			archive.times.Store(0)
			if err := c.do(); err != nil {
				s.Errorf("%s: %v", c.name, err)
			}
			synctest.Wait()
			if n := archive.times.Load(); n != c.want {
				s.Errorf("%s: traces were erased %d times, want %d", c.name, n, c.want)
			}
		}
	}, func(d *personal.Deps, _ *personal.Options) {
		archive.Personal = d.Store.(*memory.Personal)
		d.Archive = archive
	})
}

func TestThePageAndPhonesChangeTheSameLists(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		var made life.Outcome
		if err := json.Unmarshal(phone.done("r", "life.mutate", todo), &made); err != nil || made.Version != 1 {
			s.Fatalf("made %+v, %v", made, err)
		}
		doing := life.UpdateItem{Kind: workbench.Todo, ID: made.ID, Expected: 1, Status: "doing"}
		done, err := s.MutateLife(s.Context(), "p1", doing)
		if err != nil || done.Version != 2 {
			s.Fatalf("%+v, %v", done, err)
		}
		phone.refuse("r2", "life.mutate", fmt.Sprintf(`{"op":"update","kind":"todo","id":%q,"expected_version":1,"status":"done"}`, made.ID), workbench.VersionConflict)
		phone.done("r3", "life.mutate", fmt.Sprintf(`{"op":"update","kind":"todo","id":%q,"expected_version":2,"status":"done"}`, made.ID))
		// The same request of the page happens once, whatever came after it.
		if again, err := s.MutateLife(s.Context(), "p1", doing); err != nil || again != done {
			s.Errorf("again: %+v, %v", again, err)
		}
		doing.Status = "waiting"
		if _, err := s.MutateLife(s.Context(), "p1", doing); !errors.Is(err, workbench.RequestIDConflict) {
			s.Errorf("another change under the same name: %v", err)
		}
		if _, err := s.MutateLife(s.Context(), "p2", doing); !errors.Is(err, workbench.VersionConflict) {
			s.Errorf("an old version: %v", err)
		}
		// Names of the page and of phones are apart.
		if _, err := s.MutateLife(s.Context(), "r", life.SetProfile{About: "Me"}); err != nil {
			s.Errorf("a phone's name at the page: %v", err)
		}
		items, profile, err := s.Lists(s.Context())
		if err != nil || len(items) != 1 || items[0].Status != "done" || items[0].Version != 3 || profile != (life.Profile{About: "Me", Version: 1}) {
			s.Errorf("lists %+v and %+v, %v", items, profile, err)
		}
		if shown := phone.see().Life; len(shown.Todos) != 1 || shown.Todos[0].Version != 3 || shown.Profile.About != "Me" {
			s.Errorf("phones see %+v", shown)
		}
		s.restart()
		doing.Status = "doing"
		if again, err := s.MutateLife(s.Context(), "p1", doing); err != nil || again != done {
			s.Errorf("again after a restart: %+v, %v", again, err)
		}
	})
}

// What is printed side by side must not pass for the same change.
func TestChangesOfTheListsAreToldApart(t *testing.T) {
	staged(t, func(s *stage) {
		if _, err := s.MutateLife(s.Context(), "p", life.CreateItem{Kind: workbench.Idea, Title: "a", Note: "b Note:c"}); err != nil {
			s.Fatal(err)
		}
		for _, op := range []life.Op{
			life.CreateItem{Kind: workbench.Idea, Title: "a Note:b", Note: "c"},
			life.CreateItem{Kind: workbench.Idea, Title: "a", Note: "b"},
			life.ConvertIdea{ID: "a", Target: workbench.Todo},
		} {
			if _, err := s.MutateLife(s.Context(), "p", op); !errors.Is(err, workbench.RequestIDConflict) {
				s.Errorf("%#v: %v", op, err)
			}
		}
	})
}

func TestEveryChangeIsToldOf(t *testing.T) {
	voice := &speaker{}
	staged(t, func(s *stage) {
		s.putFeed("f1", nil)
		phone, page := s.phone(), s.desktop()
		other := s.chat("Other")
		must := func(err error) {
			s.Helper()
			if err != nil {
				s.Error(err)
			}
		}
		last := phone.see().Revision
		for _, c := range []struct {
			name  string
			do    func()
			shown bool // to phones
		}{
			{"a text and its answer", func() { phone.accept("t", conversations.MainID, "Hello") }, true},
			{"a command", func() { phone.done("c", "life.mutate", todo) }, true},
			{"a feed action", func() { phone.done("f", "feed.action", `{"id":"f1","action":"open"}`) }, true},
			{"a selection", func() { phone.done("s", "conversations.select", `{"id":"`+other+`"}`) }, true},
			{"voice on", func() { phone.done("v", "conversations.voice", `{"id":"`+other+`","enabled":true}`) }, true},
			{"voice off", func() { phone.done("w", "conversations.voice", `{"id":"`+other+`","enabled":false}`) }, true},
			{"a mode of the page", func() { page.done("m", "presentation.set", `{"mode":"orb"}`) }, true},
			{"a chat of the page", func() { s.chat("Third") }, true},
			{"a clearing", func() { must(s.Clear(s.Context(), other)) }, true},
			{"a deletion", func() { must(s.Delete(s.Context(), other)) }, true},
			{"a list", func() {
				_, err := s.MutateLife(s.Context(), "p", life.SetProfile{About: "Me"})
				must(err)
			}, true},
			{"a question of the browser", func() { s.browse(framing.PageContext{URL: "https://example.com/", Title: "A"}, "What?", "This.") }, true},
			{"the end of topics", func() {
				_, err := s.DeleteTopics(s.Context())
				must(err)
			}, true},
			{"a setting", func() { must(s.SetRecording(s.Context(), false)) }, false},
		} {
			changed := s.Changed()
			c.do()
			synctest.Wait()
			select {
			case <-changed:
			default:
				s.Errorf("%s: the page was not told", c.name)
			}
			revision := phone.see().Revision
			if rises := revision > last; rises != c.shown {
				s.Errorf("%s: revision %d after %d", c.name, revision, last)
			}
			if told := phone.newest(); c.shown && told != revision {
				s.Errorf("%s: the phone was told of revision %d, and sees %d", c.name, told, revision)
			}
			last = revision
		}
		changed := s.Changed()
		phone.done("l", "tasks.list", `{}`)
		synctest.Wait()
		select {
		case <-changed:
			s.Error("a look is no change")
		default:
		}
	}, voice.plug)
}

func TestRevisionsOutliveTheHost(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for range 3 {
			before := phone.see().Revision
			for i := range 5 {
				phone.done(fmt.Sprint(before, "c", i), "conversations.create", `{}`)
				if now := phone.see().Revision; now <= before {
					s.Errorf("revision %d after %d", now, before)
				} else {
					before = now
				}
			}
			stored := uint64(0)
			for _, r := range s.records("host") {
				if r.ID == "revision" {
					if err := json.Unmarshal(r.Body, &stored); err != nil {
						s.Fatal(err)
					}
				}
			}
			s.restart()
			phone = s.phone()
			if now := phone.see().Revision; stored == 0 || now < stored {
				s.Errorf("after a restart the revision is %d, and %d was stored", now, stored)
			}
		}
	})
}

// newest is the revision that the client was told of last.
func (c *client) newest() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}
