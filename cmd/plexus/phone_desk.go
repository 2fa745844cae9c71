package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"plexus/domain/workbench"
)

// phoneDesk is the workbench as its person names it: with numbers in place of
// IDs.
type phoneDesk struct {
	mu       sync.Mutex
	last     workbench.MobileSnapshot
	any      bool
	changed  chan struct{} // closed by the next snapshot
	threads  numbering
	openTodo numbering
}

func newPhoneDesk() *phoneDesk { return &phoneDesk{changed: make(chan struct{})} }

// numbering gives an ID its number, from 1, when it first appears. The number
// never means anything else while the phone runs.
type numbering struct{ ids []string }

func (n *numbering) number(id string) int {
	i := slices.Index(n.ids, id)
	if i < 0 {
		i = len(n.ids)
		n.ids = append(n.ids, id)
	}
	return i + 1
}

// find takes a number, or an ID as it is.
func (n *numbering) find(word string) (id string, ok bool) {
	if i, err := strconv.Atoi(word); err == nil && 0 < i && i <= len(n.ids) {
		return n.ids[i-1], true
	}
	return word, slices.Contains(n.ids, word)
}

// put takes a snapshot and gives the one before it.
func (d *phoneDesk) put(s workbench.MobileSnapshot) (before workbench.MobileSnapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.last, d.any = d.last, s, true
	for _, c := range s.Conversations.Items {
		d.threads.number(c.ID)
	}
	for _, t := range s.Life.Todos {
		if isOpen(t) {
			d.openTodo.number(t.ID)
		}
	}
	close(d.changed)
	d.changed = make(chan struct{})
	return before
}

func isOpen(t workbench.ShownTodo) bool { return t.Status != "done" && t.Status != "cancelled" }

func (d *phoneDesk) snapshot() workbench.MobileSnapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

func (d *phoneDesk) number(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.threads.number(id)
}

func (d *phoneDesk) todoNumber(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.openTodo.number(id)
}

func (d *phoneDesk) findThread(word string) (id string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.threads.find(word)
}

func (d *phoneDesk) findTodo(word string) (id string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.openTodo.find(word)
}

// snapshotWithin is how long a command waits for a snapshot that shows it done.
const snapshotWithin = 15 * time.Second

// errNotShown: there has been no such snapshot.
var errNotShown = errors.New("the host has not shown it yet")

func anySnapshot(workbench.MobileSnapshot) bool { return true }

// await gives the first snapshot that is good, the present one included.
func (d *phoneDesk) await(ctx context.Context, within time.Duration, good func(workbench.MobileSnapshot) bool) (workbench.MobileSnapshot, error) {
	waiting, stop := context.WithTimeoutCause(ctx, within, errNotShown)
	defer stop()
	for {
		d.mu.Lock()
		s, there, changed := d.last, d.any, d.changed
		d.mu.Unlock()
		if there && good(s) {
			return s, nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return workbench.MobileSnapshot{}, context.Cause(waiting)
		}
	}
}
