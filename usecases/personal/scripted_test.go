package personal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
)

// clock is a wall clock that can be moved; timers do not see it.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

func (c *clock) wind(d *personal.Deps, _ *personal.Options) { d.Now = c.now }

// speaker is a scripted voice runtime.
type speaker struct {
	mu      sync.Mutex
	err     error
	begin   <-chan struct{} // nil: starts at once
	end     <-chan struct{} // nil: stops at once
	running []string        // conversations
	most    int             // that ran at a time
}

func (s *speaker) StartVoice(ctx context.Context, conversationID string) (stop func(), err error) {
	s.mu.Lock()
	begin, end := s.begin, s.end
	s.mu.Unlock()
	if begin != nil {
		select {
		case <-begin:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	s.running = append(s.running, conversationID)
	s.most = max(s.most, len(s.running))
	return func() {
		if end != nil {
			<-end
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running = s.running[1:]
	}, nil
}

func (s *speaker) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *speaker) runs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

func (s *speaker) plug(d *personal.Deps, _ *personal.Options) { d.Voice = s }

// lateStore lets one Update return late: what it did is kept already, and the host
// does not know yet.
type lateStore struct {
	*memory.Personal

	mu   sync.Mutex
	skip int             // Updates before the one that is late
	gate <-chan struct{} // nil: none is
}

// hold lets the Update after the next skip ones return once free is called.
func (l *lateStore) hold(skip int) (free func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	gate := make(chan struct{})
	l.skip, l.gate = skip, gate
	return sync.OnceFunc(func() {
		close(gate)
		synctest.Wait()
	})
}

func (l *lateStore) Update(ctx context.Context, change func(ports.PersonalTx) error) error {
	l.mu.Lock()
	var gate <-chan struct{}
	if l.skip--; l.skip < 0 {
		gate, l.gate = l.gate, nil
	}
	l.mu.Unlock()
	err := l.Personal.Update(ctx, change)
	if gate != nil {
		<-gate
	}
	return err
}

func (l *lateStore) plug(d *personal.Deps, _ *personal.Options) {
	l.Personal = d.Store.(*memory.Personal)
	d.Store = l
}

// put stores a record as the host would.
func (s *stage) put(area, id string, v any) {
	s.Helper()
	body, err := json.Marshal(v)
	if err == nil {
		err = s.store.Update(s.Context(), func(tx ports.PersonalTx) error { return tx.PutRecord(area, id, body, 0) })
	}
	if err != nil {
		s.Fatal(err)
	}
}

// remind stores a message of the host's own accord, as reminders will.
func (s *stage) remind(id, text string) {
	s.Helper()
	err := s.store.Update(s.Context(), func(tx ports.PersonalTx) error {
		c, err := tx.Conversation(conversations.ProactiveID)
		if err != nil {
			return err
		}
		c.Unread++
		if err := tx.PutConversation(c); err != nil {
			return err
		}
		_, err = tx.AddMessage(conversations.Message{
			ID: id, ConversationID: c.ID, Role: conversations.Assistant, Text: text, CreatedAt: time.Now(),
		})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// conversation looks one up.
func (s *stage) conversation(id string) conversations.Conversation {
	s.Helper()
	synctest.Wait()
	c, _, err := s.Conversation(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// chat makes a chat and gives its ID.
func (s *stage) chat(title string) string {
	s.Helper()
	id, err := s.CreateChat(s.Context(), title)
	if err != nil {
		s.Fatal(err)
	}
	return id
}

// deliver hands a control over.
func (c *client) deliver(m nova.Control) error { return c.Deliver(c.Context(), m) }

// accept is say for a text that must be admitted.
func (c *client) accept(id, conversation, text string) {
	c.Helper()
	if cause := c.say(id, conversation, text); cause != "" {
		c.Fatalf("text %s: %s", id, cause)
	}
}

// item finds a conversation in a snapshot.
func item(s workbench.MobileSnapshot, id string) *workbench.ConversationRow {
	for i, c := range s.Conversations.Items {
		if c.ID == id {
			return &s.Conversations.Items[i]
		}
	}
	return nil
}

// browse lets the browser ask about a page and get a whole answer.
func (s *stage) browse(page framing.PageContext, question, answer string) {
	s.Helper()
	if r := s.BeginAnswer(ports.AnsweredQuestion{Question: question, Page: page}); r != nil { // else it is not kept
		_ = s.ended(r, ports.Answered{Text: answer, Complete: true})
	}
}

// ended lets an answer end, which is kept first where it is whole. The error is one
// that a test has asked for.
func (s *stage) ended(r ports.AnswerRecord, a ports.Answered) error {
	var kept error
	if a.Complete {
		kept = r.Keep(s.Context(), a)
	}
	return errors.Join(kept, r.End(s.Context(), a))
}

// topic finds the topic of an address.
func (s *stage) topic(subject string) (c conversations.Conversation, ok bool) {
	s.Helper()
	synctest.Wait()
	err := s.store.View(s.Context(), func(tx ports.PersonalView) (err error) {
		c, err = tx.TopicBySubject(subject)
		return err
	})
	return c, err == nil
}

// texts are the texts of messages.
func texts(list []conversations.Message) []string {
	all := make([]string, len(list))
	for i, m := range list {
		all[i] = m.Text
	}
	return all
}

func contains(s, part string) bool { return strings.Contains(s, part) }
