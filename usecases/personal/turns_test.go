package personal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
)

func TestATextIsAnsweredAndShown(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		if err := phone.say("t1", "chat:main", "Hello"); err != "" {
			t.Fatal(err)
		}
		all := s.messages("chat:main")
		if len(all) != 2 || all[0].Status != conversations.Completed || all[1].ReplyTo != all[0].ID || all[1].Text != "answer to Hello" {
			t.Fatalf("stored %+v", all)
		}
		captions := got[nova.Caption](phone)
		last := captions[len(captions)-1]
		if !last.Final || last.FullText != "answer to Hello" || last.ConversationID != "chat:main" || last.MessageID != all[1].ID {
			t.Fatalf("last caption %+v", last)
		}
		for i := 1; i < len(captions); i++ {
			if captions[i].Sequence <= captions[i-1].Sequence {
				t.Fatal("sequence does not rise")
			}
		}
		snapshot := phone.see()
		if n := len(snapshot.Conversations.Messages); n != 2 {
			t.Fatalf("snapshot shows %d messages", n)
		}
	})
}

func TestP44_TurnsOfOneConversationInOrderOthersBeside(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		gate := make(chan struct{})
		s.model.then(waits(gate, "first"))
		other := "chat:main"
		phone.done("c1", "conversations.create", `{"title":"Second"}`)
		second := phone.see().Conversations.SelectedID
		for i, id := range []string{"a", "b"} {
			if cause := phone.say(id, other, "text "+string(rune('1'+i))); cause != "" {
				t.Fatal(cause)
			}
		}
		if cause := phone.say("c", second, "beside"); cause != "" {
			t.Fatal(cause)
		}
		if got := s.messages(second); len(got) != 2 {
			t.Fatalf("the other conversation waits: %+v", got)
		}
		if got := s.messages(other); len(got) != 2 {
			t.Fatalf("the second turn did not wait: %+v", got)
		}
		close(gate)
		synctest.Wait()
		got := s.messages(other)
		if len(got) != 4 || got[2].Text != "first" || got[3].Text != "answer to text 2" {
			t.Fatalf("order: %+v", got)
		}
	})
}

func TestWhatAPausingModelHasSaidIsShownInTime(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.model.then(func(ctx context.Context, emit func(string) error) error {
			if err := errors.Join(emit("One "), emit("two "), emit("three")); err != nil {
				return err
			}
			<-time.After(time.Minute)
			return nil
		})
		phone.say("t1", "chat:main", "Count")
		<-time.After(99 * time.Millisecond)
		if shown := got[nova.Caption](phone); shown[len(shown)-1].Text != "One " {
			t.Fatalf("at once: %+v", shown)
		}
		<-time.After(time.Millisecond)
		if shown := got[nova.Caption](phone); len(shown) != 1 || shown[0].Text != "One two three" || shown[0].Final {
			t.Fatalf("after the pause: %+v", shown)
		}
		<-time.After(time.Minute)
		if shown := got[nova.Caption](phone); len(shown) != 1 || !shown[0].Final {
			t.Fatalf("at the end: %+v", shown)
		}
	})
}

// What a model ends at its limit, or will not answer, says so and is not complete, so
// that it is no part of the next prompt; nor is reasoning ever (decision D19).
func TestD19_AnAnswerThatTheModelEndsOtherwise(t *testing.T) {
	for _, tc := range []struct {
		err  error
		said string
	}{
		{ports.ErrModelCut, "[The answer was cut at the model's limit.]"},
		{ports.ErrModelFiltered, "[A filter of the model's service stopped the answer.]"},
		{ports.ErrModelRefused, "[The model refused to answer.]"},
	} {
		staged(t, func(s *stage) {
			phone := s.phone()
			s.model.then(func(_ context.Context, emit func(string) error) error {
				return errors.Join(emit("Let me count."), emit(answers.ThoughtEnd), emit("One, two"), tc.err)
			})
			phone.say("t1", "chat:main", "Count")
			all := s.messages("chat:main")
			if len(all) != 2 || all[0].Status != conversations.Interrupted || all[1].Delivery != conversations.CutOff || all[1].Text != "One, two\n\n"+tc.said {
				t.Fatalf("stored %+v", all)
			}
			captions := got[nova.Caption](phone)
			if last := captions[len(captions)-1]; !last.Final || last.FullText != all[1].Text {
				t.Errorf("last caption %+v", last)
			}
			phone.say("t2", "chat:main", "Go on")
			calls := s.model.calls()
			if told := calls[len(calls)-1].History; len(told) != 0 {
				t.Errorf("the model is told that it said %+v", told)
			}
		})
	}
}

