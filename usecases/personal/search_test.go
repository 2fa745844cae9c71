package personal_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/usecases/personal"
	"plexus/usecases/personal/choice"
)

// lookups are what was looked up, on this machine and elsewhere.
type lookups struct{ here, elsewhere []string }

func (l *lookups) plug(d *personal.Deps, _ *personal.Options) {
	d.Find = func(_ context.Context, text, _ string, _ int) ([]framing.Result, error) {
		l.here = append(l.here, text)
		return nil, nil
	}
	d.Search = func(_ context.Context, text, _ string, _ int) ([]framing.Result, error) {
		l.elsewhere = append(l.elsewhere, text)
		return nil, nil
	}
}

func (l *lookups) expect(s *stage, what string, here, elsewhere []string) {
	s.Helper()
	s.messages("chat:main") // once all is answered
	if !slices.Equal(l.here, here) || !slices.Equal(l.elsewhere, elsewhere) {
		s.Fatalf("%s: here %q, elsewhere %q", what, l.here, l.elsewhere)
	}
	l.here, l.elsewhere = nil, nil
}

// What is said in a conversation leaves this machine for a search only when its
// owner says so (decision D16).
func TestAConversationIsSearchedForElsewhereOnlyWhenItsOwnerSaysSo(t *testing.T) {
	var l lookups
	staged(t, func(s *stage) {
		phone, desktop := s.phone(), s.desktop()
		phone.accept("a", "chat:main", "My rash?")
		desktop.accept("p", "chat:main", "search for my rash")
		phone.accept("b", "chat:main", "/searching my rash")
		if err := s.SubmitText(s.Context(), "chat:main", "Typed on the page"); err != nil {
			s.Fatal(err)
		}
		l.expect(s, "texts", []string{"My rash?", "search for my rash", "/searching my rash", "Typed on the page"}, nil)

		phone.accept("c", "chat:main", " /Search  bridges of 1921 ")
		l.expect(s, "a search that was asked for", nil, []string{"bridges of 1921"})
		all := s.messages("chat:main")
		if n := len(all); all[n-2].Text != " /Search  bridges of 1921 " || all[n-1].Text != "answer to bridges of 1921" {
			s.Fatalf("stored %q", texts(all[n-2:]))
		}
		phone.accept("d", "chat:main", "And then?")
		l.expect(s, "the text after it", []string{"And then?"}, nil)
		prompts := s.model.calls()
		if h := prompts[len(prompts)-1].History; h[len(h)-1].User != "bridges of 1921" {
			s.Fatalf("history %+v", h)
		}

		for i, on := range []bool{true, false, true} {
			if err := s.Searches.Set(s.Context(), on); err != nil {
				s.Fatal(err)
			}
			phone.accept(string(rune('e'+i)), "chat:main", "Anything")
			if said := []string{"Anything"}; on {
				l.expect(s, "switched on", nil, said)
			} else {
				l.expect(s, "switched off", said, nil)
			}
		}
		s.restart()
		s.phone().accept("z", "chat:main", "Anything")
		l.expect(s, "after a restart", nil, []string{"Anything"})

		s.opts.Searches = choice.Start{Fixed: true}
		s.restart()
		s.phone().accept("y", "chat:main", "Anything")
		l.expect(s, "fixed by the configuration", []string{"Anything"}, nil)
		if err := s.Searches.Set(s.Context(), true); !errors.Is(err, choice.ErrFixed) {
			s.Fatalf("set what is fixed: %v", err)
		}

		s.deps.Search = nil
		s.restart()
		s.phone().accept("x", "chat:main", "/search bridges")
		l.expect(s, "without a service", []string{"bridges"}, nil)
	}, l.plug)
}

// A search may hang, here or elsewhere: what the owner said is shown at once.
func TestTheOwnersCaptionWaitsForNoSearch(t *testing.T) {
	var release chan struct{}
	staged(t, func(s *stage) {
		release = make(chan struct{})
		phone := s.phone()
		for id, text := range map[string]string{"a": "My question", "b": "/search my question"} {
			phone.accept(id, "chat:main", text)
			captions := got[nova.Caption](phone)
			if len(captions) != 1 || captions[0].Role != nova.User || captions[0].FullText != text || !captions[0].Final {
				s.Fatalf("while the search hangs: %+v", captions)
			}
			release <- struct{}{}
			captions = got[nova.Caption](phone)
			if all := s.messages("chat:main"); len(captions) == 0 || captions[0].Role != nova.Assistant || all[len(all)-2].Status != conversations.Completed {
				s.Fatalf("after the search: %+v", captions)
			}
		}
	}, func(d *personal.Deps, _ *personal.Options) {
		hang := func(context.Context, string, string, int) ([]framing.Result, error) {
			<-release
			return nil, nil
		}
		d.Find, d.Search = hang, hang
	})
}
