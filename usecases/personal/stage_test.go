package personal_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/chats"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/topics"
	"plexus/usecases/personal/turns"
)

// instance is the input instance of every staged host.
const instance = "8a5f6a5e-9f0e-4c9c-8d0c-2f1c6f1f2a3b"

// stage is a personal host on a store in memory, with scripted services. It
// lives in a synctest bubble: time is fake.
type stage struct {
	*testing.T
	host
	store *memory.Personal
	model *model
	deps  personal.Deps
	opts  personal.Options
}

// host is a personal host with the methods of those areas that the owner uses.
type host struct {
	*personal.Host
	*chats.Chats
	*life.Life
	*topics.Topics
	*turns.Turns
}

// staged runs a test in a bubble. adjust may change what the host is built from.
func staged(t *testing.T, test func(s *stage), adjust ...func(*personal.Deps, *personal.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, store: memory.NewPersonal(), model: &model{}}
		s.deps = personal.Deps{
			Services: hub.Services{
				Store: s.store, Random: rand.NewChaCha8([32]byte{1}), Now: time.Now, Within: context.WithTimeout,
				After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
				Log:   slog.New(slog.NewTextHandler(io.Discard, nil)),
			},
			Archive: s.store, Settings: memory.NewSettings(), Model: s.model,
		}
		s.opts = personal.Options{InputInstanceID: instance, Topics: topics.Options{Record: true}}
		for _, a := range adjust {
			a(&s.deps, &s.opts)
		}
		s.start()
		defer func() { s.Stop() }()
		test(s)
	})
}

func (s *stage) start() {
	s.Helper()
	h, err := personal.New(s.Context(), s.deps, s.opts)
	if err != nil {
		s.Fatal(err)
	}
	s.host = host{h, h.Chats, h.Life, h.Topics, h.Turns}
}

// restart stops the host and starts another one on the same store.
func (s *stage) restart() {
	s.Helper()
	s.Stop()
	s.start()
}

// phone attaches a personal phone.
func (s *stage) phone() *client { return s.attach(hub.Terms{Personal: true}) }

// desktop attaches the owner's page.
func (s *stage) desktop() *client { return s.attach(hub.Terms{Desktop: true, Personal: true}) }

func (s *stage) attach(terms hub.Terms) *client {
	c := &client{stage: s}
	c.Endpoint = s.Attach(c, terms)
	return c
}

// client is an attached client with what it was sent.
type client struct {
	*stage
	hub.Endpoint

	mu       sync.Mutex
	sent     []nova.Message
	revision uint64
}

func (c *client) Send(m nova.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, m)
}

func (c *client) Changed(revision uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = max(c.revision, revision)
}

// got gives what was sent since the last call, of one type of message.
func got[M nova.Message](c *client) []M {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []M
	var rest []nova.Message
	for _, m := range c.sent {
		if wanted, ok := m.(M); ok {
			found = append(found, wanted)
		} else {
			rest = append(rest, m)
		}
	}
	c.sent = rest
	return found
}

// ask sends a command and gives its result.
func (c *client) ask(id, method, params string) nova.PersonalResult {
	c.Helper()
	if err := c.Deliver(c.Context(), command(id, method, params)); err != nil {
		c.Fatalf("%s %s: %v", method, params, err)
	}
	results := got[nova.PersonalResult](c)
	if len(results) != 1 || results[0].RequestID != id {
		c.Fatalf("%s: results %+v", method, results)
	}
	return results[0]
}

func command(id, method, params string) nova.PersonalCommand {
	return nova.PersonalCommand{RequestID: id, Method: method, Params: json.RawMessage(params)}
}

// done is ask for what must succeed.
func (c *client) done(id, method, params string) json.RawMessage {
	c.Helper()
	r := c.ask(id, method, params)
	if r.Error != "" {
		c.Fatalf("%s %s: %s", method, params, r.Error)
	}
	return r.Data
}

// refuse is ask for what must be refused.
func (c *client) refuse(id, method, params string, want workbench.Refusal) {
	c.Helper()
	if r := c.ask(id, method, params); r.Error != string(want) {
		c.Fatalf("%s %s: error %q, want %q", method, params, r.Error, want)
	}
}

// say submits a correlated text and gives its outcome.
func (c *client) say(id, conversation, text string) nova.TextError {
	c.Helper()
	if err := c.Deliver(c.Context(), nova.InputText{Text: text, RequestID: id, ConversationID: conversation}); err != nil {
		c.Fatal(err)
	}
	results := got[nova.TextResult](c)
	if len(results) != 1 || results[0].RequestID != id {
		c.Fatalf("text results %+v", results)
	}
	return results[0].Error
}

// see decodes the client's snapshot.
func (c *client) see() workbench.MobileSnapshot {
	c.Helper()
	state, err := c.Snapshot(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	snapshot, err := workbench.DecodeSnapshot(state.Frame)
	if err != nil {
		c.Fatal(err)
	}
	return snapshot
}

// messages reads a conversation whole.
func (s *stage) messages(id string) []conversations.Message {
	s.Helper()
	synctest.Wait()
	list, err := s.Messages(s.Context(), id, 0, 1000)
	if err != nil {
		s.Fatal(err)
	}
	return list
}

// model is a scripted model: each call runs what was scripted for it, or answers
// "answer to <text>".
type model struct {
	mu      sync.Mutex
	prompts []ports.Prompt
	script  []func(ctx context.Context, emit func(string) error) error
}

func (m *model) then(reply func(ctx context.Context, emit func(string) error) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = append(m.script, reply)
}

func (m *model) calls() []ports.Prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]ports.Prompt(nil), m.prompts...)
}

func (m *model) Generate(ctx context.Context, p ports.Prompt, emit func(string) error) error {
	m.mu.Lock()
	m.prompts = append(m.prompts, p)
	var reply func(ctx context.Context, emit func(string) error) error
	if len(m.script) > 0 {
		reply, m.script = m.script[0], m.script[1:]
	}
	m.mu.Unlock()
	if reply != nil {
		return reply(ctx, emit)
	}
	return emit("answer to " + p.User)
}

// hangs never answers.
func hangs(ctx context.Context, _ func(string) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// breaks answers in part.
func breaks(_ context.Context, emit func(string) error) error {
	return errors.Join(emit("half an answ"), ports.ErrModelInterrupted)
}

// waits answers once gate is closed.
func waits(gate <-chan struct{}, text string) func(ctx context.Context, emit func(string) error) error {
	return func(ctx context.Context, emit func(string) error) error {
		select {
		case <-gate:
			return emit(text)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
