package personal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plexus/adapters/memory"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/topics"
)

// remembering gives the host the index of its store.
func remembering(d *personal.Deps, _ *personal.Options) {
	d.Index = d.Store.(*memory.Personal).Pages()
}

// visit asks about a page; what may be kept of it is then in index and topics, as
// after a question of the browser.
func (s *stage) visit(url string) {
	s.Helper()
	s.asked(url, "What?")(whole("That."))
}

// remembered is the addresses of the topics, and of the pages beside them.
func (s *stage) remembered() (topicsOf, pagesOf []string) {
	s.Helper()
	list, _, err := s.Conversations(s.Context(), 0, 1000)
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range list {
		if c.SubjectKey != "" {
			topicsOf = append(topicsOf, c.SubjectKey)
		}
	}
	rows, _, err := s.Privacy.Pages(s.Context(), ports.PageList{Limit: 1000})
	if err != nil {
		s.Fatal(err)
	}
	for _, row := range rows {
		pagesOf = append(pagesOf, row.URL)
	}
	slices.Sort(topicsOf)
	slices.Sort(pagesOf)
	return topicsOf, pagesOf
}

const (
	bankPage = "https://www.bank.test/account"
	longPage = "https://bank.test/"
	newsPage = "https://news.test/today"
)

// longBankPage has a topic whose key is a hash.
func longBankPage() string { return longPage + strings.Repeat("a", 600) }

func TestOfAnExcludedSiteNothingIsKept(t *testing.T) {
	staged(t, func(s *stage) {
		for _, site := range []pages.Site{"bank.test", "intranet.*", "bank.test"} {
			if err := s.Privacy.Exclude(s.Context(), site); err != nil {
				s.Fatal(err)
			}
		}
		check := func(when string, excluded ...pages.Site) {
			s.Helper()
			if got := s.Privacy.Excluded(); !slices.Equal(got, excluded) {
				s.Fatalf("%s: excluded %q", when, got)
			}
			for url, kept := range map[string]bool{
				bankPage: !slices.Contains(excluded, "bank.test"), "https://bank.test:8443/?token=x": !slices.Contains(excluded, "bank.test"),
				"http://intranet.corp/x": false, newsPage: true,
			} {
				if record := s.BeginAnswer(ports.AnsweredQuestion{Question: "What?", Page: page(url)}); (record != nil) != kept {
					s.Errorf("%s: of %s something is kept: %v", when, url, record != nil)
				} else if record != nil {
					_ = s.ended(record, whole("That."))
				}
			}
		}
		check("excluded", "bank.test", "intranet.*")
		s.restart()
		check("after a restart", "bank.test", "intranet.*")
		if err := s.Privacy.Include(s.Context(), "bank.test"); err != nil {
			s.Fatal(err)
		}
		check("included again", "intranet.*")
		for i := range pages.MaxSites - 1 {
			if err := s.Privacy.Exclude(s.Context(), pages.Site(fmt.Sprint("site", i, ".test"))); err != nil {
				s.Fatal(err)
			}
		}
		if err := s.Privacy.Exclude(s.Context(), "more.test"); !errors.Is(err, topics.ErrSitesFull) || len(s.Privacy.Excluded()) != pages.MaxSites {
			s.Fatalf("a full list: %v", err)
		}
	}, remembering)
}

// What the owner forgets while an answer about it is on its way does not come back
// with that answer.
func TestWhatIsForgottenDoesNotComeBackWithAnAnswerOnItsWay(t *testing.T) {
	for name, forget := range map[string]func(s *stage) error{
		"the page":    func(s *stage) error { _, err := s.Privacy.ForgetPage(s.Context(), bankPage, true); return err },
		"its site":    func(s *stage) error { _, err := s.Privacy.ForgetSite(s.Context(), "bank.test", true); return err },
		"all":         func(s *stage) error { _, err := s.Privacy.ForgetAll(s.Context(), true); return err },
		"excluded":    func(s *stage) error { return s.Privacy.Exclude(s.Context(), "*.bank.test") },
		"off":         func(s *stage) error { return s.SetRecording(s.Context(), false) },
		"pages alone": func(s *stage) error { _, err := s.Privacy.ForgetSite(s.Context(), "www.bank.*", false); return err },
	} {
		t.Run(name, func(t *testing.T) {
			staged(t, func(s *stage) {
				running := s.asked("https://elsewhere.test/", "runs on") // what is erased has to be remembered
				end := s.asked(bankPage, "What?")
				if err := forget(s); err != nil {
					s.Fatal(err)
				}
				end(whole("That."))
				if topicsOf, pagesOf := s.remembered(); len(topicsOf)+len(pagesOf) != 0 {
					s.Fatalf("it came back: %q, %q", topicsOf, pagesOf)
				}
				if name == "off" || name == "excluded" {
					return
				}
				s.visit(bankPage)
				if topicsOf, pagesOf := s.remembered(); !slices.Equal(topicsOf, []string{bankPage}) || !slices.Equal(pagesOf, topicsOf) {
					s.Fatalf("asked about again: %q, %q", topicsOf, pagesOf)
				}
				running(whole("That."))
			}, remembering)
		})
	}
}

