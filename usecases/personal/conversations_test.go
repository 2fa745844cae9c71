package personal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/feed"
)

func TestP43_FreshHostHasMainAndProactive(t *testing.T) {
	staged(t, func(s *stage) {
		seen := s.phone().see().Conversations
		if seen.SelectedID != "chat:main" || seen.VoiceID != nil || seen.Unread != 0 || len(seen.Messages) != 0 || len(seen.Items) != 2 {
			s.Fatalf("fresh host shows %+v", seen)
		}
		main, proactive := s.conversation("chat:main"), s.conversation("chat:proactive")
		if main.Kind != conversations.Chat || proactive.Kind != conversations.Proactive || main.Generation != 0 {
			s.Fatalf("%+v %+v", main, proactive)
		}
	})
}

func TestTitlesOfNewChatsAreTheLowestFreeNumber(t *testing.T) {
	for language, word := range map[answers.Language]string{answers.English: "Chat", answers.Chinese: "新对话"} {
		staged(t, func(s *stage) {
			phone := s.phone()
			title := func(id string) string { return s.conversation(id).Title }
			second := s.chat("")
			third := s.chat("")
			if title("chat:main") != word+" 1" || title(second) != word+" 2" || title(third) != word+" 3" {
				s.Fatalf("titles %q %q %q", title("chat:main"), title(second), title(third))
			}
			if err := s.Delete(s.Context(), second); err != nil {
				s.Fatal(err)
			}
			phone.done("c1", "conversations.create", `{}`)
			if again := phone.see().Conversations.SelectedID; title(again) != word+" 2" {
				s.Fatalf("the free number was not taken: %q", title(again))
			}
			if reminders := map[string]string{"Chat": "Reminders", "新对话": "主动提醒"}[word]; title("chat:proactive") != reminders {
				s.Fatalf("reminders are %q", title("chat:proactive"))
			}
		}, func(_ *personal.Deps, o *personal.Options) { o.Language = language })
	}
}

func TestTheTitlesOfTheHostFollowItsLanguage(t *testing.T) {
	staged(t, func(s *stage) {
		s.opts.Language = answers.Chinese
		s.restart()
		if main, own := s.conversation("chat:main").Title, s.conversation("chat:proactive").Title; main != "新对话 1" || own != "主动提醒" {
			s.Errorf("titles %q and %q", main, own)
		}
	})
}

func TestASnapshotShowsAHundredAndTwentyEightConversations(t *testing.T) {
	staged(t, func(s *stage) {
		for i := range 140 {
			s.browse(page(fmt.Sprint("https://a.test/", i)), "question", "answer")
			time.Sleep(time.Second)
		}
		phone, oldest := s.phone(), s.mustTopic("https://a.test/0").ID
		phone.done("s", "conversations.select", `{"id":"`+oldest+`"}`)
		seen := phone.see()
		var first []string
		for _, c := range seen.Conversations.Items[:3] {
			first = append(first, c.ID)
		}
		if n := len(seen.Conversations.Items); n != 128 || !slices.Equal(first, []string{oldest, "chat:main", "chat:proactive"}) {
			s.Errorf("%d conversations, the first are %q", n, first)
		}
		if item(seen, s.mustTopic("https://a.test/139").ID) == nil {
			s.Error("the newest topic is not shown")
		}
	})
}

func TestP45_HistoriesDoNotMixAndRepliesPair(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		other := s.chat("Other")
		phone.accept("1", "chat:main", "one")
		phone.accept("2", other, "two")
		s.model.then(breaks)
		phone.accept("3", "chat:main", "broken")
		phone.accept("4", "chat:main", "three")
		calls := s.model.calls()
		want := []ports.Exchange{{User: "one", Assistant: "answer to one"}}
		if got := calls[len(calls)-1].History; !slices.Equal(got, want) {
			s.Fatalf("history %+v, want %+v", got, want)
		}
		for _, call := range calls {
			if strings.HasPrefix(call.User, "two") && len(call.History) > 0 {
				s.Fatalf("the other conversation was given %+v", call.History)
			}
		}
		phone.accept("5", other, "more")
		calls = s.model.calls()
		if got, want := calls[len(calls)-1].History, []ports.Exchange{{User: "two", Assistant: "answer to two"}}; !slices.Equal(got, want) {
			s.Fatalf("the other conversation was given %+v, want %+v", got, want)
		}
		all := s.messages("chat:main")
		for i := 0; i < len(all); i += 2 {
			if all[i].Role != conversations.User || all[i+1].ReplyTo != all[i].ID || all[i+1].TurnID != all[i].TurnID {
				s.Fatalf("pair %d: %+v", i, all[i:i+2])
			}
		}
	})
}

