package personal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/turns"
)

// receipts are the outcomes of texts that were sent since the last call.
func (c *client) receipts() []nova.TextResult { return got[nova.TextResult](c) }

func submit(id, conversation, text string) nova.InputText {
	return nova.InputText{Text: text, RequestID: id, ConversationID: conversation}
}

func TestP59_TheReceiptIsTheAcknowledgementNotTheCaption(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.store.FailNext(errors.New("the disk is full"))
		if cause := phone.say("a", "chat:main", "same words"); cause != nova.SubmissionFailed {
			s.Fatalf("unstored text: %q", cause)
		}
		if captions := got[nova.Caption](phone); len(captions) != 0 || len(s.messages("chat:main")) != 0 {
			s.Fatalf("an unstored text is shown: %+v", captions)
		}
		phone.accept("b", "chat:main", "same words")
		captions := got[nova.Caption](phone)
		if len(captions) == 0 || captions[0].Role != nova.User || !captions[0].Final || captions[0].FullText != "same words" {
			s.Fatalf("captions %+v", captions)
		}
		if more := phone.receipts(); len(more) != 0 {
			s.Fatalf("a second receipt: %+v", more)
		}
	})
}

func TestP60_N53_ARetrySharesTheSubmissionAlsoAfterReconnect(t *testing.T) {
	staged(t, func(s *stage) {
		first, free := s.phone(), s.stall()
		text := submit("a", "chat:main", "once")
		if err := errors.Join(first.deliver(text), first.deliver(text)); err != nil {
			s.Fatal(err)
		}
		if early := first.receipts(); len(early) != 0 {
			s.Fatalf("receipts before it is stored: %+v", early)
		}
		first.Leave()
		second := s.phone()
		if err := second.deliver(text); err != nil {
			s.Fatal(err)
		}
		free()
		results := second.receipts()
		if len(results) != 3 || results[0] != results[1] || results[1] != results[2] || results[0].Error != "" {
			s.Fatalf("receipts %+v", results)
		}
		if late := first.receipts(); len(late) != 0 {
			s.Fatalf("the client that left got %+v", late)
		}
		second.accept("a", "chat:main", "once")
		if all := s.messages("chat:main"); len(all) != 2 || len(s.model.calls()) != 1 {
			s.Fatalf("stored %+v", all)
		}
	})
}

func TestK16_ATextThatCannotBeSubmittedIsRefused(t *testing.T) {
	staged(t, func(s *stage) {
		phone, page := s.phone(), s.desktop()
		legacy := s.attach(hub.Terms{})
		bad := []string{
			"", " ", "\u3000\ufeff\n", strings.Repeat("x", nova.MaxInputUnits+1), strings.Repeat("🎧", nova.MaxInputUnits/2) + "x",
			strings.Repeat("字", nova.MaxMessage/4),
		}
		for n, text := range bad {
			for _, c := range []*client{phone, page, legacy} {
				if err := c.deliver(submit("", "chat:main", text)); !errors.Is(err, workbench.InvalidRequest) {
					s.Errorf("text %d without an ID: %v", n, err)
				}
				for range 2 { // again and again
					if cause := c.say(fmt.Sprint(n), "chat:main", text); cause != nova.SubmissionFailed {
						s.Errorf("text %d: %q", n, cause)
					}
				}
			}
		}
		foreign := submit("f", "chat:main", " ")
		foreign.InputInstanceID = "00000000-0000-4000-8000-000000000000"
		if err := phone.deliver(foreign); err != nil {
			s.Fatal(err)
		}
		if r := phone.receipts(); len(r) != 1 || r[0].Error != nova.OutcomeUnknown {
			s.Errorf("foreign instance: %+v", r)
		}
		phone.accept("0", "chat:main", "put right") // under the ID of a blank one
		if cause := phone.say("0", "chat:main", " "); cause != nova.RequestIDConflict {
			s.Errorf("a blank one under the ID of a good one: %q", cause)
		}
		for n := range turns.MaxTextRequests { // they use up no places
			phone.say(fmt.Sprint("blank ", n), "chat:main", " ")
		}
		phone.accept("longest", "chat:main", strings.Repeat("🎧", nova.MaxInputUnits/2))
		if n := len(s.messages("chat:main")); n != 4 {
			s.Errorf("%d messages, want two texts with their answers", n)
		}
	})
}