// meetings is an index in which answers end just before and just after a removal.
type meetings struct {
	ports.PageIndex
	before, after func()
}

func (m *meetings) ForgetPages(ctx context.Context, goes func(url string) bool) (int, error) {
	m.before()
	defer m.after()
	return m.PageIndex.ForgetPages(ctx, goes)
}

func (m *meetings) ClearPages(ctx context.Context) (int, error) {
	m.before()
	defer m.after()
	return m.PageIndex.ClearPages(ctx)
}

// An answer that ends in the middle of the forgetting brings nothing back either,
// whichever comes first.
func TestForgettingMeetsTheEndsOfAnswers(t *testing.T) {
	meet := &meetings{}
	for name, forget := range map[string]func(s *stage) error{
		"the page": func(s *stage) error { _, err := s.Privacy.ForgetPage(s.Context(), bankPage, true); return err },
		"its site": func(s *stage) error { _, err := s.Privacy.ForgetSite(s.Context(), "bank.*", true); return err },
		"all":      func(s *stage) error { _, err := s.Privacy.ForgetAll(s.Context(), true); return err },
	} {
		t.Run(name, func(t *testing.T) {
			staged(t, func(s *stage) {
				s.visit(bankPage)
				first, second := s.asked(bankPage, "One?"), s.asked(bankPage, "Two?")
				meet.before, meet.after = func() { first(whole("That.")) }, func() { second(whole("That.")) }
				if err := forget(s); err != nil {
					s.Fatal(err)
				}
				if topicsOf, pagesOf := s.remembered(); len(topicsOf)+len(pagesOf) != 0 {
					s.Fatalf("it came back: %q, %q", topicsOf, pagesOf)
				}
			}, remembering, func(d *personal.Deps, _ *personal.Options) {
				meet.PageIndex = d.Index
				d.Index = meet
			})
		})
	}
}

func TestForgettingTakesPagesAndTheirTopics(t *testing.T) {
	for name, c := range map[string]struct {
		forget func(p *stage, topicsToo bool) (int, int, error)
		gone   []string
	}{
		"a page": {func(s *stage, too bool) (int, int, error) {
			done, err := s.Privacy.ForgetPage(s.Context(), bankPage, too)
			return done.Pages, done.Topics, err
		}, []string{bankPage}},
		"a site": {func(s *stage, too bool) (int, int, error) {
			done, err := s.Privacy.ForgetSite(s.Context(), "bank.test", too)
			return done.Pages, done.Topics, err
		}, []string{bankPage, longBankPage()}},
		"all": {func(s *stage, too bool) (int, int, error) {
			done, err := s.Privacy.ForgetAll(s.Context(), too)
			return done.Pages, done.Topics, err
		}, []string{bankPage, longBankPage(), newsPage}},
	} {
		for _, topicsToo := range []bool{true, false} {
			t.Run(fmt.Sprint(name, topicsToo), func(t *testing.T) {
				staged(t, func(s *stage) {
					for _, url := range []string{bankPage, longBankPage(), newsPage} {
						s.visit(url)
						s.keepPage(url)
					}
					nPages, nTopics, err := c.forget(s, topicsToo)
					if err != nil || nPages != len(c.gone) || topicsToo && nTopics != len(c.gone) || !topicsToo && nTopics != 0 {
						s.Fatalf("forgot %d pages, %d topics, %v", nPages, nTopics, err)
					}
					topicsOf, pagesOf := s.remembered()
					if len(pagesOf) != 3-len(c.gone) || topicsToo && len(topicsOf) != len(pagesOf) || !topicsToo && len(topicsOf) != 3 {
						s.Fatalf("topics %q, pages %q are left", topicsOf, pagesOf)
					}
					for _, url := range c.gone {
						if slices.Contains(pagesOf, url) {
							s.Errorf("%s is still there", url)
						}
					}
				}, remembering)
			})
		}
	}
}

// keepPage puts a page into the index, if it is not there.
func (s *stage) keepPage(url string) {
	s.Helper()
	err := s.store.Update(s.Context(), func(tx ports.PersonalTx) error {
		return tx.IndexPage(pages.Page{URL: url, Title: "A page", Text: "Its text"})
	})
	if err != nil {
		s.Fatal(err)
	}
}
