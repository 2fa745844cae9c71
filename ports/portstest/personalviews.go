package portstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"plexus/domain/conversations"
	"plexus/ports"
)

func viewSeesOneState(t *testing.T, k *keeper) {
	k.put(t, "one", "other")
	k.say(t, "one", "a")
	k.update(t, func(tx ports.PersonalTx) error {
		_, err := tx.AddMessage(conversations.Message{ID: "b", ConversationID: "other", Role: conversations.User, Status: conversations.Pending})
		return errors.Join(err, tx.PutRecord("a", "r", []byte("old"), 0))
	})
	k.view(t, func(v ports.PersonalView) error {
		var before strings.Builder
		if err := dumpTo(&before, v); err != nil {
			return err
		}
		landed := make(chan struct{})
		go func() {
			defer close(landed)
			k.put(t, "one", "two")
			k.update(t, func(tx ports.PersonalTx) error {
				set := spoken("one", "a")
				set.Text = "changed"
				return errors.Join(tx.SetMessage(set), tx.PutRecord("a", "r", []byte("changed"), 0))
			})
			k.update(t, func(tx ports.PersonalTx) error {
				_, err := tx.InterruptPending()
				return err
			})
		}()
		<-landed
		var now strings.Builder
		if err := dumpTo(&now, v); err != nil || now.String() != before.String() {
			t.Errorf("a view that began with\n%ssees\n%s%v", &before, &now, err)
		}
		if n, err := v.CountConversations(""); n != 2 || err != nil {
			t.Errorf("a view sees %d conversations, %v; there were two when it began", n, err)
		}
		return nil
	})
}

func viewIsFresh(t *testing.T, k *keeper) {
	for i := range 50 {
		k.put(t, fmt.Sprint(i))
		k.view(t, func(v ports.PersonalView) error {
			if n, err := v.CountConversations(""); n != i+1 || err != nil {
				t.Errorf("after change %d a view sees %d conversations, %v", i+1, n, err)
			}
			return nil
		})
	}
}

// viewsSeeWholeChanges: each change keeps as many records in a as in b.
func viewsSeeWholeChanges(t *testing.T, k *keeper) {
	ctx, cancel := context.WithCancel(t.Context())
	var viewers, writers sync.WaitGroup
	for range 3 {
		viewers.Go(func() {
			for ctx.Err() == nil {
				k.view(t, func(v ports.PersonalView) error {
					a, errA := v.Records("a", 1000)
					b, errB := v.Records("b", 1000)
					if len(a) != len(b) {
						t.Errorf("a view sees %d records and %d", len(a), len(b))
					}
					return errors.Join(errA, errB)
				})
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for i := range 25 {
				k.update(t, func(tx ports.PersonalTx) error {
					id := fmt.Sprint(w, " ", i)
					return errors.Join(tx.PutRecord("a", id, nil, 40), tx.PutRecord("b", id, nil, 40))
				})
			}
		})
	}
	writers.Wait()
	cancel()
	viewers.Wait()
}

func viewErrors(t *testing.T, k *keeper) {
	err := k.View(t.Context(), func(ports.PersonalView) error { return errOops })
	if !errors.Is(err, errOops) || err.Error() != errOops.Error() {
		t.Errorf("view gave %v; want the error of the look as it is", err)
	}
	if err := k.View(endedContext(t), func(ports.PersonalView) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("view gave %v; want context.Canceled", err)
	}
}

func recordsInOrder(t *testing.T, k *keeper) {
	k.update(t, func(tx ports.PersonalTx) error {
		for _, id := range []string{"z", "y", "x"} {
			if err := tx.PutRecord("a", id, []byte(id), 0); err != nil {
				return err
			}
		}
		return errors.Join(tx.PutRecord("b", "z", []byte("another area"), 0), tx.PutRecord("a", "z", []byte("again"), 0))
	})
	k.recordsAre(t, "a", 10, "[{z again} {y y} {x x}]")
	k.recordsAre(t, "a", 2, "[{z again} {y y}]")
	k.recordsAre(t, "a", 0, "[]")
	k.recordsAre(t, "b", 10, "[{z another area}]")
	k.recordsAre(t, "c", 10, "[]")
	k.update(t, func(tx ports.PersonalTx) error {
		return errors.Join(tx.DropRecord("a", "z"), tx.DropRecord("a", "none"), tx.DropRecord("c", "z"), tx.PutRecord("a", "z", []byte("new"), 0))
	})
	k.recordsAre(t, "a", 10, "[{y y} {x x} {z new}]")
	k.update(t, func(tx ports.PersonalTx) error { // the youngest goes, and another one comes
		return errors.Join(tx.DropRecord("a", "z"), tx.PutRecord("a", "w", nil, 0))
	})
	k.recordsAre(t, "a", 10, "[{y y} {x x} {w }]")
}

func (k *keeper) recordsAre(t *testing.T, kind string, limit int, want string) {
	t.Helper()
	k.view(t, func(v ports.PersonalView) error {
		list, err := v.Records(kind, limit)
		if got := fmt.Sprintf("%s", list); got != want {
			t.Errorf("records of %s, at most %d, are %s; want %s", kind, limit, got, want)
		}
		return err
	})
}

func recordsKept(t *testing.T, k *keeper) {
	put := func(id string, keep int) {
		t.Helper()
		k.update(t, func(tx ports.PersonalTx) error { return tx.PutRecord("a", id, nil, keep) })
	}
	k.update(t, func(tx ports.PersonalTx) error { return tx.PutRecord("b", "old", nil, 0) })
	for i := range 5 {
		put(fmt.Sprint(i), 3)
	}
	k.recordsAre(t, "a", 10, "[{2 } {3 } {4 }]")
	put("2", 3) // replaced in its place
	k.recordsAre(t, "a", 10, "[{2 } {3 } {4 }]")
	put("5", 3)
	k.recordsAre(t, "a", 10, "[{3 } {4 } {5 }]")
	put("6", 0)
	put("7", 0)
	k.recordsAre(t, "a", 10, "[{3 } {4 } {5 } {6 } {7 }]")
	put("7", 2)
	k.recordsAre(t, "a", 10, "[{6 } {7 }]")
	k.recordsAre(t, "b", 10, "[{old }]")
}

func recordBodies(t *testing.T, k *keeper) {
	bodies := map[string][]byte{"nil": nil, "empty": {}, "zero": {0}, "binary": {0, 0xff, '\'', 0}}
	mine := []byte("mine")
	k.update(t, func(tx ports.PersonalTx) error {
		err := tx.PutRecord("a", "mine", mine, 0)
		for id, body := range bodies {
			err = errors.Join(err, tx.PutRecord("a", id, body, 0))
		}
		return err
	})
	copy(mine, "gone")
	bodies["mine"] = []byte("mine")
	for range 2 {
		k.view(t, func(v ports.PersonalView) error {
			for id, want := range bodies {
				body, err := v.Record("a", id)
				if string(body) != string(want) || err != nil {
					t.Errorf("body of %s is %q, %v; want %q", id, body, err, want)
				}
				clear(body) // what was given out is the caller's
			}
			return nil
		})
	}
	k.view(t, func(v ports.PersonalView) error {
		for _, key := range [][2]string{{"a", "none"}, {"b", "nil"}, {"", ""}} {
			if _, err := v.Record(key[0], key[1]); !errors.Is(err, ports.ErrRecordUnknown) {
				t.Errorf("record %q gave %v; want ErrRecordUnknown", key, err)
			}
		}
		return nil
	})
}
