package browsers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/admission"
	"plexus/domain/loglimit"
	"plexus/domain/sessions"
	"plexus/ports"
)

// numbered gives the n-th token of an endless row.
func numbered(n int64) string { return fmt.Sprintf("%0*x", admission.KeyLength, n) }

// recordingKeeper is a token file that remembers what was written to it last.
type recordingKeeper struct {
	mu      sync.Mutex
	written int64
	err     error
}

func (k *recordingKeeper) RotateToken() (admission.KeyHash, error) {
	k.mu.Lock()
	if k.err != nil {
		defer k.mu.Unlock()
		return admission.KeyHash{}, k.err
	}
	k.written++
	hash := admission.HashKey(numbered(k.written))
	k.mu.Unlock()
	for range 20 {
		runtime.Gosched() // as a slow disk does: others may write before we are back
	}
	return hash, nil
}

// stage is a Registry over a given store.
type stage struct {
	*Registry
	keeper *recordingKeeper
	now    time.Time
	log    bytes.Buffer
}

func newStage(t *testing.T, store ports.ExtensionRegistry) *stage {
	t.Helper()
	s := &stage{keeper: &recordingKeeper{}, now: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)}
	r, err := New(Deps{
		Extensions: store, Token: s.keeper, Now: func() time.Time { return s.now },
		Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}, Options{TokenHash: admission.HashKey(numbered(0))})
	if err != nil {
		t.Fatal(err)
	}
	s.Registry = r
	return s
}

// handshake offers token as a native tool does.
func (s *stage) handshake(ctx context.Context, token string) admission.Verdict {
	return s.Admit(ctx, admission.HandshakeRequest{Protocols: []string{admission.SubprotocolPrefix + token}})
}

// link counts how often it was told to end.
type link struct{ closes atomic.Int64 }

func (l *link) Close(sessions.CloseReason) { l.closes.Add(1) }

