package personal_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal"
)

func (s *stage) begun(url string) ports.AnswerRecord {
	return s.BeginAnswer(ports.AnsweredQuestion{Asker: "chrome-extension://a", Question: "What?", Page: page(url)})
}

func (s *stage) keptPages() int {
	s.Helper()
	list, _, err := s.store.Pages().Pages(s.Context(), ports.PageList{Limit: 100})
	if err != nil {
		s.Fatal(err)
	}
	return len(list)
}

func TestPageQuestionAndAnswerAreThereOnceKept(t *testing.T) {
	staged(t, func(s *stage) {
		r := s.begun(pageURL)
		commits := 0
		s.store.BeforeCommit(func() error { commits++; return nil })
		if err := r.Keep(s.Context(), whole("Forty-two.")); err != nil {
			s.Fatal(err)
		}
		all := s.messages(s.mustTopic(pageURL).ID)
		if len(all) != 2 || all[1].Text != "Forty-two." || all[0].Status != conversations.Completed || s.keptPages() != 1 || commits != 1 {
			s.Fatalf("before the end: %+v, %d pages, %d commits", all, s.keptPages(), commits)
		}
		if err := r.End(s.Context(), whole("Forty-two.")); err != nil || len(s.messages(all[0].ConversationID)) != 2 || commits != 1 {
			s.Fatalf("after it: %v, %d commits", err, commits)
		}
	})
}

func TestAnAnswerThatDoesNotGetToItsEndIsInterrupted(t *testing.T) {
	staged(t, func(s *stage) {
		r := s.begun(pageURL)
		if err := r.Keep(s.Context(), whole("half")); err != nil {
			s.Fatal(err)
		}
		if err := r.End(s.Context(), ports.Answered{Text: "half"}); err != nil {
			s.Fatal(err)
		}
		all := s.messages(s.mustTopic(pageURL).ID)
		if len(all) != 2 || all[0].Status != conversations.Interrupted || all[1].Delivery != conversations.CutOff {
			s.Fatalf("%+v", all)
		}
	})
}

// TestASlowDiskWithholdsNoAnswer: the wait is bounded, a cancel ends it at once, and
// what was being written is kept all the same, as how it ended.
func TestASlowDiskWithholdsNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		cancelAfter, want time.Duration
		status            conversations.Status
	}{
		"slow":      {time.Hour, 3 * time.Second, conversations.Completed},
		"cancelled": {time.Second, time.Second, conversations.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			staged(t, func(s *stage) {
				free := s.stall()
				defer free()
				r := s.begun(pageURL)
				ctx, cancel := context.WithTimeout(s.Context(), c.cancelAfter)
				defer cancel()
				began := time.Now()
				if err := r.Keep(ctx, whole("answer")); err == nil || time.Since(began) != c.want {
					s.Fatalf("after %v: %v", time.Since(began), err)
				}
				ended := make(chan error, 1)
				go func() {
					ended <- r.End(s.Context(), ports.Answered{Text: "answer", Complete: c.status == conversations.Completed})
				}()
				synctest.Wait()
				free()
				if err := <-ended; err != nil {
					s.Fatal(err)
				}
				all := s.messages(s.mustTopic(pageURL).ID)
				if len(all) != 2 || all[0].Status != c.status {
					s.Fatalf("%+v", all)
				}
			})
		})
	}
}

func TestNothingOfAPageIsKeptWithoutRecording(t *testing.T) {
	staged(t, func(s *stage) {
		for _, off := range []bool{false, true} {
			r := s.begun(pageURL)
			if err := s.SetRecording(s.Context(), false); err != nil {
				s.Fatal(err)
			}
			if off { // from the beginning
				if r = s.begun(pageURL); r != nil {
					s.Fatal("a record was begun")
				}
				break
			}
			if err := s.ended(r, whole("answer")); err != nil {
				s.Fatal(err)
			}
		}
		if _, there := s.topic(pageURL); there || s.keptPages() != 0 {
			s.Fatalf("topic %v, %d pages", there, s.keptPages())
		}
	})
}

func TestAPageIsKeptAsTheSettingsSay(t *testing.T) {
	wordless := ports.AnsweredQuestion{Asker: pages.Owner, Page: page(pageURL)}
	staged(t, func(s *stage) {
		if err := s.ended(s.BeginAnswer(wordless), whole("")); err != nil {
			s.Fatal(err)
		}
		if _, there := s.topic(pageURL); there || s.keptPages() != 1 {
			s.Fatalf("a search without words: topic %v, %d pages", there, s.keptPages())
		}
	})
	staged(t, func(s *stage) {
		if s.BeginAnswer(wordless) != nil {
			s.Fatal("a record of nothing")
		}
		s.browse(page(pageURL), "What?", "answer")
		if s.mustTopic(pageURL); s.keptPages() != 0 {
			s.Fatal("a page was remembered")
		}
	}, func(_ *personal.Deps, o *personal.Options) { o.Topics.NoPageIndex = true })
}
