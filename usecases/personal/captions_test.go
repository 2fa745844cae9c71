package personal_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"plexus/domain/nova"
	"plexus/usecases/personal/hub"
)

func TestCaptionsOfATurn(t *testing.T) {
	staged(t, func(s *stage) {
		phone, desktop := s.phone(), s.desktop()
		s.model.then(func(_ context.Context, emit func(string) error) error {
			for range 50 {
				if err := emit("word "); err != nil {
					return err
				}
				time.Sleep(10 * time.Millisecond)
			}
			return nil
		})
		long := strings.Repeat("question ", 100)
		phone.accept("a", "chat:main", long)
		time.Sleep(time.Second)
		captions := got[nova.Caption](phone)
		if n := len(captions); n < 6 || n > 9 { // the question, one every 100 ms, the end
			s.Fatalf("%d captions of half a second", n)
		}
		all := s.messages("chat:main")
		question, last := captions[0], captions[len(captions)-1]
		if question.Role != nova.User || !question.Final || question.FullText != long || question.MessageID != all[0].ID {
			s.Fatalf("question: %+v", question)
		}
		if last.FullText != all[1].Text || last.Text != all[1].Text || last.FullText != strings.TrimSpace(strings.Repeat("word ", 50)) {
			s.Fatalf("end: %+v", last)
		}
		for i, c := range captions {
			if c.TurnID != all[0].TurnID || c.ConversationID != "chat:main" || c.TurnID == "" {
				s.Fatalf("caption %d: %+v", i, c)
			}
			if i > 0 && (c.Role != nova.Assistant || c.MessageID != all[1].ID || c.Final != (i == len(captions)-1) || c.Final != (c.FullText != "")) {
				s.Fatalf("caption %d: %+v", i, c)
			}
			if i > 0 && c.Sequence <= captions[i-1].Sequence {
				s.Fatalf("caption %d has sequence %d after %d", i, c.Sequence, captions[i-1].Sequence)
			}
		}
		if both := got[nova.Caption](desktop); len(both) != len(captions) || both[0] != captions[0] {
			s.Fatalf("the page got %d captions", len(both))
		}
		phone.Leave()
		phone = s.phone() // the counter is the host's
		phone.accept("b", "chat:main", "again")
		if next := got[nova.Caption](phone); len(next) != 3 || next[0].Sequence <= last.Sequence || next[0].TurnID == last.TurnID {
			s.Fatalf("after a reconnect %+v", next)
		}
	})
}

// A client without the extension has one stream, that of the selected conversation.
func TestALegacyClientGetsCaptionsOfTheSelectedConversationAlone(t *testing.T) {
	staged(t, func(s *stage) {
		legacy, desktop := s.attach(hub.Terms{}), s.desktop()
		other := s.chat("Other")
		if err := legacy.deliver(nova.InputText{Text: "unscoped"}); err != nil {
			s.Fatal(err)
		}
		if captions := got[nova.Caption](legacy); len(captions) != 3 || captions[2].FullText != "answer to unscoped" {
			s.Fatalf("captions %+v", captions)
		}
		if n := len(s.messages("chat:main")); n != 2 {
			s.Fatalf("%d messages in the selected conversation", n)
		}
		desktop.accept("a", other, "beside")
		if captions := got[nova.Caption](legacy); len(captions) != 0 {
			s.Fatalf("captions of another conversation: %+v", captions)
		}
		desktop.done("s", "conversations.select", `{"id":"`+other+`"}`)
		if err := legacy.deliver(nova.InputText{Text: "there"}); err != nil {
			s.Fatal(err)
		}
		if captions := got[nova.Caption](legacy); len(captions) != 3 || captions[0].ConversationID != other {
			s.Fatalf("captions %+v", captions)
		}
		if err := s.Delete(s.Context(), other); err != nil {
			s.Fatal(err)
		}
		if err := legacy.deliver(nova.InputText{Text: "back"}); err != nil {
			s.Fatal(err)
		}
		if captions := got[nova.Caption](legacy); len(captions) != 3 || captions[0].ConversationID != "chat:main" {
			s.Fatalf("after the selected one was deleted: %+v", captions)
		}
	})
}

func TestDeletingTakesBackWhatWasShownInPart(t *testing.T) {
	staged(t, func(s *stage) {
		phone, other := s.phone(), s.chat("Other")
		s.model.then(func(ctx context.Context, emit func(string) error) error {
			if err := emit("part"); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		})
		phone.accept("a", other, "question")
		before := got[nova.Caption](phone)
		if err := s.Delete(s.Context(), other); err != nil {
			s.Fatal(err)
		}
		after := got[nova.Caption](phone)
		if len(after) != 1 || !after[0].Final || after[0].Text != "" || after[0].TurnID != before[0].TurnID {
			s.Fatalf("captions %+v", after)
		}
	})
}
