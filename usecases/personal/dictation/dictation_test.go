package dictation_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/nova"
	"plexus/usecases/personal/dictation"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/presentation"
	"plexus/usecases/personal/voice"
)

// listener recognizes speech as its own bytes.
type listener struct{}

func (listener) Transcribe(_ context.Context, pcm []byte) (string, error) { return string(pcm), nil }

// client keeps the texts that it is sent, by the ID of their draft.
type client struct {
	hub.Endpoint

	mu   sync.Mutex
	sent []string
}

func (c *client) Changed(uint64) {}

func (c *client) Send(m nova.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := m.(nova.Transcription)
	c.sent = append(c.sent, t.ID+":"+t.Text)
}

func TestEveryClientHasADraftOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(t.Context(), hub.Services{
			Store: memory.NewPersonal(), Now: time.Now, Within: context.WithTimeout, Log: slog.New(slog.DiscardHandler),
			After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
		})
		d := dictation.New(h, voice.New(h, nil, func(string) bool { return false }), presentation.New(h), listener{}, func() bool { return true })
		if err := h.Open(t.Context(), d.Area()); err != nil {
			t.Fatal(err)
		}
		defer h.Stop()
		attach := func() *client {
			c := &client{}
			c.Endpoint = h.Attach(c, hub.Terms{Personal: true})
			return c
		}
		do := func(c *client, id string, action nova.DictationAction) error {
			return c.Deliver(t.Context(), nova.InputDictation{ID: id, Action: action})
		}
		one, other, gone := attach(), attach(), attach()
		if err := errors.Join(do(one, "d", nova.DictationStart), do(other, "d", nova.DictationStart), do(gone, "d", nova.DictationStart)); err != nil {
			t.Fatal(err)
		}
		if err := do(one, "e", nova.DictationStart); !errors.Is(err, dictation.ErrDraftOpen) {
			t.Errorf("a second draft: %v", err)
		}
		one.Audio([]byte("one"))
		other.Audio([]byte("other"))
		gone.Leave()
		if err := do(gone, "e", nova.DictationStart); !errors.Is(err, dictation.ErrNoDictation) {
			t.Errorf("a draft of who has left: %v", err)
		}
		if err := do(one, "d", nova.DictationFinish); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * dictation.DraftLife) // nobody finishes the other one
		synctest.Wait()
		for name, c := range map[string]struct {
			client *client
			want   []string
		}{"one": {one, []string{"d:one"}}, "other": {other, []string{"d:"}}, "gone": {gone, nil}} {
			if !slices.Equal(c.client.sent, c.want) {
				t.Errorf("%s was sent %q, want %q", name, c.client.sent, c.want)
			}
		}
	})
}