func TestP61_N54_OtherContentAndOtherInstances(t *testing.T) {
	staged(t, func(s *stage) {
		phone, other := s.phone(), s.chat("Other")
		phone.accept("a", "chat:main", "text")
		todo := submit("a", "chat:main", "text")
		todo.SourceTodo = nova.Some(nova.TodoRef{ID: "t", Version: 1})
		for _, m := range []nova.InputText{
			submit("a", "chat:main", "text "), submit("a", other, "text"), submit("a", "", "text"), todo,
		} {
			if err := phone.deliver(m); err != nil {
				s.Fatal(err)
			}
			if r := phone.receipts(); len(r) != 1 || r[0].Error != nova.RequestIDConflict {
				s.Fatalf("%+v: %+v", m, r)
			}
		}
		for _, id := range []string{"a", "new"} { // known or not: never submitted, never recorded
			m := submit(id, "chat:main", "text")
			m.InputInstanceID = "00000000-0000-4000-8000-000000000000"
			if err := phone.deliver(m); err != nil {
				s.Fatal(err)
			}
			if r := phone.receipts(); len(r) != 1 || r[0].Error != nova.OutcomeUnknown {
				s.Fatalf("foreign instance: %+v", r)
			}
		}
		phone.accept("new", "chat:main", "other words")
		if n := len(s.messages("chat:main")); n != 4 {
			s.Fatalf("%d messages", n)
		}
		if cause := phone.say("f", "none", "nowhere"); cause != nova.SubmissionFailed {
			s.Fatalf("unknown conversation: %q", cause)
		}
		s.put("todo", "t", life.Item{Kind: workbench.Todo, ID: "t", Version: 2})
		todo.RequestID = "g"
		if err := phone.deliver(todo); err != nil {
			s.Fatal(err)
		}
		if r := phone.receipts(); len(r) != 1 || r[0].Error != nova.SubmissionFailed {
			s.Fatalf("an older version of the to-do: %+v", r)
		}
	})
}

func TestP61_N54_ARecordedFailureIsReplayed(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.store.FailNext(errors.New("the disk is full"))
		for range 2 {
			if cause := phone.say("a", "chat:main", "text"); cause != nova.SubmissionFailed {
				s.Fatalf("receipt %q", cause)
			}
		}
		if n := len(s.messages("chat:main")); n != 0 {
			s.Fatalf("%d messages", n)
		}
	})
}

func TestP61_N55_The257thIsOverCapacity(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for i := range turns.MaxTextRequests {
			phone.accept(fmt.Sprint(i), "chat:main", "text")
		}
		phone = s.phone()
		for range 2 {
			if cause := phone.say("late", "chat:main", "text"); cause != nova.RequestCapacity {
				s.Fatalf("receipt %q", cause)
			}
		}
		phone.accept("0", "chat:main", "text") // none was forgotten for it
		if err := phone.deliver(nova.InputText{Text: "without an ID"}); err != nil {
			s.Fatal(err)
		}
		if n := len(s.messages("chat:main")); n != 2*turns.MaxTextRequests+2 {
			s.Fatalf("%d messages", n)
		}
	})
}

func TestP62_TheReceiptNamesTheConversationOfTheRequest(t *testing.T) {
	staged(t, func(s *stage) {
		phone, other := s.phone(), s.chat("Other")
		for i, id := range []string{other, "none", ""} {
			if err := phone.deliver(submit(fmt.Sprint(i), id, "text")); err != nil {
				s.Fatal(err)
			}
			if r := phone.receipts(); len(r) != 1 || r[0].ConversationID != id || r[0].RequestID != fmt.Sprint(i) {
				s.Fatalf("for %q: %+v", id, r)
			}
		}
	})
}

func TestWithoutAModelNoTextIsAdmitted(t *testing.T) {
	known := false
	staged(t, func(s *stage) {
		phone := s.phone()
		if cause := phone.say("a", "chat:main", "text"); cause != nova.SubmissionFailed {
			s.Fatalf("receipt %q", cause)
		}
		if err := phone.deliver(nova.InputText{Text: "text"}); !errors.Is(err, workbench.RuntimeUnavailable) {
			s.Fatalf("uncorrelated: %v", err)
		}
		if s.Host.Input() != nova.NoInput || len(s.messages("chat:main")) != 0 {
			s.Fatal("text input without a model")
		}
		known = true
		phone.accept("b", "chat:main", "text")
	}, func(d *personal.Deps, _ *personal.Options) { d.HasModel = func() bool { return known } })
}

