package phone

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"plexus/domain/workbench"
	"plexus/usecases/syncx"
)

// state is the workbench as its person names it: with numbers in place of
// IDs.
type state struct {
	conversations aliases
	openTodos     aliases

	mu      sync.Mutex
	last    workbench.MobileSnapshot // zero before the first
	changed syncx.Notifier           // of last
}

// aliases gives an ID its number, from 1, when it first appears. A number is never
// given to another ID while the phone runs.
type aliases struct {
	mu  sync.Mutex
	ids []string
}

func (n *aliases) number(id string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.Index(n.ids, id)
	if i < 0 {
		i = len(n.ids)
		n.ids = append(n.ids, id)
	}
	return i + 1
}

// find takes a number, or an ID as it is.
func (n *aliases) find(word string) (id string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, err := strconv.Atoi(word); err == nil && 0 < i && i <= len(n.ids) {
		return n.ids[i-1], true
	}
	return word, slices.Contains(n.ids, word)
}

// put takes a snapshot and gives the one before it.
func (st *state) put(s workbench.MobileSnapshot) (before workbench.MobileSnapshot) {
	st.mu.Lock()
	defer st.mu.Unlock()
	before, st.last = st.last, s
	for _, c := range s.Conversations.Items {
		st.conversations.number(c.ID)
	}
	for _, t := range s.Life.Todos {
		if isOpen(t) {
			st.openTodos.number(t.ID)
		}
	}
	st.changed.Notify()
	return before
}

func isOpen(t workbench.TodoRow) bool { return t.Status != "done" && t.Status != "cancelled" }

func (st *state) snapshot() workbench.MobileSnapshot {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.last
}

// snapshotWithin is how long a command waits for a snapshot that shows it done.
const snapshotWithin = 15 * time.Second

// errNotShown: there has been no such snapshot.
var errNotShown = errors.New("the host has not shown it yet")

// isSnapshot tells a snapshot from the zero value, before there is any.
func isSnapshot(s workbench.MobileSnapshot) bool { return s.Type != "" }

// await gives the first snapshot that is good, the present one included. One that
// came before the time was up counts.
func (st *state) await(ctx context.Context, within time.Duration, good func(workbench.MobileSnapshot) bool) (workbench.MobileSnapshot, error) {
	waiting, stop := context.WithTimeoutCause(ctx, within, errNotShown)
	defer stop()
	for {
		over := waiting.Err() != nil
		changed := st.changed.Wait() // before the look at it, so that no change is missed
		s := st.snapshot()
		switch {
		case isSnapshot(s) && good(s):
			return s, nil
		case over:
			return workbench.MobileSnapshot{}, context.Cause(waiting)
		}
		select {
		case <-changed:
		case <-waiting.Done():
		}
	}
}