// TestP45_RepliesPairByWhatTheyReplyTo: two texts come before the first answer, so
// that no pair stands side by side.
func TestP45_RepliesPairByWhatTheyReplyTo(t *testing.T) {
	staged(t, func(s *stage) {
		phone, gate := s.phone(), make(chan struct{})
		s.model.then(waits(gate, "late answer"))
		phone.accept("1", "chat:main", "one")
		phone.accept("2", "chat:main", "two")
		close(gate)
		s.messages("chat:main") // both are answered
		phone.accept("3", "chat:main", "three")
		s.messages("chat:main")
		calls := s.model.calls()
		want := []ports.Exchange{{User: "one", Assistant: "late answer"}, {User: "two", Assistant: "answer to two"}}
		if got := calls[len(calls)-1].History; !slices.Equal(got, want) {
			s.Fatalf("history %+v, want %+v", got, want)
		}
	})
}

func TestP46_ClearEndsOneConversationsTurnAlone(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		other, gate := s.chat("Other"), make(chan struct{})
		ended := false
		s.model.then(func(ctx context.Context, emit func(string) error) error {
			if err := emit("the begin"); err != nil {
				return err
			}
			<-ctx.Done()
			ended = true
			return emit("ning, too late")
		})
		phone.accept("a", "chat:main", "to be cleared")
		s.model.then(waits(gate, "undisturbed"))
		phone.accept("b", other, "to be kept")
		phone.accept("c", "chat:main", "waits")
		turn := got[nova.Caption](phone)[1].TurnID

		phone.refuse("c1", "conversations.clear", `{"id":"chat:main","expected_generation":3}`, workbench.GenerationConflict)
		if synctest.Wait(); ended || s.conversation("chat:main").Generation != 0 || len(s.messages("chat:main")) != 2 {
			s.Fatal("a refused clearing changed something")
		}
		phone.done("c2", "conversations.clear", `{"id":"chat:main","expected_generation":0}`)
		if synctest.Wait(); !ended {
			s.Fatal("the turn still runs")
		}
		captions := got[nova.Caption](phone)
		if len(captions) != 1 || captions[0].TurnID != turn || !captions[0].Final || captions[0].Text != "" {
			s.Fatalf("what was shown in part is not taken back by one empty final: %+v", captions)
		}
		if c := s.conversation("chat:main"); c.Generation != 1 || len(s.messages("chat:main")) != 0 {
			s.Fatalf("after clearing: %+v", c)
		}
		close(gate)
		if all := s.messages(other); len(all) != 2 || all[1].Text != "undisturbed" {
			s.Fatalf("the other conversation: %+v", all)
		}
		if n := len(s.model.calls()); n != 2 {
			s.Fatalf("a turn of an older generation ran: %d calls", n)
		}
		if errs := got[nova.ConversationError](phone); len(errs) != 0 {
			s.Fatalf("errors %+v", errs)
		}
		phone.accept("d", "chat:main", "goes on")
		if all := s.messages("chat:main"); len(all) != 2 {
			s.Fatalf("the conversation does not go on: %+v", all)
		}
	})
}

// A turn ends while a clearing is on its way that is refused then: nothing of its
// end may be lost to the clients.
func TestWhatARefusedClearingHeldBackIsShown(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		gate, disk := make(chan struct{}), make(chan struct{})
		s.model.then(waits(gate, "the answer"))
		phone.accept("a", "chat:main", "question")
		got[nova.Caption](phone)
		first := true
		s.store.BeforeCommit(func() error {
			if first {
				first = false
				<-disk
				return errors.New("the disk is full")
			}
			return nil
		})
		done := make(chan error)
		go func() { done <- phone.deliver(command("c", "conversations.clear", `{"id":"chat:main"}`)) }()
		synctest.Wait()
		close(gate)
		synctest.Wait()
		close(disk)
		if err := <-done; err != nil {
			s.Fatal(err)
		}
		captions := got[nova.Caption](phone)
		if len(captions) != 2 || captions[1].FullText != "the answer" || !captions[1].Final {
			s.Fatalf("captions %+v", captions)
		}
	})
}