// A client's language is that of the answers to it.
func TestN10_AnswersAreInTheLanguageOfTheClient(t *testing.T) {
	staged(t, func(s *stage) {
		s.putFeed("f1", nil)
		chinese := s.attach(hub.Terms{Personal: true, Language: nova.Chinese})
		chinese.accept("a", "chat:main", "text")
		chinese.done("o", "conversations.open_feed", `{"feed_id":"f1"}`)
		synctest.Wait()
		s.phone().accept("b", "chat:main", "text")
		s.desktop().accept("c", "chat:main", "text")
		for i, want := range []string{"就用简体中文", "就用简体中文", "in English", "就用简体中文"} {
			if system := s.model.calls()[i].System; !contains(system, want) {
				t.Errorf("turn %d is not answered %s: %s", i, want, system)
			}
		}
	}, func(_ *personal.Deps, o *personal.Options) {
		o.Language, o.PageLanguage = answers.English, nova.Chinese
	})
}

// What is held back while a clearing is on its way is what was said then. The
// model goes on meanwhile.
func TestAHeldCaptionIsThatOfItsMoment(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		begin, more, end, disk := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
		s.model.then(func(_ context.Context, emit func(string) error) error {
			<-begin
			err := emit("one ")
			<-more
			err = errors.Join(err, emit("two ")) // too soon to be shown
			<-end
			return err
		})
		phone.accept("a", conversations.MainID, "question")
		got[nova.Caption](phone)
		first := true
		s.store.BeforeCommit(func() error {
			if !first {
				return nil
			}
			first = false
			<-disk
			return errors.New("the disk is full")
		})
		refused := make(chan error)
		go func() { refused <- phone.deliver(command("c", "conversations.clear", `{"id":"chat:main"}`)) }()
		synctest.Wait()
		close(begin)
		synctest.Wait()
		close(more)
		synctest.Wait()
		close(disk)
		if err := <-refused; err != nil {
			t.Fatal(err)
		}
		if shown := got[nova.Caption](phone); len(shown) != 1 || shown[0].Text != "one " {
			t.Errorf("captions %+v", shown)
		}
		close(end)
	})
}

// The host stops while the end of a turn waits for the store: what was said is
// kept.
func TestAnAnswerThatIsBeingStoredOutlivesTheStop(t *testing.T) {
	staged(t, func(s *stage) {
		phone, other, gate := s.phone(), s.chat("Other"), make(chan struct{})
		s.model.then(waits(gate, "said"))
		phone.accept("a", conversations.MainID, "question")
		free := s.stall()
		if err := phone.deliver(submit("b", other, "holds the store")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		go s.Stop()
		synctest.Wait()
		free()
		if all := s.messages(conversations.MainID); len(all) != 2 || all[0].Status != conversations.Completed || all[1].Text != "said" {
			t.Errorf("stored %+v", all)
		}
	})
}

// Two commits become known in the other order: what the newer one selected stays.
func TestAnOlderCommitSelectsNothing(t *testing.T) {
	late := &lateStore{}
	staged(t, func(s *stage) {
		phone, other := s.phone(), s.chat("Other")
		phone.done("m", "conversations.select", `{"id":"chat:main"}`)
		s.model.then(hangs) // its end would be a newer commit
		free := late.hold(0)
		if err := phone.deliver(submit("a", conversations.MainID, "older")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		phone.done("s", "conversations.select", `{"id":"`+other+`"}`)
		free()
		phone.receipts()
		phone.accept("b", "", "unscoped")
		if all := s.messages(other); len(all) != 2 || all[0].Text != "unscoped" {
			t.Errorf("in the selected conversation: %+v", all)
		}
	}, late.plug)
}
