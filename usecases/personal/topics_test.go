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

	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/retention"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/topics"
)

const pageURL = "https://a.test/page"

func page(url string) framing.PageContext {
	return framing.PageContext{URL: url, Title: "A page", Extract: "The page says forty-two."}
}

// asked begins a question of the browser about a page.
func (s *stage) asked(url, question string) (end func(a ports.Answered)) {
	recorded := s.BeginAnswer(ports.AnsweredQuestion{Question: question, Page: page(url)})
	return func(a ports.Answered) { _ = s.ended(recorded, a) }
}

func whole(text string) ports.Answered { return ports.Answered{Text: text, Complete: true} }

// mustTopic is the topic of a subject.
func (s *stage) mustTopic(subject string) conversations.Conversation {
	s.Helper()
	c, ok := s.topic(subject)
	if !ok {
		s.Fatalf("no topic of %q", subject)
	}
	return c
}

func TestATopicIsFoundByItsPage(t *testing.T) {
	long := "https://a.test/" + strings.Repeat("a", 512-len("https://a.test/"))
	staged(t, func(s *stage) {
		phone := s.phone()
		for i, url := range []string{"HTTPS://me:secret@A.test:443/page?token=x#part", pageURL, "https://a.test/page?utm_source=x&key=y"} {
			s.browse(page(url), fmt.Sprint("question ", i), "answer")
		}
		c := s.mustTopic(pageURL)
		if c.Kind != conversations.Topic || c.Title != "A page" || len(s.messages(c.ID)) != 6 {
			s.Fatalf("%+v", c)
		}
		s.browse(page(long), "at the bound", "answer")
		s.mustTopic(long)
		s.browse(page(long+"a"), "beyond", "answer")
		s.browse(page(long+"b"), "beyond", "answer")
		hashed := s.mustTopic(conversations.SubjectKey(long + "a"))
		if !strings.HasPrefix(hashed.SubjectKey, "sha256:") || len(hashed.SubjectKey) != 7+64 || len(s.messages(hashed.ID)) != 2 {
			s.Fatalf("%+v", hashed)
		}
		for _, url := range []string{"", "file:///etc/passwd", "chrome://settings", "nonsense"} {
			s.browse(page(url), "no page", "answer")
		}
		seen := phone.see().Conversations
		if len(seen.Items) != 2+4 || seen.SelectedID != "chat:main" {
			s.Fatalf("%d conversations, selected %q", len(seen.Items), seen.SelectedID)
		}
		untitled := page("https://b.test:8443/x")
		untitled.Title = " \n"
		s.browse(untitled, "who?", "answer")
		if c := s.mustTopic("https://b.test:8443/x"); c.Title != "b.test:8443" {
			s.Fatalf("title %q", c.Title)
		}
		untitled.Title = strings.Repeat("😀 ", 100)
		s.browse(untitled, "who?", "answer")
		if c := s.mustTopic("https://b.test:8443/x"); jsonform.UnitCount(c.Title) > conversations.MaxTitle || len(s.messages(c.ID)) != 4 {
			s.Fatalf("title %q", c.Title)
		}
	})
}

func TestAQuestionBecomesAPairAtItsEnd(t *testing.T) {
	staged(t, func(s *stage) {
		end := s.asked(pageURL, "What?")
		if _, early := s.topic(pageURL); early {
			s.Fatal("a topic before the answer's end")
		}
		end(ports.Answered{Text: " It is [1]. ", Complete: true, Results: []framing.Result{{URL: "https://r.test/", Title: "R"}}})
		s.asked(pageURL, "Cancelled?")(ports.Answered{Text: "half"})
		s.asked(pageURL, "Nothing?")(ports.Answered{})
		s.asked(pageURL, strings.Repeat("q", 20_000))(whole(strings.Repeat("好", 20_000)))
		all := s.messages(s.mustTopic(pageURL).ID)
		if len(all) != 7 {
			s.Fatalf("%d messages", len(all))
		}
		if all[1].Text != "It is [1]. \n\n[1] R — https://r.test/" || all[1].ReplyTo != all[0].ID || all[0].Status != conversations.Completed || all[1].Delivery != conversations.Delivered {
			s.Fatalf("whole: %+v", all[:2])
		}
		if all[2].Status != conversations.Interrupted || all[3].Delivery != conversations.CutOff || all[3].ReplyTo != all[2].ID {
			s.Fatalf("cancelled: %+v", all[2:4])
		}
		if all[4].Status != conversations.Interrupted || all[5].Role != conversations.User {
			s.Fatalf("without an answer: %+v", all[4:6])
		}
		for _, m := range all {
			if jsonform.UnitCount(m.Text) > conversations.MaxMessage {
				s.Fatalf("a message of %d units", jsonform.UnitCount(m.Text))
			}
		}
	})
}

