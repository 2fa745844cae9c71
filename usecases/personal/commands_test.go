package personal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/feed"
	"plexus/usecases/personal/hub"
)

func TestP1_TheSameCommandTwiceAppliesOnce(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		first := phone.ask("r", "conversations.create", `{"title":"Once"}`)
		again := phone.ask("r", "conversations.create", `{ "title" : "Once" }`)
		if first.Error != "" || len(first.Data) == 0 || again.Error != "" || !again.ReloadRequired || again.Data != nil {
			s.Errorf("first %+v, then %+v", first, again)
		}
		if n := s.chats("Once"); n != 1 {
			s.Errorf("%d chats were made", n)
		}
		// A failed one stays failed, also when it could succeed by now.
		phone.refuse("f", "conversations.select", `{"id":"chat:unknown"}`, workbench.ConversationNotFound)
		phone.refuse("f", "conversations.select", `{"id":"chat:unknown"}`, workbench.ConversationNotFound)
		// The page and phones have one space of names.
		s.desktop().refuse("r", "conversations.create", `{"title":"Other"}`, workbench.RequestIDConflict)
	})
}

func TestP2_TheSameCommandAtTheSameTimeAppliesOnce(t *testing.T) {
	staged(t, func(s *stage) {
		a, b := s.phone(), s.phone()
		free := s.stall()
		a.sendOff("r", "conversations.create", `{"title":"Once"}`)
		b.sendOff("r", "conversations.create", `{"title":"Once"}`)
		free()
		got1, got2 := got[nova.PersonalResult](a), got[nova.PersonalResult](b)
		if len(got1) != 1 || len(got2) != 1 || got1[0].Error+got2[0].Error != "" || got1[0].ReloadRequired || !got2[0].ReloadRequired {
			s.Errorf("results %+v and %+v", got1, got2)
		}
		if n := s.chats("Once"); n != 1 {
			s.Errorf("%d chats were made", n)
		}
	})
}

func TestP3_TheLedgerHoldsNoBody(t *testing.T) {
	staged(t, func(s *stage) {
		const secret = "buy-a-ring"
		phone := s.phone()
		for i, c := range []struct{ method, params string }{
			{"life.mutate", `{"op":"create","kind":"todo","title":"` + secret + `","note":"` + secret + `"}`},
			{"life.mutate", `{"op":"profile","about":"` + secret + `","expected_version":0}`},
			{"memory.correct", `{"id":"m","expected_version":1,"content":"` + secret + `"}`},
			{"conversations.create", `{"title":"` + secret + `"}`},
			{"state", `{}`},
			{"conversations.select", `{"id":"` + secret + `"}`},
		} {
			id := fmt.Sprint("r", i)
			first := phone.ask(id, c.method, c.params)
			again := phone.ask(id, c.method, c.params)
			if again.Error != first.Error || again.Data != nil || again.ReloadRequired != (first.Data != nil) {
				s.Errorf("%s: %+v, then %+v", c.method, first, again)
			}
		}
		records := s.records("receipt")
		if len(records) != 6 {
			s.Errorf("%d receipts, want 6", len(records))
		}
		for _, r := range append(records, s.records("life_result")...) {
			if bytes.Contains(r.Body, []byte(secret)) {
				s.Errorf("the receipt of %s holds what was said: %s", r.ID, r.Body)
			}
		}
	})
}

func TestP5_AnotherPayloadUnderAKnownIDConflicts(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.done("r", "conversations.create", `{"title":"First"}`)
		for range 2 {
			phone.refuse("r", "conversations.create", `{"title":"Second"}`, workbench.RequestIDConflict)
			phone.refuse("r", "state", `{}`, workbench.RequestIDConflict)
		}
		if r := phone.ask("r", "conversations.create", `{"title":"First"}`); r.Error != "" || !r.ReloadRequired {
			s.Errorf("the first receipt has become %+v", r)
		}
		if n := s.chats("Second"); n != 0 {
			s.Error("a conflicting command was carried out")
		}
	})
}

func TestP6_ReceiptsOutliveTheHost(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.done("r", "conversations.create", `{"title":"Once"}`)
		phone.refuse("f", "conversations.select", `{"id":"chat:unknown"}`, workbench.ConversationNotFound)
		s.restart()
		phone = s.phone()
		if r := phone.ask("r", "conversations.create", `{"title":"Once"}`); r.Error != "" || !r.ReloadRequired {
			s.Errorf("after a restart: %+v", r)
		}
		phone.refuse("r", "conversations.create", `{"title":"Other"}`, workbench.RequestIDConflict)
		phone.refuse("f", "conversations.select", `{"id":"chat:unknown"}`, workbench.ConversationNotFound)
		if n := s.chats("Once"); n != 1 {
			s.Errorf("%d chats were made", n)
		}
	})
}