func TestAQueueOfTextsIsBounded(t *testing.T) {
	staged(t, func(s *stage) {
		phone, other := s.phone(), s.chat("Other")
		gate := make(chan struct{})
		s.model.then(waits(gate, "first"))
		phone.accept("running", "chat:main", "runs")
		const waiting = 64
		for i := range waiting {
			phone.accept(fmt.Sprint(i), "chat:main", "waits")
		}
		if cause := phone.say("65th", "chat:main", "too many"); cause != nova.SubmissionFailed {
			s.Fatalf("the 65th that waits: %q", cause)
		}
		if err := phone.deliver(nova.InputText{Text: "too many", ConversationID: "chat:main"}); !errors.Is(err, workbench.ConversationBusy) {
			s.Fatalf("uncorrelated: %v", err)
		}
		phone.accept("other", other, "another conversation has room")
		close(gate)
		if n := len(s.messages("chat:main")); n != 2*(waiting+1) {
			s.Fatalf("%d messages", n)
		}
		phone.accept("later", "chat:main", "there is room again")
	})
}

// The texts of all conversations are in memory together.
func TestTheQueuesTogetherAreBounded(t *testing.T) {
	staged(t, func(s *stage) {
		const perChat, bound = 1 + 64, 1024
		chat, refused := "", s.chat("Refused")
		for i := range bound {
			if i%perChat == 0 {
				chat = s.chat("")
				s.model.then(hangs)
			}
			if err := s.SubmitText(s.Context(), chat, "text"); err != nil {
				s.Fatalf("text %d: %v", i, err)
			}
			synctest.Wait()
		}
		for range 2 {
			if err := s.SubmitText(s.Context(), refused, "text"); !errors.Is(err, workbench.ConversationBusy) {
				s.Fatalf("one text too many: %v", err)
			}
		}
		if err := s.Clear(s.Context(), chat); err != nil {
			s.Fatal(err)
		}
		synctest.Wait()
		if err := s.SubmitText(s.Context(), refused, "text"); err != nil {
			s.Fatalf("there is room again: %v", err)
		}
	})
}

func TestWhateverAModelDoesTheTurnEndsAndTheNextWorks(t *testing.T) {
	big := strings.Repeat("好", 30_000)
	for name, c := range map[string]struct {
		reply  func(ctx context.Context, emit func(string) error) error
		status conversations.Status
		text   string // of the answer, "" for none
	}{
		"hangs":           {hangs, conversations.Failed, ""},
		"cuts off":        {breaks, conversations.Failed, "half an answ"},
		"panics":          {func(context.Context, func(string) error) error { panic("out of range") }, conversations.Failed, ""},
		"says nothing":    {func(context.Context, func(string) error) error { return nil }, conversations.Failed, ""},
		"says blanks":     {func(_ context.Context, emit func(string) error) error { return emit(" \n ") }, conversations.Failed, ""},
		"sends bad bytes": {func(_ context.Context, emit func(string) error) error { return emit("a\xffb") }, conversations.Completed, "a\uFFFDb"},
		"is gone":         {func(context.Context, func(string) error) error { return ports.ErrNoModel }, conversations.Failed, ""},
		"does not end": {func(_ context.Context, emit func(string) error) error {
			for {
				if err := emit(big[:3000]); err != nil {
					return err
				}
			}
		}, conversations.Failed, conversations.TruncateUnits(big, 16_000)},
		"is verbose": {
			func(_ context.Context, emit func(string) error) error { return emit(big[:60_000]) },
			conversations.Completed, conversations.TruncateUnits(big, 16_000),
		},
	} {
		t.Run(name, func(t *testing.T) {
			staged(t, func(s *stage) {
				phone := s.phone()
				s.model.then(c.reply)
				phone.accept("a", "chat:main", "text")
				if name == "hangs" {
					time.Sleep(turns.TurnLimit - time.Millisecond)
					if errs := got[nova.ConversationError](phone); len(errs) != 0 {
						s.Fatalf("too early: %+v", errs)
					}
					time.Sleep(time.Millisecond)
				}
				all := s.messages("chat:main")
				if all[0].Status != c.status || len(all) == 2 && all[1].Text != c.text || (len(all) == 2) != (c.text != "") {
					s.Fatalf("stored %d messages, first %s", len(all), all[0].Status)
				}
				errs := got[nova.ConversationError](phone)
				if failed := c.status == conversations.Failed; failed != (len(errs) == 1 && errs[0].Error == "response_failed") {
					s.Fatalf("errors %+v", errs)
				}
				captions := got[nova.Caption](phone)
				if last := captions[len(captions)-1]; !last.Final || last.Role != nova.Assistant || last.FullText != c.text {
					s.Fatalf("the last caption is no end: %+v", last)
				}
				phone.accept("b", "chat:main", "next")
				if all := s.messages("chat:main"); all[len(all)-1].Text != "answer to next" {
					s.Fatalf("the next turn: %+v", all[len(all)-1])
				}
			})
		})
	}
}