func TestClearingOrDeletingDuringTheStreamDropsThePair(t *testing.T) {
	staged(t, func(s *stage) {
		s.browse(page(pageURL), "before", "answer")
		topic := s.mustTopic(pageURL)
		end, beside := s.asked(pageURL, "streams"), s.asked("https://b.test/", "elsewhere")
		if err := s.Clear(s.Context(), topic.ID); err != nil {
			s.Fatal(err)
		}
		afterwards := s.asked(pageURL, "asked after the clearing")
		end(whole("too late"))
		beside(whole("kept"))
		afterwards(whole("kept"))
		if all := texts(s.messages(topic.ID)); !slices.Equal(all, []string{"asked after the clearing", "kept"}) {
			s.Fatalf("stored %q", all)
		}
		s.mustTopic("https://b.test/")

		end = s.asked(pageURL, "streams")
		if err := s.Delete(s.Context(), topic.ID); err != nil {
			s.Fatal(err)
		}
		end(whole("too late"))
		if _, there := s.topic(pageURL); there {
			s.Fatal("a deleted topic came back")
		}

		end = s.asked(pageURL, "streams")
		if _, err := s.DeleteTopics(s.Context()); err != nil {
			s.Fatal(err)
		}
		end(whole("too late"))
		if _, there := s.topic(pageURL); there {
			s.Fatal("a topic came back after all were deleted")
		}
	})
}

// A chat is about no page: clearing it is nothing to the browser's questions.
// Neither is a clearing that was refused.
func TestOtherClearingsLeaveTheBrowsersQuestionsAlone(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.browse(page(pageURL), "before", "answer")
		topic := s.mustTopic(pageURL)
		end := s.asked(pageURL, "streams")
		chat := s.chat("Chat")
		if err := errors.Join(s.Clear(s.Context(), "chat:main"), s.Delete(s.Context(), chat)); err != nil {
			s.Fatal(err)
		}
		phone.ask("c", "conversations.clear", `{"id":"`+topic.ID+`","expected_generation":9}`)
		end(whole("kept"))
		if n := len(s.messages(topic.ID)); n != 4 {
			s.Fatalf("%d messages", n)
		}
	})
}

// A question ends while its topic is being cleared: the clearing wins.
func TestARecordingThatMeetsAClearingIsDropped(t *testing.T) {
	staged(t, func(s *stage) {
		s.browse(page(pageURL), "before", "answer")
		topic, end := s.mustTopic(pageURL), s.asked(pageURL, "streams")
		free := s.stall()
		go func() {
			if err := s.Clear(s.Context(), topic.ID); err != nil {
				s.Error(err)
			}
		}()
		synctest.Wait()
		go end(whole("too late"))
		free()
		if all := texts(s.messages(topic.ID)); len(all) != 0 {
			s.Fatalf("stored %q", all)
		}
	})
}

func TestRecordingIsTheOwnersChoice(t *testing.T) {
	staged(t, func(s *stage) {
		running := s.asked(pageURL, "streams")
		if err := s.SetRecording(s.Context(), false); err != nil {
			s.Fatal(err)
		}
		running(whole("not kept"))
		s.restart()
		if on, fixed := s.Recording(); on || fixed {
			s.Fatalf("after a restart: on %v, fixed %v", on, fixed)
		}
		s.browse(page(pageURL), "private", "answer")
		if _, there := s.topic(pageURL); there {
			s.Fatal("it was recorded")
		}
		if err := s.SetRecording(s.Context(), true); err != nil {
			s.Fatal(err)
		}
		s.browse(page(pageURL), "public", "answer")
		s.mustTopic(pageURL)
	})
	staged(t, func(s *stage) {
		if err := s.SetRecording(s.Context(), true); !errors.Is(err, topics.ErrRecordingFixed) {
			s.Fatalf("set: %v", err)
		}
		s.browse(page(pageURL), "private", "answer")
		if _, there := s.topic(pageURL); there {
			s.Fatal("it was recorded")
		}
	}, func(_ *personal.Deps, o *personal.Options) { o.Topics.Record, o.Topics.RecordFixed = false, true })
}