// TestRotateToken_FileAndMemoryAgree: however many rotate at once, the token in
// force is the one that the file holds.
func TestRotateToken_FileAndMemoryAgree(t *testing.T) {
	for range 100 {
		s := newStage(t, memory.NewExtensions())
		var rotating sync.WaitGroup
		for range 4 {
			rotating.Go(func() {
				if err := s.RotateToken(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		rotating.Wait()
		if !s.handshake(t.Context(), numbered(s.keeper.written)).Admitted {
			t.Fatal("the token in the file is not the one in force")
		}
	}
}

// TestRotateToken_SparesWhoCameWithTheNewToken: a rotation ends what came with
// the old token, and nothing that the new one let in.
func TestRotateToken_SparesWhoCameWithTheNewToken(t *testing.T) {
	for range 300 {
		s := newStage(t, memory.NewExtensions())
		old := &link{}
		if _, ok := s.Attach(t.Context(), s.handshake(t.Context(), numbered(0)), old); !ok {
			t.Fatal("the old token does not pass")
		}
		fresh := make([]link, 4)
		var coming sync.WaitGroup
		for n := range fresh {
			coming.Go(func() {
				for {
					if v := s.handshake(context.Background(), numbered(1)); v.Admitted {
						if _, ok := s.Attach(context.Background(), v, &fresh[n]); !ok {
							t.Error("a peer with the new token was taken for a removed one")
						}
						return
					}
				}
			})
		}
		if err := s.RotateToken(t.Context()); err != nil {
			t.Fatal(err)
		}
		coming.Wait()
		if old.closes.Load() != 1 {
			t.Fatal("a connection of the old token was not ended")
		}
		for n := range fresh {
			if fresh[n].closes.Load() != 0 {
				t.Fatal("the rotation ended a connection of the token that it made")
			}
		}
	}
}

func TestRotateToken_AFailureChangesNothing(t *testing.T) {
	s := newStage(t, memory.NewExtensions())
	s.keeper.err = errors.New("disk full")
	link := &link{}
	if _, ok := s.Attach(t.Context(), s.handshake(t.Context(), numbered(0)), link); !ok {
		t.Fatal("the token does not pass")
	}
	if err := s.RotateToken(t.Context()); !errors.Is(err, s.keeper.err) {
		t.Errorf("got %v", err)
	}
	if link.closes.Load() != 0 || !s.handshake(t.Context(), numbered(0)).Admitted {
		t.Error("the old token is gone though there is no new one")
	}
}

// TestRefuse_MadeUpOriginsDoNotFloodTheLog: every cause has a few lines a minute.
func TestRefuse_MadeUpOriginsDoNotFloodTheLog(t *testing.T) {
	s := newStage(t, memory.NewExtensions())
	lines := func(cause admission.Cause) int { return strings.Count(s.log.String(), "cause="+string(cause)) }
	for n := range 5000 {
		s.Refuse(admission.WebOrigin, fmt.Sprint("https://", n, ".example"))
		s.now = s.now.Add(10 * time.Millisecond) // 50 s in all
	}
	if got := lines(admission.WebOrigin); got != loglimit.Lines {
		t.Errorf("%d lines in the first minute, want %d", got, loglimit.Lines)
	}
	s.Refuse(admission.NoToken, "")
	if lines(admission.NoToken) != 1 {
		t.Error("one cause took the lines of another")
	}
	s.now = s.now.Add(time.Minute)
	for n := range 5000 {
		s.Refuse(admission.WebOrigin, fmt.Sprint("https://again", n, ".example"))
	}
	if got := lines(admission.WebOrigin); got != 2*loglimit.Lines {
		t.Errorf("%d lines in two minutes, want %d", got, 2*loglimit.Lines)
	}
	if got := len(s.Refusals()); got != maxRefusals {
		t.Errorf("%d refusals are kept, want %d", got, maxRefusals)
	}
}

// TestRefuse_OnePeerIsLoggedAtMilestones and listed once, newest first.
func TestRefuse_OnePeerIsLoggedAtMilestones(t *testing.T) {
	s := newStage(t, memory.NewExtensions())
	const origin = "https://a.example/\x1b[31m\n"
	for range 1000 {
		s.Refuse(admission.WebOrigin, origin)
		s.now = s.now.Add(time.Minute)
	}
	s.Refuse(admission.NoToken, "")
	if got := strings.Count(s.log.String(), "cause="+string(admission.WebOrigin)); got != 4 { // 1, 10, 100, 1000
		t.Errorf("%d lines about 1000 attempts of one peer, want 4", got)
	}
	list := s.Refusals()
	if len(list) != 2 || list[0].Cause != admission.NoToken || list[1].Count != 1000 || list[1].Last.Sub(list[1].First) != 999*time.Minute {
		t.Errorf("the list reads %+v", list)
	}
	if strings.ContainsAny(list[1].Peer, "\x1b\n") {
		t.Errorf("the list holds %q", list[1].Peer)
	}
	s.Refuse(admission.WebOrigin, strings.Repeat("x", 10*admission.MaxOriginLength))
	if got := len(s.Refusals()[0].Peer); got > admission.MaxOriginLength {
		t.Errorf("an origin of %d bytes is kept", got)
	}
}

// brokenRegistry fails as a store does: with the context's error when that has
// ended, else with its own.
type brokenRegistry struct {
	ports.ExtensionRegistry
	err error
}

func (r brokenRegistry) FindExtension(ctx context.Context, _ string, _ admission.KeyHash) (admission.Extension, error) {
	if ctx.Err() != nil {
		return admission.Extension{}, ctx.Err()
	}
	return admission.Extension{}, r.err
}

// TestAdmit_APeerThatHungUpIsNoFailure: its handshake is neither an error in the log
// nor a refusal on the owner's list; a store that fails is both.
func TestAdmit_APeerThatHungUpIsNoFailure(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	const origin = "chrome-extension://abc"
	for name, token := range map[string]string{"by key": numbered(9), "by token": numbered(0)} {
		request := admission.HandshakeRequest{Origins: []string{origin}, Protocols: []string{admission.SubprotocolPrefix + token}}
		s := newStage(t, brokenRegistry{memory.NewExtensions(), errors.New("disk gone")})
		if v := s.Admit(gone, request); v.Admitted {
			t.Errorf("%s: admitted without a look", name)
		}
		if s.log.Len() > 0 || len(s.Refusals()) > 0 {
			t.Errorf("%s: a peer that hung up left %d refusals and this log:\n%s", name, len(s.Refusals()), &s.log)
		}
		v := s.Admit(t.Context(), request)
		list := s.Refusals()
		if v.Admitted || v.Cause != admission.StoreFailed || len(list) != 1 || list[0].Cause != admission.StoreFailed {
			t.Errorf("%s: a broken store gave %+v and the list %+v", name, v, list)
		}
		if !strings.Contains(s.log.String(), "level=ERROR") || !strings.Contains(s.log.String(), "disk gone") {
			t.Errorf("%s: the log does not tell of the broken store:\n%s", name, &s.log)
		}
	}
}

// Whoever watches the page's list is woken by each change of it.
func TestChanged_HandshakeDecisionRefusalAndLink(t *testing.T) {
	s := newStage(t, memory.NewExtensions())
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"handshake", func() {
			s.Admit(t.Context(), admission.HandshakeRequest{Origins: []string{"chrome-extension://abc"}, Protocols: []string{admission.SubprotocolPrefix + numbered(7)}})
		}},
		{"allow", func() { _, _ = s.AllowExtension(t.Context(), 1) }},
		{"refusal", func() { s.Refuse(admission.WebOrigin, "https://a.example") }},
		{"link", func() { s.Attach(t.Context(), admission.Verdict{}, &link{}) }},
		{"forget", func() { _ = s.ForgetExtension(t.Context(), 1) }},
	} {
		changed := s.Changed()
		step.do()
		select {
		case <-changed:
		default:
			t.Errorf("%s wakes nobody", step.what)
		}
	}
}

// leaver is a registry whose asker leaves in the middle of a change; like a
// database it then stores, and reports that the asker has left.
type leaver struct {
	ports.ExtensionRegistry
	leave context.CancelFunc
}

func (l *leaver) SaveExtension(ctx context.Context, e admission.Extension) (admission.Extension, error) {
	saved, err := l.ExtensionRegistry.SaveExtension(ctx, e)
	if l.leave != nil {
		l.leave()
		err = errors.Join(err, ctx.Err())
	}
	return saved, err
}

func (l *leaver) ForgetExtension(ctx context.Context, id int64) error {
	err := l.ExtensionRegistry.ForgetExtension(ctx, id)
	l.leave()
	return errors.Join(err, ctx.Err())
}

func TestRemoveExtension_IsCompletedWhenTheAskerLeaves(t *testing.T) {
	for name, remove := range map[string]func(context.Context, *Registry) error{
		"remove": func(ctx context.Context, r *Registry) error { _, err := r.RemoveExtension(ctx, 1); return err },
		"forget": func(ctx context.Context, r *Registry) error { return r.ForgetExtension(ctx, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			registry := &leaver{ExtensionRegistry: memory.NewExtensions()}
			s := newStage(t, registry)
			row, err := registry.SaveExtension(t.Context(), admission.Extension{Origin: "chrome-extension://a", State: admission.Allowed, FirstSeen: s.now, LastSeen: s.now})
			if err != nil {
				t.Fatal(err)
			}
			link := &link{}
			if _, ok := s.Attach(t.Context(), admission.Verdict{Admitted: true, Peer: admission.Peer{RowID: row.ID}}, link); !ok {
				t.Fatal("not attached")
			}
			ctx, leave := context.WithCancel(t.Context())
			registry.leave = leave
			if err := remove(ctx, s.Registry); err != nil || link.closes.Load() != 1 {
				t.Errorf("%v; ended %d times", err, link.closes.Load())
			}
		})
	}
}
