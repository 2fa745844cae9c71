package novaclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// granted is a client.ready that grants the personal extension.
var granted = strings.Replace(ready, `"executor"`, `"executor","personal"`, 1)

// shown is a whole snapshot. title is that of its one conversation.
func shown(revision uint64, title string) string {
	return fmt.Sprintf(`{"type":"personal.state","revision":%d,"life":{"todos":[],"ideas":[],"goals":[],"profile":{"about":"","version":0}},`+
		`"conversations":{"selected_id":"chat:main","voice_id":null,"unread_count":0,"items":[{"id":"chat:main","kind":"chat","title":%q,`+
		`"subject_key":null,"created_at":"2026-01-02T03:04:05.000Z","updated_at":"2026-01-02T03:04:05.000Z","generation":0,"unread_count":0}],`+
		`"messages":[]},"memory":{},"capabilities":{},"news":{},"tasks":[],"feed":[],"pending_approvals":[],"pending_confirmations":[]}`, revision, title)
}

func marker(revision uint64) string {
	return fmt.Sprintf(`{"type":"personal.state","revision":%d,"reload_required":true}`, revision)
}

// hearCommand wants a personal command with this method next.
func (l *link) hearCommand(method string) heard {
	l.t.Helper()
	h := l.hear("personal.command")
	if got := text(h.payload["method"]); got != method {
		l.t.Errorf("the client asked for %q, want %q", got, method)
	}
	return h
}

// hearOpening takes what an app says first, and gives the state command.
func (l *link) hearOpening() heard {
	l.t.Helper()
	presentation := l.hearCommand("presentation.set")
	if got := string(presentation.payload["params"]); got != `{"mode":"workbench"}` {
		l.t.Errorf("the client is shown as %s", got)
	}
	return l.hearCommand("state")
}

// result answers a personal command; rest follows its ID.
func (l *link) result(h heard, rest string) {
	l.say(`{"type":"personal.result","request_id":"` + text(h.payload["request_id"]) + `",` + rest + `}`)
}

// onWorkbench runs f with a personal connection whose opening has been heard.
func onWorkbench(t *testing.T, f func(*testing.T, *host, *Conn, *link)) {
	t.Helper()
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.meet(Flutter, granted)
		l.hearOpening()
		f(t, h, c, l)
		finish(c, l)
	})
}

// expectShown wants the workbench to hold this snapshot.
func expectShown(t *testing.T, w *Workbench, revision uint64, title string) {
	t.Helper()
	synctest.Wait()
	s, ok := w.Snapshot()
	if !ok {
		t.Fatal("the workbench is empty")
	}
	if got := s.Conversations.Items[0].Title; s.Revision != revision || got != title {
		t.Errorf("the workbench shows %.50q of revision %d, want %q of %d", got, s.Revision, title, revision)
	}
}

func TestP86_AMarkerAsksForTheStateOnce(t *testing.T) {
	onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
		l.say(shown(1, "a"))
		l.say(marker(2))
		first := l.hearCommand("state")
		l.receipt(first, nova.Applied)
		l.result(first, `"ok":true,"reload_required":true`)
		l.say(marker(2))
		l.say(marker(3))
		l.silent("the answer was a marker too")
		expectShown(t, c.workbench, 1, "a")
		l.say(shown(4, "b"))
		l.say(marker(5))
		if again := l.hearCommand("state"); text(again.payload["request_id"]) == text(first.payload["request_id"]) {
			t.Error("it asked under the old ID")
		}
		expectShown(t, c.workbench, 4, "b")
	})
}

func TestP86_AWriteWithoutItsDataIsNotSentAgain(t *testing.T) {
	onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
		var got nova.PersonalResult
		written := do(func() (err error) {
			got, err = c.Personal(t.Context(), "conversations.create", map[string]string{"title": "x"})
			return err
		})
		create := l.hearCommand("conversations.create")
		l.receipt(create, nova.Applied)
		l.result(create, `"ok":true,"reload_required":true`)
		if err := <-written; err != nil || !got.ReloadRequired || got.Error != "" {
			t.Errorf("got %+v, %v", got, err)
		}
		state := l.hearCommand("state")
		l.receipt(state, nova.Applied)
		l.result(state, `"ok":true,"data":`+shown(3, "x"))
		l.silent("that is all")
		expectShown(t, c.workbench, 3, "x")
	})
}