func TestRetentionByCountAndAge(t *testing.T) {
	wall := &clock{}
	staged(t, func(s *stage) {
		phone := s.phone()
		url := func(i int) string { return fmt.Sprintf("https://a.test/%d", i) }
		for i := range 3 {
			s.browse(page(url(i)), "question", "answer")
			time.Sleep(time.Second)
		}
		oldest := s.mustTopic(url(0))
		phone.done("s", "conversations.select", `{"id":"`+oldest.ID+`"}`)
		s.browse(page(url(3)), "question", "answer")
		if _, there := s.topic(url(0)); there {
			s.Fatal("the oldest topic is still there")
		}
		if seen := phone.see().Conversations; seen.SelectedID != "chat:main" || len(seen.Items) != 2+3 {
			s.Fatalf("after the selected topic went: %q, %d", seen.SelectedID, len(seen.Items))
		}
		phone.accept("t", "", "goes to main")
		if n := len(s.messages("chat:main")); n != 2 {
			s.Fatalf("%d messages in main", n)
		}

		wall.jump(-time.Hour) // what is new now looks older than the rest
		s.browse(page(url(4)), "question", "answer")
		s.mustTopic(url(4))
		if n := s.topics(); n != 3 {
			s.Fatalf("%d topics after the clock went back", n)
		}
		wall.jump(10 * 365 * 24 * time.Hour) // the clock alone makes nothing old
		phone.done("s2", "conversations.select", `{"id":"`+s.mustTopic(url(3)).ID+`"}`)
		s.restart()
		if n := s.topics(); n != 3 {
			s.Fatalf("%d topics after a leap of the clock", n)
		}
		if err := s.store.RunDays().SetRunDays(s.Context(), retention.Calendar{Day: 366}); err != nil {
			s.Fatal(err)
		}
		phone = s.phone()
		phone.accept("touch", s.mustTopic(url(4)).ID, "still wanted")
		if n, err := s.Topics.Expire(s.Context(), 366-conversations.TopicDays); n != 2 || err != nil || s.topics() != 1 {
			s.Fatalf("%d topics went after a year, %v; %d are left", n, err, s.topics())
		}
		s.restart()
		s.mustTopic(url(4))
		phone = s.phone()
		phone.accept("u", "", "goes to main")
		if seen := phone.see().Conversations; seen.SelectedID != "chat:main" || len(s.messages("chat:main")) != 4 {
			s.Fatalf("after a start without the selected topic: %q", seen.SelectedID)
		}
		if n := len(s.records("background")); n != 1 {
			s.Fatalf("%d backgrounds are left", n)
		}
	}, wall.wind, func(_ *personal.Deps, o *personal.Options) { o.Topics.MaxTopics = 3 })
}

// topics counts them.
func (s *stage) topics() int {
	s.Helper()
	sizes, err := s.Sizes(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return sizes.Topics
}

func TestATopicThatSpeaksDoesNotExpire(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		s.browse(page(pageURL), "question", "answer")
		speaks := s.mustTopic(pageURL)
		phone.done("v", "conversations.voice", `{"id":"`+speaks.ID+`","enabled":true}`)
		for i := range 3 {
			time.Sleep(time.Second)
			s.browse(page(fmt.Sprintf("https://b.test/%d", i)), "question", "answer")
		}
		if s.conversation(speaks.ID); s.topics() != 2 {
			s.Fatalf("%d topics", s.topics())
		}
	}, new(speaker).plug, func(_ *personal.Deps, o *personal.Options) { o.Topics.MaxTopics = 1 })
}

