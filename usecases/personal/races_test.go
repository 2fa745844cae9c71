package personal_test

import (
	"fmt"
	"sync"
	"testing"

	"plexus/domain/nova"
)

// Everything that a client can do at once, against a host that stops. It is for
// the race detector; in the end no voice, no draft and no turn is left.
func TestEverythingAtOnceAgainstAStop(t *testing.T) {
	runtime := &speaker{}
	staged(t, func(s *stage) {
		var all sync.WaitGroup
		for n := range 4 {
			phone := s.phone()
			for _, act := range []func(i int) error{
				func(i int) error { return phone.deliver(submit(fmt.Sprint(n, i), "chat:main", "text")) },
				func(int) error { return phone.draft("d", nova.DictationStart) },
				func(int) error { return phone.draft("d", nova.DictationFinish) },
				func(int) error { return phone.draft("d", nova.DictationCancel) },
				func(int) error { phone.Audio(make([]byte, 640)); return nil },
				func(i int) error {
					return phone.deliver(command(fmt.Sprint("v", n, i), "conversations.voice", speakMain))
				},
				func(i int) error {
					return phone.deliver(command(fmt.Sprint("w", n, i), "conversations.voice", hushMain))
				},
				func(i int) error {
					return phone.deliver(command(fmt.Sprint("c", n, i), "conversations.clear", `{"id":"chat:main"}`))
				},
				func(int) error { s.browse(page(pageURL), "question", "answer"); return nil },
				func(int) error { _, err := s.DeleteTopics(s.Context()); return err },
				func(int) error { _, err := s.Privacy.ForgetSite(s.Context(), "a.test", true); return err },
				func(int) error { return s.Privacy.Exclude(s.Context(), "b.test") },
				func(int) error { return s.Privacy.Include(s.Context(), "b.test") },
				func(i int) error {
					if i == 15 {
						phone.Leave()
					}
					return nil
				},
			} {
				all.Go(func() {
					for i := range 20 {
						_ = act(i) // refusals are as good as anything else here
					}
				})
			}
		}
		all.Go(func() {
			for range 2000 {
				s.Recording()
			}
			s.Stop()
		})
		all.Wait()
		if runtime.runs() != 0 || runtime.most > 1 {
			s.Fatalf("%d run, %d ran at a time", runtime.runs(), runtime.most)
		}
		s.start()
		checkPairs(s, s.messages("chat:main"))
		if seen := s.phone().see(); seen.Conversations.VoiceID != nil {
			s.Fatalf("voice is with %q", *seen.Conversations.VoiceID)
		}
	}, runtime.plug, hearing("heard"), remembering)
}