func TestP87_OnlyAHigherRevisionIsTaken(t *testing.T) {
	onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
		for _, step := range []struct {
			said     string
			revision uint64
			title    string
		}{
			{shown(0, "the first may be 0"), 0, "the first may be 0"},
			{shown(5, "a"), 5, "a"},
			{shown(5, "equal"), 5, "a"},
			{shown(4, "lower"), 5, "a"},
			{marker(9), 5, "a"},
			{shown(8, "below the marker"), 8, "below the marker"},
			{`{"type":"personal.result","request_id":"nobody's","ok":true,"data":` + shown(9, "nested") + `}`, 9, "nested"},
			{shown(9, "equal to a nested one"), 9, "nested"},
		} {
			l.say(step.said)
			expectShown(t, c.workbench, step.revision, step.title)
		}
		l.hearCommand("state") // because of the marker
		h.seen.add(func() {
			if len(h.seen.snapshots) != 4 {
				t.Errorf("%d snapshots were announced, want 4", len(h.seen.snapshots))
			}
		})
		l.say(marker(9))
		l.silent("a marker of what is there already asks for nothing")
	})
}

func TestP87_AnotherInstanceBeginsAnew(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		ctx, stop := context.WithCancel(t.Context())
		c := New(h.options(Flutter))
		over := do(func() error { return c.Run(ctx) })
		for _, step := range []struct {
			instance, said string
			revision       uint64
			title          string
		}{
			{serverID, shown(7, "a"), 7, "a"},
			{serverID, shown(7, "again"), 7, "a"},
			{"0" + serverID[1:], marker(2), 7, "a"}, // the last full one stays
			{"0" + serverID[1:], marker(2), 7, "a"}, // and each connection asks once
			{"0" + serverID[1:], shown(2, "b"), 2, "b"},
			{serverID, shown(1, "c"), 1, "c"},
		} {
			l := h.greet(strings.Replace(granted, serverID, step.instance, 1))
			l.hearOpening()
			if step.said == marker(2) {
				l.say(step.said)
				l.hearCommand("state")
			} else {
				l.say(step.said)
			}
			expectShown(t, c.Workbench(), step.revision, step.title)
			timer := time.NewTimer(healthyAfter)
			<-timer.C
			l.close(1001)
			synctest.Wait()
			expectShown(t, c.Workbench(), step.revision, step.title)
		}
		stop()
		<-over
	})
}

func TestP88_AnUnansweredCommandIsGivenUpAndNotSentAgain(t *testing.T) {
	for name, receipt := range map[string]bool{"with a receipt": true, "without": false} {
		onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
			begun := time.Now()
			sent := do(func() error {
				_, err := c.Personal(t.Context(), "conversations.select", map[string]string{"id": "chat:main"})
				return err
			})
			command := l.hearCommand("conversations.select")
			if receipt {
				l.receipt(command, nova.Applied)
			}
			if err := <-sent; !errors.Is(err, ErrNoResult) || time.Since(begun) != 30*time.Second {
				t.Errorf("%s: after %v: %v", name, time.Since(begun), err)
			}
			l.result(command, `"ok":true,"data":`+shown(1, "late")) // nobody waits, and yet it is seen
			l.silent("it is not sent again")
			expectShown(t, c.workbench, 1, "late")
		})
	}
}

func TestP88_NorOnTheNextConnection(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		ctx, stop := context.WithCancel(t.Context())
		c := New(h.options(Flutter))
		over := do(func() error { return c.Run(ctx) })
		l := h.greet(granted)
		l.hearOpening()
		conn, err := c.Conn()
		if err != nil {
			t.Fatal(err)
		}
		sent := do(func() error {
			_, err := conn.Personal(ctx, "conversations.create", nil)
			return err
		})
		l.hearCommand("conversations.create")
		l.close(1001)
		var end *End
		if err := <-sent; !errors.As(err, &end) || end.Code != 1001 {
			t.Errorf("got %v", err)
		}
		l = h.greet(granted)
		l.hearOpening()
		l.silent("nothing of the old connection")
		stop()
		l.next()
		<-over
	})
}