// A text that comes while its conversation is being cleared is refused, whichever
// of the two gets to the store first.
func TestTextDuringAClearingIsRefused(t *testing.T) {
	staged(t, func(s *stage) {
		phone, page, other := s.phone(), s.desktop(), s.chat("Other")
		phone.accept("a", "chat:main", "before")
		free := s.stall()
		// The first one holds the store; the others wait for it, in this order.
		for _, m := range []nova.InputText{submit("c", other, "beside"), submit("b", "chat:main", "during")} {
			if err := phone.deliver(m); err != nil {
				s.Fatal(err)
			}
			synctest.Wait()
		}
		page.sendOff("d", "conversations.clear", `{"id":"chat:main"}`)
		synctest.Wait()
		free()
		results := map[string]nova.TextError{}
		for _, r := range phone.receipts() {
			results[r.RequestID] = r.Error
		}
		if len(results) != 2 || results["b"] != nova.SubmissionFailed || results["c"] != "" {
			s.Fatalf("receipts %+v", results)
		}
		phone.accept("e", "chat:main", "after")
		if all := texts(s.messages("chat:main")); len(all) != 2 || all[0] != "after" {
			s.Fatalf("stored %q", all)
		}
	})
}

func TestP47_ClearOfTheVoiceOwnerIsRefused(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.accept("a", "chat:main", "kept")
		phone.done("v", "conversations.voice", `{"id":"chat:main","enabled":true}`)
		phone.refuse("c", "conversations.clear", `{"id":"chat:main"}`, workbench.VoiceActive)
		if c := s.conversation("chat:main"); c.Generation != 0 || len(s.messages("chat:main")) != 2 {
			s.Fatalf("it was cleared: %+v", c)
		}
	}, new(speaker).plug)
}

func TestP48_AFailedTurnIsMarkedToldAndBlocksNothing(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.model.then(breaks)
		phone.accept("a", "chat:main", "fails")
		errs := got[nova.ConversationError](phone)
		if len(errs) != 1 || errs[0].ConversationID != "chat:main" || errs[0].Error != "response_failed" {
			s.Fatalf("errors %+v", errs)
		}
		phone.accept("b", "chat:main", "works")
		all := s.messages("chat:main")
		if len(all) != 4 || all[0].Status != conversations.Failed || all[1].Delivery != conversations.CutOff || all[1].Text != "half an answ" {
			s.Fatalf("stored %+v", all)
		}
		if all[2].Status != conversations.Completed || all[3].Delivery != conversations.Delivered {
			s.Fatalf("the next turn: %+v", all[2:])
		}
	})
}

func TestP49_PendingIsInterruptedAtRestartAndNeverRunAgain(t *testing.T) {
	staged(t, func(s *stage) {
		s.model.then(hangs)
		phone := s.phone()
		phone.accept("a", "chat:main", "in the middle")
		phone.accept("b", "chat:main", "waits")
		s.Stop()
		if all := s.messages("chat:main"); all[0].Status != conversations.Pending || all[1].Status != conversations.Pending {
			s.Fatalf("a stopping host changed %+v", all)
		}
		if errs := got[nova.ConversationError](phone); len(errs) != 0 {
			s.Fatalf("a stopping host says %+v", errs)
		}
		s.start()
		phone = s.phone()
		all := s.messages("chat:main")
		if len(all) != 2 || all[0].Status != conversations.Interrupted || all[1].Status != conversations.Interrupted {
			s.Fatalf("after the restart %+v", all)
		}
		phone.accept("a", "chat:main", "in the middle")
		if cause := phone.say("b", "chat:main", "another text"); cause != nova.SubmissionFailed {
			s.Fatalf("another text under a stored ID: %q", cause)
		}
		if n := len(s.messages("chat:main")); n != 2 || len(s.model.calls()) != 1 {
			s.Fatalf("it ran again: %d messages, %d calls", n, len(s.model.calls()))
		}
	})
}

// feedItem is a suggestion that can be opened.
func feedItem(id, subject string, expires time.Time) feed.Item {
	return feed.Item{
		ID: id, Kind: "notify", Title: "About " + subject, WhyNow: "because of " + id, SubjectKey: subject,
		CreatedAt: time.Now(), UpdatedAt: time.Now(), ExpiresAt: &expires, UserState: "new", Lifecycle: "active",
	}
}