func TestTheLedgerForgetsTheOldest(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.done("first", "life.mutate", todo)
		for i := range hub.MaxReceipts {
			phone.done(fmt.Sprint("r", i), "state", `{}`)
		}
		if n := len(s.records("receipt")); n != hub.MaxReceipts {
			s.Errorf("%d receipts are kept", n)
		}
		// What must not happen twice has a memory of its own.
		again := phone.done("first", "life.mutate", todo)
		if items, _, err := s.Lists(s.Context()); err != nil || len(items) != 1 || !strings.Contains(string(again), items[0].ID) {
			s.Errorf("items %+v, %v; the repetition gave %s", items, err, again)
		}
		phone.done("other", "state", `{}`)
		phone.done("r0", "state", `{}`) // long gone: it is new
	})
}

func TestWhatIsRememberedBesideTheLedgerIsBounded(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for i := range 257 {
			phone.done(fmt.Sprint("l", i), "life.mutate", `{"op":"create","kind":"idea","title":"Think"}`)
			phone.done(fmt.Sprint("p", i), "presentation.set", `{"mode":"orb"}`)
		}
		for _, area := range []string{"life_result", "handback"} {
			if list := s.records(area); len(list) != 256 || strings.HasSuffix(list[0].ID, "0") {
				s.Errorf("%d records of %s, the first is %s", len(list), area, list[0].ID)
			}
		}
	})
}

func TestP7_TheNinthThatWaitsIsUnavailable(t *testing.T) {
	staged(t, func(s *stage) {
		free := s.stall()
		clients := make([]*client, 1+hub.MaxWaiting)
		for i := range clients {
			clients[i] = s.phone()
			clients[i].sendOff(fmt.Sprint("r", i), "conversations.create", fmt.Sprintf(`{"title":"Number %d"}`, i))
		}
		late := s.phone()
		late.refuse("late", "conversations.create", `{"title":"Late"}`, workbench.Unavailable)
		if _, err := s.CreateChat(s.Context(), "Late"); !errors.Is(err, workbench.Unavailable) {
			s.Errorf("the page: %v", err)
		}
		free()
		order := -1
		for i, c := range clients {
			if r := got[nova.PersonalResult](c); len(r) != 1 || r[0].Error != "" {
				s.Errorf("command %d: %+v", i, r)
			}
		}
		list, _, err := s.Conversations(s.Context(), 0, 100)
		if err != nil {
			s.Fatal(err)
		}
		for _, c := range list { // newest first, and all at the same moment: the last put is the newest
			var n int
			if _, err := fmt.Sscanf(c.Title, "Number %d", &n); err == nil {
				if order >= 0 && n != order-1 {
					s.Errorf("chat %d was made before chat %d", order, n)
				}
				order = n
			}
		}
		// It was not recorded: the same id may be tried again.
		late.done("late", "conversations.create", `{"title":"Late"}`)
		s.Stop()
		late.refuse("closed", "conversations.create", `{"title":"Closed"}`, workbench.Unavailable)
		if _, err := s.CreateChat(s.Context(), "Closed"); !errors.Is(err, workbench.Unavailable) {
			s.Errorf("the page after the end: %v", err)
		}
	})
}

func TestP8_WhatWasAdmittedIsStoredBeforeTheHostHasStopped(t *testing.T) {
	staged(t, func(s *stage) {
		free := s.stall()
		clients := make([]*client, 4)
		for i := range clients {
			clients[i] = s.phone()
			clients[i].sendOff(fmt.Sprint("r", i), "conversations.create", fmt.Sprintf(`{"title":"Number %d"}`, i))
		}
		stopped := make(chan int, 1)
		go func() {
			s.Stop()
			stopped <- len(s.records("receipt"))
		}()
		synctest.Wait()
		late := s.phone()
		late.refuse("late", "state", `{}`, workbench.Unavailable)
		select {
		case <-stopped:
			s.Fatal("the host has stopped while commands were waiting")
		default:
		}
		free()
		if n := <-stopped; n != len(clients) {
			s.Errorf("%d receipts are stored, want %d", n, len(clients))
		}
		for i, c := range clients {
			if r := got[nova.PersonalResult](c); len(r) != 1 || r[0].Error != "" {
				s.Errorf("command %d: %+v", i, r)
			}
		}
	})
}

