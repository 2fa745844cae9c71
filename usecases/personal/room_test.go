package personal_test

import (
	"errors"
	"testing"
	"time"

	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
)

// TestAFullDiskIsToldUntilThereIsRoom: refusals of the owner's own doing are no sign of
// one.
func TestAFullDiskIsToldUntilThereIsRoom(t *testing.T) {
	full := errors.New("disk full")
	staged(t, func(s *stage) {
		if err := s.Delete(s.Context(), "no such chat"); err == nil || s.Unstored(s.Context()).Count != 0 {
			s.Fatalf("a refusal: %v, %+v", err, s.Unstored(s.Context()))
		}
		s.store.BeforeCommit(func() error { return full })
		for range 3 {
			if _, err := s.CreateChat(s.Context(), "lost"); !errors.Is(err, full) {
				s.Fatalf("a change: %v", err)
			}
		}
		if got := s.Unstored(s.Context()); got != (hub.Unstored{Count: 3, Last: time.Now()}) {
			s.Fatalf("while it is full: %+v", got)
		}
		s.store.BeforeCommit(nil)
		if got := s.Unstored(s.Context()); got.Count != 0 {
			s.Fatalf("with room again: %+v", got)
		}
		s.store.FailNext(full)
		_, lost := s.CreateChat(s.Context(), "lost")
		_, kept := s.CreateChat(s.Context(), "kept")
		if got := s.Unstored(s.Context()); lost == nil || kept != nil || got.Count != 0 {
			s.Fatalf("after the next change: %v, %v, %+v", lost, kept, got)
		}
	}, func(d *personal.Deps, _ *personal.Options) {
		d.NoRoom = func(err error) bool { return errors.Is(err, full) }
	})
}