// What looks for quotable things may fail in every way; a panic must not leave
// the message pending.
func TestASearchThatPanicsFailsTheTurn(t *testing.T) {
	broken := true
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.accept("a", "chat:main", "text")
		if all := s.messages("chat:main"); len(all) != 1 || all[0].Status != conversations.Failed {
			s.Fatalf("stored %+v", all)
		}
		broken = false
		phone.accept("b", "chat:main", "cite")
		all := s.messages("chat:main")
		if last := all[len(all)-1].Text; last != "So it is [1].\n\n[1] A page — https://a.test/" {
			s.Fatalf("with sources: %q", last)
		}
	}, func(d *personal.Deps, _ *personal.Options) {
		d.Model.(*model).then(func(_ context.Context, emit func(string) error) error { return emit("So it is [1].") })
		d.Find = func(context.Context, string, string, int) ([]framing.Result, error) {
			if broken {
				panic("out of range")
			}
			return []framing.Result{{URL: "https://a.test/", Title: "A page"}}, nil
		}
	})
}

// The write that ends a turn fails: clients are told, what they saw is taken
// back, and the next start says what became of it.
func TestATurnWhoseEndCannotBeStored(t *testing.T) {
	staged(t, func(s *stage) {
		phone, gate := s.phone(), make(chan struct{})
		s.model.then(func(ctx context.Context, emit func(string) error) error {
			return errors.Join(emit("unstored"), waits(gate, " answer")(ctx, emit))
		})
		phone.accept("a", "chat:main", "text")
		s.store.FailNext(errors.New("the disk is full"))
		close(gate)
		errs := got[nova.ConversationError](phone)
		if len(errs) != 1 || errs[0].Error != "status_persistence_failed" {
			s.Fatalf("errors %+v", errs)
		}
		captions := got[nova.Caption](phone)
		if last := captions[len(captions)-1]; !last.Final || last.Text != "" || last.TurnID != captions[0].TurnID {
			s.Fatalf("the last caption: %+v", last)
		}
		phone.accept("b", "chat:main", "next")
		if all := s.messages("chat:main"); len(all) != 3 || all[0].Status != conversations.Pending {
			s.Fatalf("stored %+v", all)
		}
		s.restart()
		if all := s.messages("chat:main"); len(all) != 3 || all[0].Status != conversations.Interrupted {
			s.Fatalf("after the restart %+v", all)
		}
	})
}

func TestClocksThatJumpBackStopNothing(t *testing.T) {
	wall := &clock{}
	staged(t, func(s *stage) {
		phone := s.phone()
		s.model.then(func(_ context.Context, emit func(string) error) error {
			err := emit("one ")
			wall.jump(-48 * time.Hour)
			return errors.Join(err, emit("two"))
		})
		phone.accept("a", "chat:main", "text")
		captions := got[nova.Caption](phone)
		if len(captions) != 4 || captions[2].Text != "one two" || captions[2].Final {
			s.Fatalf("captions wait for a clock that went back: %+v", captions)
		}
		phone.accept("b", "chat:main", "again")
		if all := texts(s.messages("chat:main")); len(all) != 4 || all[3] != "answer to again" {
			s.Fatalf("order of messages: %q", all)
		}
		s.restart()
		phone = s.phone()
		if shown := phone.see().Conversations.Messages; len(shown) != 4 || shown[3].Text != "answer to again" {
			s.Fatalf("shown %+v", shown)
		}
	}, wall.wind)
}

func TestStopAgainstTextsIsOrderly(t *testing.T) {
	staged(t, func(s *stage) {
		phone, free := s.phone(), s.stall()
		for i := range 5 {
			if err := phone.deliver(submit(fmt.Sprint(i), "chat:main", "text")); err != nil {
				s.Fatal(err)
			}
		}
		stopped := make(chan struct{})
		go func() { s.Stop(); close(stopped) }()
		synctest.Wait()
		free()
		<-stopped
		accepted := 0
		for _, r := range phone.receipts() {
			if r.Error == "" {
				accepted++
			}
		}
		if n := len(s.messages("chat:main")); n != accepted {
			s.Fatalf("%d were acknowledged, %d are stored", accepted, n)
		}
		if cause := phone.say("late", "chat:main", "text"); cause != nova.SubmissionFailed {
			s.Fatalf("after the stop: %q", cause)
		}
		s.start()
	})
}