func TestP10_ThereIsNobodyToActOnASuggestion(t *testing.T) {
	staged(t, func(s *stage) {
		s.putFeed("f1", nil)
		phone := s.phone()
		phone.refuse("a", "feed.action", `{"id":"f1","action":"act"}`, workbench.Unsupported)
		phone.refuse("b", "feed.action", `{"id":"unknown","action":"act"}`, workbench.NotFound)
		if seen := phone.done("c", "feed.action", `{"id":"f1","action":"open"}`); !bytes.Contains(seen, []byte(`"user_state":"seen"`)) {
			s.Errorf("opened: %s", seen)
		}
		phone.done("d", "feed.action", `{"id":"f1","action":"dismiss"}`)
		phone.refuse("e", "feed.action", `{"id":"f1","action":"act"}`, workbench.Stale)
		if shown := phone.see().Feed; len(shown) != 1 || shown[0].UserState != "dismissed" || shown[0].Lifecycle != "active" {
			s.Errorf("feed %+v", shown)
		}
	})
}

func TestP53_AFeedItemIsOpenedOnce(t *testing.T) {
	staged(t, func(s *stage) {
		s.putFeed("f1", nil)
		phone := s.phone()
		phone.done("a", "conversations.open_feed", `{"feed_id":"f1","label":"Tell me"}`)
		topic := phone.see().Conversations.SelectedID
		if r := phone.ask("a", "conversations.open_feed", `{"feed_id":"f1","label":"Tell me"}`); r.Error != "" || !r.ReloadRequired {
			s.Errorf("again: %+v", r)
		}
		phone.done("b", "conversations.open_feed", `{"feed_id":"f1","label":"Tell me"}`) // another request, the same topic
		if again := phone.see().Conversations.SelectedID; again != topic {
			s.Errorf("opened %s, then %s", topic, again)
		}
		if all := s.messages(topic); len(all) != 2 || all[0].Text != "Tell me" {
			s.Errorf("stored %+v", all)
		}
		phone.refuse("c", "conversations.open_feed", `{"feed_id":"unknown"}`, workbench.FeedNotFound)
	})
}

func TestWhatIsLateIsInvalidatedInOneStep(t *testing.T) {
	staged(t, func(s *stage) {
		until := time.Now().Add(time.Hour)
		s.putFeed("late1", &until)
		s.putFeed("late2", &until)
		s.putFeed("lasting", nil)
		phone := s.phone()
		before := phone.see().Revision
		time.Sleep(time.Hour)
		r := phone.ask("s", "state", `{}`)
		snapshot, err := workbench.DecodeSnapshot(r.Data)
		if err != nil {
			s.Fatal(err)
		}
		lives := map[string]string{}
		for _, f := range snapshot.Feed {
			lives[f.ID] = f.Lifecycle
		}
		if want := "map[lasting:active late1:invalidated late2:invalidated]"; fmt.Sprint(lives) != want {
			s.Errorf("feed %v, want %s", lives, want)
		}
		if snapshot.Revision != before+1 {
			s.Errorf("revision %d after %d", snapshot.Revision, before)
		}
		// A refusal does not undo it.
		again := time.Now().Add(time.Hour)
		s.putFeed("late3", &again)
		time.Sleep(time.Hour)
		phone.refuse("x", "feed.action", `{"id":"late3","action":"act"}`, workbench.Stale)
		if shown := phone.see().Feed[0]; shown.ID != "late3" || shown.Lifecycle != "invalidated" {
			s.Errorf("feed begins with %+v", shown)
		}
	})
}

func TestTheResultComesBeforeTheChange(t *testing.T) {
	staged(t, func(s *stage) {
		s.putFeed("f1", nil)
		mine, other := &journal{}, &journal{}
		phone := s.Attach(mine, hub.Terms{Personal: true})
		s.Attach(other, hub.Terms{Personal: true})
		for _, c := range []struct {
			method, params string
			mine, other    string // what they are told
		}{
			{"conversations.create", `{"title":"A"}`, "result changed", "changed"},
			{"conversations.select", `{"id":"unknown"}`, "result changed", "changed"}, // its receipt was stored
			{"presentation.set", `{"mode":"orb"}`, "result changed", "changed changed changed"},
			{"feed.action", `{"id":"f1","action":"nonsense"}`, "result changed", "changed"},
			{"state", `{}`, "result", "changed"}, // the state is in the result
			{"tasks.list", `{}`, "result", ""},
			{"tasks.get", `{"task_id":"unknown"}`, "result", ""},
		} {
			if err := phone.Deliver(s.Context(), command(c.method, c.method, c.params)); err != nil {
				s.Fatal(err)
			}
			synctest.Wait()
			if m, o := mine.take(), other.take(); m != c.mine || o != c.other {
				s.Errorf("%s: told %q and the other %q, want %q and %q", c.method, m, o, c.mine, c.other)
			}
		}
		// A repetition changes nothing, and still says where the state is.
		if err := phone.Deliver(s.Context(), command("state", "state", `{}`)); err != nil {
			s.Fatal(err)
		}
		if m, o := mine.take(), other.take(); m != "result changed" || o != "" {
			s.Errorf("a repetition: told %q and the other %q", m, o)
		}
		// A text, and what others do, is announced as before.
		if err := s.Clear(s.Context(), conversations.MainID); err != nil {
			s.Fatal(err)
		}
		if m := mine.take(); m != "changed" {
			s.Errorf("the page's doing: told %q", m)
		}
	})
}