func TestAFollowUpKnowsThePageAndThePair(t *testing.T) {
	var excluded string
	var most int
	staged(t, func(s *stage) {
		phone := s.phone()
		big := page(pageURL)
		big.Extract = strings.Repeat("好", 10_000)
		s.browse(big, "old question", "old answer")
		_, about, err := s.Conversation(s.Context(), s.mustTopic(pageURL).ID)
		if err != nil || len(about.Text) > conversations.MaxBackground || len(about.Text) < conversations.MaxBackground-3 {
			s.Fatalf("background of %d bytes, %v", len(about.Text), err)
		}
		s.browse(page(pageURL), "What does it say?", "Forty-two.")
		empty := page(pageURL)
		empty.Extract = " "
		s.asked(pageURL, "cut off?")(ports.Answered{Text: "half"})
		s.browse(empty, "without an extract", "the old one stays")
		topic := s.mustTopic(pageURL).ID
		phone.accept("t", topic, "Are you sure?")
		prompt := s.model.calls()[0]
		if !contains(prompt.User, "The page says forty-two.") || !contains(prompt.User, pageURL) || contains(prompt.System, "forty-two") {
			s.Fatalf("prompt %+v", prompt)
		}
		want := []ports.Exchange{
			{User: "old question", Assistant: "old answer"}, {User: "What does it say?", Assistant: "Forty-two."},
			{User: "without an extract", Assistant: "the old one stays"},
		}
		if !slices.Equal(prompt.History, want) || excluded != pageURL || most != 6 {
			s.Fatalf("history %+v, excluded %q, at most %d results", prompt.History, excluded, most)
		}
		if err := s.Clear(s.Context(), topic); err != nil {
			s.Fatal(err)
		}
		phone.accept("u", topic, "And now?")
		if prompt := s.model.calls()[1]; len(prompt.History) != 0 || contains(prompt.User, "forty-two") {
			s.Fatalf("after clearing %+v", prompt)
		}
	}, func(d *personal.Deps, _ *personal.Options) {
		d.Find = func(_ context.Context, _, exclude string, limit int) ([]framing.Result, error) {
			excluded, most = exclude, limit
			return nil, nil
		}
	})
}

// Recording fails with the store, and nothing else does.
func TestATopicThatCannotBeStored(t *testing.T) {
	staged(t, func(s *stage) {
		s.store.FailNext(errors.New("the disk is full"))
		s.browse(page(pageURL), "lost", "answer")
		if _, there := s.topic(pageURL); there {
			s.Fatal("half of a topic")
		}
		s.browse(page(pageURL), "kept", "answer")
		if n := len(s.messages(s.mustTopic(pageURL).ID)); n != 2 {
			s.Fatalf("%d messages", n)
		}
	})
}

// TestTheTextsOfAllMessagesAreBounded: the oldest topics go; with nothing left to
// remove no more is taken, until there is room again.
func TestTheTextsOfAllMessagesAreBounded(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for n := range 4 {
			s.browse(page(fmt.Sprintf("https://a.test/%d", n)), "question", strings.Repeat("x", 400))
			<-time.After(time.Second)
		}
		if _, ok := s.topic("https://a.test/1"); ok || s.topics() != 2 {
			s.Fatalf("%d topics are left", s.topics())
		}
		s.mustTopic("https://a.test/3")
		s.model.then(func(_ context.Context, emit func(string) error) error { return emit(strings.Repeat("y", 1100)) })
		phone.accept("1", "chat:main", "Say much")
		if s.messages("chat:main"); s.topics() != 0 {
			s.Fatalf("%d topics are left", s.topics())
		}
		if cause := phone.say("2", "chat:main", "Say more"); cause != nova.SubmissionFailed {
			s.Fatalf("a text beyond the bound: %q", cause)
		}
		phone.done("c", "conversations.clear", `{"id":"chat:main"}`)
		phone.accept("3", "chat:main", "And now?")
	}, func(_ *personal.Deps, o *personal.Options) { o.Topics.MaxBytes = 1000 })
}

func TestTheBoundOfTextsSparesTheTopicThatSpeaks(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for n := range 4 {
			url := fmt.Sprint("https://a.test/", n)
			s.browse(page(url), "question", strings.Repeat("x", 400))
			if n == 0 {
				phone.done("v", "conversations.voice", `{"id":"`+s.mustTopic(url).ID+`","enabled":true}`)
			}
			time.Sleep(time.Second)
		}
		s.mustTopic("https://a.test/0")
		s.mustTopic("https://a.test/3")
		if s.topics() != 2 {
			s.Errorf("%d topics are left", s.topics())
		}
		s.opts.Topics.MaxBytes = 300 // it holds from the start
		if s.restart(); s.topics() != 0 {
			s.Errorf("%d topics are left after the start", s.topics())
		}
	}, new(speaker).plug, func(_ *personal.Deps, o *personal.Options) { o.Topics.MaxBytes = 1000 })
}
