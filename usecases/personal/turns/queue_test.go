package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/hub"
)

// captions is a client that keeps the captions that it is sent.
type captions struct {
	mu   sync.Mutex
	sent []nova.Caption
}

func (c *captions) Changed(uint64) {}

func (c *captions) Send(m nova.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, m.(nova.Caption))
}

// texts gives what was sent since the last call; "." stands behind a final one.
func (c *captions) texts() (texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.sent {
		text := m.Text
		if m.Final {
			text += "."
		}
		texts = append(texts, text)
	}
	c.sent = nil
	return texts
}

// watched is a queue with a client that sees its captions.
func watched(t *testing.T) (*Queue, *captions) {
	t.Helper()
	h := hub.New(t.Context(), hub.Services{
		Now: time.Now, Within: context.WithTimeout,
		After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
	})
	c := &captions{}
	h.Attach(c, hub.Terms{Personal: true})
	return NewQueue(h), c
}

func text(conversationID, content string) admission {
	return admission{text: Text{ConversationID: conversationID, Text: content}, settle: func(error) {}}
}

func aTurn(conversationID, id string) *Turn {
	return &Turn{conversationID: conversationID, message: conversations.Message{ID: "user:" + id, TurnID: "turn:" + id}}
}

func TestTextsAreAdmittedInTheirOrder(t *testing.T) {
	q, _ := watched(t)
	for i, want := range []bool{true, false, false} {
		if begin, err := q.add(text("a", fmt.Sprint(i))); begin != want || err != nil {
			t.Errorf("text %d: begin %v, %v", i, begin, err)
		}
	}
	if begin, err := q.add(text("b", "")); !begin || err != nil {
		t.Errorf("another conversation: begin %v, %v", begin, err)
	}
	for i := range 3 {
		if a, ok := q.nextAdmission("a"); !ok || a.text.Text != fmt.Sprint(i) || !q.Busy("a") {
			t.Errorf("text %d is %+v, %v", i, a.text, ok)
		}
	}
	if _, ok := q.nextAdmission("a"); ok || q.Busy("a") {
		t.Error("there is a fourth, or the conversation is busy still")
	}
}

func TestAQueueIsBoundedInAConversationAndInAll(t *testing.T) {
	q, _ := watched(t)
	for i := range maxOpen {
		if _, err := q.add(text(fmt.Sprint(i/maxQueued), "")); err != nil {
			t.Fatalf("text %d: %v", i, err)
		}
	}
	for _, id := range []string{"0", "another"} {
		if _, err := q.add(text(id, "")); !errors.Is(err, workbench.ConversationBusy) || id == "another" && q.Busy(id) {
			t.Errorf("one too many in %s: %v", id, err)
		}
	}
	q.close()
	if _, err := q.add(text("a", "")); !errors.Is(err, workbench.RuntimeClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestOneTurnOfAConversationRunsAtATime(t *testing.T) {
	q, _ := watched(t)
	first, second := aTurn("a", "1"), aTurn("a", "2")
	if begin := []bool{q.addTurn(first), q.addTurn(second)}; !slices.Equal(begin, []bool{true, false}) {
		t.Errorf("begin %v", begin)
	}
	life, end := context.WithCancel(t.Context())
	turn, ctx, cancel := q.nextTurn(life, "a")
	defer cancel()
	if turn != first || !q.Busy("a") {
		t.Fatal("not the first")
	}
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > TurnLimit {
		t.Error("a turn has no limit")
	}
	q.Drop("a")
	if ctx.Err() == nil || !q.isDropped(first) || !q.isDropped(second) {
		t.Error("what was dropped goes on")
	}
	end()
	if turn, _, _ := q.nextTurn(life, "a"); turn != nil || q.Busy("a") {
		t.Error("a turn begins after the end")
	}
}

func TestWhatAPauseDefersIsShownOrDropped(t *testing.T) {
	for _, drop := range []bool{false, true} {
		q, client := watched(t)
		turn := aTurn("a", "1")
		q.addTurn(turn)
		_, _, cancel := q.nextTurn(t.Context(), "a")
		defer cancel()
		show := func(text string) {
			q.ifLive(turn, func() {
				turn.partiallySent = true
				q.hub.Caption(turn.caption(text, false))
			})
		}
		show("One")
		q.Pause("a")
		q.Pause("a")
		show("One two")
		if !q.paused("a") || q.paused("b") {
			t.Error("paused is the other one")
		}
		if sent := client.texts(); !slices.Equal(sent, []string{"One"}) {
			t.Errorf("during the pause %q", sent)
		}
		if drop {
			q.Drop("a")
			q.Drop("a") // takes nothing back twice
		}
		q.Resume("a")
		q.Resume("a")
		show("One two three")
		want := []string{"One two", "One two three"}
		if drop {
			want = []string{"."} // what clients had is taken back
		}
		if sent := client.texts(); !slices.Equal(sent, want) {
			t.Errorf("dropped %v: %q, want %q", drop, sent, want)
		}
	}
}