func TestPersonal_ResultsFindTheirCommands(t *testing.T) {
	onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
		type answer struct {
			nova.PersonalResult
			err error
		}
		ask := func(method string) chan answer {
			got := make(chan answer, 1)
			go func() {
				r, err := c.Personal(t.Context(), method, struct{}{})
				got <- answer{r, err}
			}()
			return got
		}
		first := ask("tasks.list")
		one := l.hearCommand("tasks.list")
		second := ask("memory.list")
		two := l.hearCommand("memory.list")
		third := ask("context.adopt")
		three := l.hearCommand("context.adopt")
		if inner := text(one.payload["request_id"]); inner == one.id || inner == text(two.payload["request_id"]) || len(inner) != 36 {
			t.Errorf("a command is called %q in %q", inner, one.id)
		}
		l.result(two, `"ok":false,"error":"unsupported"`) // before its receipt, and before the first
		l.receipt(two, nova.Applied)
		l.receipt(one, nova.Applied)
		l.result(one, `"ok":true,"data":[]`)
		l.receipt(three, nova.Rejected)
		if got := <-first; got.err != nil || got.Error != "" || string(got.Data) != "[]" {
			t.Errorf("the first got %+v", got)
		}
		if got := <-second; got.err != nil || got.Error != "unsupported" {
			t.Errorf("the second got %+v", got)
		}
		if got := <-third; !errors.Is(got.err, ErrNotApplied) {
			t.Errorf("the third got %+v", got)
		}
	})
}

func TestPersonal_AtMostThirtyTwoWait(t *testing.T) {
	onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
		ctx, stop := context.WithCancel(t.Context())
		var sent []<-chan error
		for range maxPersonal {
			sent = append(sent, do(func() error {
				_, err := c.Personal(ctx, "tasks.list", nil)
				return err
			}))
			l.hearCommand("tasks.list")
		}
		if _, err := c.Personal(ctx, "tasks.list", nil); !errors.Is(err, ErrTooMany) {
			t.Errorf("one more gave %v", err)
		}
		l.silent("and was not sent")
		stop()
		for _, one := range sent {
			if err := <-one; !errors.Is(err, context.Canceled) {
				t.Errorf("when nobody waits any more: %v", err)
			}
		}
		after := do(func() error {
			_, err := c.Personal(t.Context(), "tasks.list", nil)
			return err
		})
		last := l.hearCommand("tasks.list")
		l.receipt(last, nova.Applied)
		l.result(last, `"ok":true`)
		if err := <-after; err != nil {
			t.Errorf("then there is room: %v", err)
		}
	})
}

func TestPersonal_NeedsToBeGranted(t *testing.T) {
	for p, said := range map[Profile]string{IOS: granted, Flutter: ready} {
		inFakeTime(t, func(t *testing.T, h *host) {
			c, l := h.meet(p, said)
			if _, err := c.Personal(t.Context(), "state", nil); !errors.Is(err, ErrNotPersonal) {
				t.Errorf("profile %d: %v", p, err)
			}
			l.say(shown(1, "not asked for"))
			l.silent("nothing was sent")
			if _, ok := c.workbench.Snapshot(); ok {
				t.Errorf("profile %d: it shows a snapshot", p)
			}
			finish(c, l)
		})
	}
}

func TestWorkbench_ASnapshotThatCannotBeUsed(t *testing.T) {
	without := func(member string) string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(shown(2, "b")), &m); err != nil {
			t.Fatal(err)
		}
		delete(m, member)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	bad := []string{
		strings.Replace(shown(2, "b"), `"tasks":[]`, `"tasks":null`, 1),
		`{"type":"personal.result","request_id":"r","ok":true,"data":` + without("life") + `}`,
		`{"type":"personal.result","request_id":"r","ok":true,"data":` + without("revision") + `}`,
		`{"type":"personal.result","request_id":"r"}`,
	}
	for _, member := range []string{
		"revision", "life", "conversations", "memory", "capabilities", "news", "tasks", "feed", "pending_approvals", "pending_confirmations",
	} {
		bad = append(bad, without(member))
	}
	for _, said := range bad {
		inFakeTime(t, func(t *testing.T, h *host) {
			c, l := h.meet(Flutter, granted)
			l.hearOpening()
			l.say(shown(1, "a"))
			l.say(said)
			expectFault(t, said, c)
			expectShown(t, c.workbench, 1, "a")
			_ = l.ws.CloseNow()
		})
	}
}

func TestWorkbench_IsAnnounced(t *testing.T) {
	onWorkbench(t, func(t *testing.T, h *host, c *Conn, l *link) {
		l.say(shown(1, "a"))
		synctest.Wait()
		h.seen.add(func() {
			if len(h.seen.snapshots) != 1 || h.seen.snapshots[0].Revision != 1 {
				t.Errorf("announced were %+v", h.seen.snapshots)
			}
		})
	})
	var none Events
	notify(none.Snapshot, workbench.MobileSnapshot{}) // nobody listens
}