func TestP53_OpenFeedIsStable(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		late := time.Now().Add(time.Hour)
		s.put("feed", "f1", feedItem("f1", "task:1", late))
		s.put("feed", "f2", feedItem("f2", "task:1", late))
		phone.done("o1", "conversations.open_feed", `{"feed_id":"f1","label":"Tell me"}`)
		topic := phone.see().Conversations.SelectedID
		phone.done("s", "conversations.select", `{"id":"chat:main"}`)
		phone.done("o2", "conversations.open_feed", `{"feed_id":"f1","label":"Tell me"}`)
		if again := phone.see().Conversations.SelectedID; again != topic || item(phone.see(), topic).Kind != conversations.Topic {
			s.Fatalf("another topic: %q, first %q", again, topic)
		}
		if all := texts(s.messages(topic)); len(all) != 2 || all[0] != "Tell me" {
			s.Fatalf("the label was not submitted once: %q", all)
		}
		phone.refuse("o3", "conversations.open_feed", `{"feed_id":"f1","label":"Other words"}`, workbench.RequestIDConflict)
		phone.done("o4", "conversations.open_feed", `{"feed_id":"f2"}`)
		if again := phone.see().Conversations.SelectedID; again != topic {
			s.Fatalf("two items of one subject have two topics: %q %q", topic, again)
		}
		calls := s.model.calls()
		if !contains(calls[len(calls)-1].User, "because of f2") || contains(calls[len(calls)-1].System, "because of") {
			s.Fatalf("prompt %+v", calls[len(calls)-1])
		}
	})
}

func TestP53_AFeedItemKeepsTheTopicThatItOpened(t *testing.T) {
	staged(t, func(s *stage) {
		phone, late := s.phone(), time.Now().Add(time.Hour)
		s.put("feed", "f1", feedItem("f1", "task:1", late))
		phone.done("o1", "conversations.open_feed", `{"feed_id":"f1"}`)
		topic := phone.see().Conversations.SelectedID
		s.put("feed", "f1", feedItem("f1", "task:2", late))
		phone.done("o2", "conversations.open_feed", `{"feed_id":"f1"}`)
		if again := phone.see().Conversations.SelectedID; again != topic {
			s.Errorf("opened %q, then %q", topic, again)
		}
	})
}

func TestOpenFeedWithoutAModelSaysNothing(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.put("feed", "f1", feedItem("f1", "task:1", time.Now().Add(time.Hour)))
		phone.done("o1", "conversations.open_feed", `{"feed_id":"f1"}`)
		if all := s.messages(phone.see().Conversations.SelectedID); len(all) != 0 {
			s.Errorf("stored %+v", all)
		}
	}, func(d *personal.Deps, _ *personal.Options) { d.Model = nil })
}

// Another suggestion of the same subject replaces what the topic is about, and
// what is being said of the old one.
func TestOpenFeedWithOtherBackgroundEndsTheTurn(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		late := time.Now().Add(time.Hour)
		s.put("feed", "f1", feedItem("f1", "task:1", late))
		s.put("feed", "f2", feedItem("f2", "task:1", late))
		s.model.then(func(ctx context.Context, emit func(string) error) error {
			return errors.Join(emit("half of the old"), hangs(ctx, emit))
		})
		phone.done("o1", "conversations.open_feed", `{"feed_id":"f1","label":"first"}`)
		topic := phone.see().Conversations.SelectedID
		phone.done("o2", "conversations.open_feed", `{"feed_id":"f2","label":"second"}`)
		all := s.messages(topic)
		if len(all) != 3 || all[0].Status != conversations.Interrupted || all[1].Status != conversations.Completed {
			s.Fatalf("stored %+v", all)
		}
		if errs := got[nova.ConversationError](phone); len(errs) != 0 {
			s.Fatalf("errors %+v", errs)
		}
	})
}