func TestP69_N79_AStateResultCarriesTheSnapshot(t *testing.T) {
	staged(t, func(s *stage) {
		phone, page := s.phone(), s.desktop()
		for _, c := range []*client{phone, page} {
			r := c.ask(fmt.Sprintf("s%p", c), "state", `{"anything":1}`)
			var head struct {
				Type     string `json:"type"`
				Revision uint64 `json:"revision"`
			}
			if err := json.Unmarshal(r.Data, &head); err != nil || head.Type != "personal.state" || head.Revision != r.Revision || r.Revision == 0 {
				s.Errorf("result of revision %d holds %+v, %v", r.Revision, head, err)
			}
			if hidden := !bytes.Contains(r.Data, []byte(`"settings"`)); hidden != (c == phone) {
				s.Errorf("settings hidden: %v", hidden)
			}
		}
		r := phone.ask(fmt.Sprintf("s%p", phone), "state", `{"anything":1}`)
		if r.Error != "" || !r.ReloadRequired || r.Data != nil || r.Revision != 0 {
			s.Errorf("a repetition: %+v", r)
		}
	})
}

const todo = `{"op":"create","kind":"todo","title":"Buy milk"}`

// chats counts the chats of a title.
func (s *stage) chats(title string) (n int) {
	s.Helper()
	list, _, err := s.Conversations(s.Context(), 0, 1000)
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range list {
		if c.Title == title {
			n++
		}
	}
	return n
}

// records reads an area of the store.
func (s *stage) records(area string) (list []ports.Record) {
	err := s.store.View(s.Context(), func(tx ports.PersonalView) (err error) {
		list, err = tx.Records(area, 10_000)
		return err
	})
	if err != nil {
		s.Error(err)
	}
	return list
}

// putRaw stores a record as nobody would.
func (s *stage) putRaw(area, id, body string) {
	s.Helper()
	if err := s.store.Update(s.Context(), func(tx ports.PersonalTx) error { return tx.PutRecord(area, id, []byte(body), 0) }); err != nil {
		s.Fatal(err)
	}
}

// putFeed stores an active suggestion.
func (s *stage) putFeed(id string, until *time.Time) {
	s.Helper()
	s.put("feed", id, feed.Item{
		ID: id, Kind: "question", Title: "Shall we?", WhyNow: "It is time", SubjectKey: "memory:" + id, UserState: "new",
		Lifecycle: "active", CreatedAt: time.Now(), UpdatedAt: time.Now(), ExpiresAt: until, Source: feed.Source{Type: "memory", Ref: "m"},
	})
}

// stall keeps the store from committing until free is called.
func (s *stage) stall() (free func()) {
	gate := make(chan struct{})
	s.store.BeforeCommit(func() error {
		<-gate
		return nil
	})
	return sync.OnceFunc(func() {
		close(gate)
		synctest.Wait()
	})
}

// sendOff delivers a command without waiting for its result.
func (c *client) sendOff(id, method, params string) {
	go func() {
		if err := c.Deliver(c.Context(), command(id, method, params)); err != nil {
			c.Errorf("%s: %v", method, err)
		}
	}()
	synctest.Wait()
}

// journal is a link that notes in which order it is told what.
type journal struct {
	mu   sync.Mutex
	told []string
}

func (j *journal) Send(nova.Message) { j.note("result") }
func (j *journal) Changed(uint64)    { j.note("changed") }

func (j *journal) note(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told = append(j.told, what)
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	told := strings.Join(j.told, " ")
	j.told = nil
	return told
}

var _ ports.PersonalLink = (*journal)(nil)