// A text that comes when the background is replaced already, and what was said of
// the old one not dropped yet, is refused: it must not be admitted and dropped.
func TestATextDuringAReplacementIsNotDropped(t *testing.T) {
	late := &lateStore{}
	staged(t, func(s *stage) {
		phone, until := s.phone(), time.Now().Add(time.Hour)
		s.put("feed", "f1", feedItem("f1", "task:1", until))
		s.put("feed", "f2", feedItem("f2", "task:1", until))
		s.model.then(hangs)
		phone.done("o1", "conversations.open_feed", `{"feed_id":"f1","label":"first"}`)
		topic := phone.see().Conversations.SelectedID
		free := late.hold(0)
		phone.sendOff("o2", "conversations.open_feed", `{"feed_id":"f2","label":"second"}`)
		if cause := phone.say("a", topic, "during"); cause != nova.SubmissionFailed {
			s.Errorf("during: %q", cause)
		}
		free()
		phone.accept("b", topic, "after")
		var whole []string
		for _, m := range s.messages(topic) {
			if m.Status == conversations.Completed {
				whole = append(whole, m.Text)
			}
		}
		if !slices.Equal(whole, []string{"second", "after"}) {
			s.Errorf("answered %q", whole)
		}
		if shown := got[nova.Caption](phone); !contains(shown[len(shown)-1].FullText, "answer to") {
			s.Errorf("the last caption is %+v", shown[len(shown)-1])
		}
	}, late.plug)
}

func TestP54_OpenFeedOfWhatIsOverIsStale(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		late := time.Now().Add(time.Hour)
		for i, change := range []func(*feed.Item){
			func(f *feed.Item) { f.UserState = "dismissed" },
			func(f *feed.Item) { f.Lifecycle = "invalidated" },
			func(f *feed.Item) { f.Lifecycle = "resolved" },
			func(f *feed.Item) { past := time.Now().Add(-time.Second); f.ExpiresAt = &past },
		} {
			id := fmt.Sprintf("f%d", i)
			f := feedItem(id, "task:1", late)
			change(&f)
			s.put("feed", id, f)
			phone.refuse("o"+id, "conversations.open_feed", `{"feed_id":"`+id+`"}`, workbench.Stale)
		}
		phone.refuse("o", "conversations.open_feed", `{"feed_id":"none"}`, workbench.FeedNotFound)
		if seen := phone.see().Conversations; seen.SelectedID != "chat:main" || len(seen.Items) != 2 {
			s.Fatalf("something opened: %+v", seen)
		}
	})
}

func TestP55_ReadIsAPrefixAcknowledgement(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for _, id := range []string{"one", "two", "three"} {
			s.remind(id, id)
		}
		unread := func() int { return item(phone.see(), "chat:proactive").Unread }
		read := func(id, through string) {
			phone.done(id, "conversations.read", `{"id":"chat:proactive","through_message_id":"`+through+`"}`)
		}
		if unread() != 3 {
			s.Fatalf("%d unread", unread())
		}
		read("r1", "two")
		if unread() != 1 {
			s.Fatalf("%d unread after two of three", unread())
		}
		read("r2", "one")
		if unread() != 1 {
			s.Fatalf("%d unread after an older acknowledgement", unread())
		}
		s.remind("four", "late")
		if unread() != 2 {
			s.Fatalf("%d unread after one more", unread())
		}
		phone.refuse("r3", "conversations.read", `{"id":"chat:proactive","through_message_id":"trimmed"}`, workbench.MessageNotFound)
		phone.refuse("r4", "conversations.read", `{"id":"none","through_message_id":"one"}`, workbench.ConversationNotFound)
		s.restart()
		phone = s.phone()
		if unread() != 2 {
			s.Fatalf("%d unread after a restart", unread())
		}
		phone.done("c", "conversations.clear", `{"id":"chat:proactive"}`)
		if unread() != 0 {
			s.Fatalf("%d unread after clearing", unread())
		}
		s.remind("five", "new")
		if unread() != 1 {
			s.Fatalf("%d unread after clearing and one more", unread())
		}
	})
}

func TestP56_OnlyProactiveMessagesAreUnread(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.accept("a", "chat:main", "chat")
		s.remind("one", "reminder")
		phone.accept("b", "chat:proactive", "and?") // its answer is the assistant's, too
		seen := phone.see()
		if main, own := item(seen, "chat:main").Unread, item(seen, "chat:proactive").Unread; main != 0 || own != 2 {
			s.Fatalf("unread: main %d, proactive %d", main, own)
		}
		if seen.Conversations.Unread != 2 {
			s.Fatalf("the sum is %d", seen.Conversations.Unread)
		}
	})
}
