package portstest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"plexus/domain/admission"
	"plexus/ports"
)

// visitTime is when the rows of the suites begin.
func visitTime() time.Time { return time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC) }

// ExtensionRegistry runs the contract of ports.ExtensionRegistry. build gives
// an empty registry and cleans up by t.Cleanup.
func ExtensionRegistry(t *testing.T, build func(t *testing.T) ports.ExtensionRegistry) {
	t.Helper()
	t.Run("insert and find", func(t *testing.T) { insertAndFind(t, build(t)) })
	t.Run("update", func(t *testing.T) { updateRow(t, build(t)) })
	t.Run("visit does not undo a decision", func(t *testing.T) { visitAfterDecision(t, build(t)) })
	t.Run("list by ID", func(t *testing.T) { listByID(t, build(t)) })
	t.Run("forget", func(t *testing.T) { forget(t, build(t)) })
	t.Run("waiting rows of one origin", func(t *testing.T) { waitingPerOrigin(t, build(t)) })
	t.Run("waiting rows of all", func(t *testing.T) { waitingOfAll(t, build(t)) })
	t.Run("decided rows do not count", func(t *testing.T) { decidedDoNotCount(t, build(t)) })
	t.Run("concurrent visits", func(t *testing.T) { concurrentVisits(t, build(t)) })
}

func origin(n int) string { return fmt.Sprintf("chrome-extension://extension-%02d", n) }

func visit(from string, key string, minute int) admission.Extension {
	at := visitTime().Add(time.Duration(minute) * time.Minute)
	e := admission.Extension{Origin: from, State: admission.Waiting, FirstSeen: at, LastSeen: at}
	if key != "" {
		e.Key = admission.HashKey(key)
	}
	return e
}

func save(t *testing.T, r ports.ExtensionRegistry, e admission.Extension) admission.Extension {
	t.Helper()
	saved, err := r.SaveExtension(t.Context(), e)
	if err != nil {
		t.Fatalf("save: %v", err)
	}
	return saved
}

func list(t *testing.T, r ports.ExtensionRegistry) []admission.Extension {
	t.Helper()
	rows, err := r.Extensions(t.Context())
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return rows
}

// checkRow compares times as instants: a store may give another location back.
func checkRow(t *testing.T, got, want admission.Extension) {
	t.Helper()
	if !got.FirstSeen.Equal(want.FirstSeen) || !got.LastSeen.Equal(want.LastSeen) {
		t.Errorf("seen %v to %v; want %v to %v", got.FirstSeen, got.LastSeen, want.FirstSeen, want.LastSeen)
	}
	got.FirstSeen, got.LastSeen = want.FirstSeen, want.LastSeen
	if got != want {
		t.Errorf("row is %+v; want %+v", got, want)
	}
}

func insertAndFind(t *testing.T, r ports.ExtensionRegistry) {
	if rows := list(t, r); len(rows) != 0 {
		t.Fatalf("an empty registry lists %d rows", len(rows))
	}
	for _, e := range []admission.Extension{
		visit(origin(1), "a", 0),
		visit(origin(1), "b", 1),
		{Origin: origin(1), State: admission.ByToken, FirstSeen: visitTime(), LastSeen: visitTime()},
	} {
		saved := save(t, r, e)
		if saved.ID == 0 {
			t.Fatal("an inserted row has no ID")
		}
		e.ID = saved.ID
		checkRow(t, saved, e)
		found, err := r.FindExtension(t.Context(), e.Origin, e.Key)
		if err != nil {
			t.Fatalf("find: %v", err)
		}
		checkRow(t, found, e)
	}
	_, err := r.FindExtension(t.Context(), origin(2), admission.HashKey("a"))
	if !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("another origin with the same key: %v; want ErrExtensionUnknown", err)
	}
}

func updateRow(t *testing.T, r ports.ExtensionRegistry) {
	row := save(t, r, visit(origin(1), "a", 0))
	for _, state := range []admission.State{admission.Allowed, admission.Blocked, admission.Allowed} {
		row.State = state
		row.LastSeen = row.LastSeen.Add(time.Hour)
		changed := row
		changed.FirstSeen = time.Time{} // is not stored again
		checkRow(t, save(t, r, changed), row)
	}
	if rows := list(t, r); len(rows) != 1 {
		t.Errorf("%d rows after updates of one", len(rows))
	}
	gone := row
	gone.ID += 1000
	if _, err := r.SaveExtension(t.Context(), gone); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("update of an unknown ID: %v; want ErrExtensionUnknown", err)
	}
}

func visitAfterDecision(t *testing.T, r ports.ExtensionRegistry) {
	first := save(t, r, visit(origin(1), "a", 0))
	decided := first
	decided.State = admission.Allowed
	save(t, r, decided)
	stale := first
	stale.LastSeen = visitTime().Add(time.Minute)
	want := decided
	want.LastSeen = stale.LastSeen
	checkRow(t, save(t, r, stale), want)
	unread := visit(origin(1), "a", 2)
	want.LastSeen = unread.LastSeen
	checkRow(t, save(t, r, unread), want)
	byToken := save(t, r, admission.Extension{Origin: origin(2), State: admission.ByToken, FirstSeen: visitTime(), LastSeen: visitTime()})
	twin := byToken
	twin.ID = 0
	byToken.State = admission.Blocked
	save(t, r, byToken)
	checkRow(t, save(t, r, twin), byToken) // of two first visits at once the second comes late
}

func listByID(t *testing.T, r ports.ExtensionRegistry) {
	for n := range 5 {
		save(t, r, visit(origin(5-n), "a", n))
	}
	rows := list(t, r)
	if len(rows) != 5 {
		t.Fatalf("%d rows; want 5", len(rows))
	}
	for i := 1; i < len(rows); i++ {
		if rows[i].ID <= rows[i-1].ID {
			t.Errorf("row %d has ID %d after %d", i, rows[i].ID, rows[i-1].ID)
		}
	}
}

func forget(t *testing.T, r ports.ExtensionRegistry) {
	row := save(t, r, visit(origin(1), "a", 0))
	if err := r.ForgetExtension(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.ForgetExtension(t.Context(), row.ID); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("second time: %v; want ErrExtensionUnknown", err)
	}
	if _, err := r.FindExtension(t.Context(), row.Origin, row.Key); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("find: %v; want ErrExtensionUnknown", err)
	}
	if again := save(t, r, visit(origin(1), "a", 1)); again.ID == row.ID {
		t.Error("a forgotten ID came back for another row")
	}
}

func waitingPerOrigin(t *testing.T, r ports.ExtensionRegistry) {
	save(t, r, visit(origin(2), "elsewhere", 0)) // the oldest of all, of another origin
	oldest := save(t, r, visit(origin(1), "k1", 1))
	second := save(t, r, visit(origin(1), "k2", 2))
	save(t, r, visit(origin(1), "k3", 3))
	oldest.LastSeen = visitTime().Add(4 * time.Minute) // it visits again: k2 is now the oldest
	save(t, r, oldest)
	save(t, r, visit(origin(1), "k4", 5))
	if rows := list(t, r); len(rows) != 1+admission.MaxWaitingPerOrigin {
		t.Errorf("%d rows; want %d", len(rows), 1+admission.MaxWaitingPerOrigin)
	}
	if _, err := r.FindExtension(t.Context(), origin(1), second.Key); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("the row seen longest ago is still there (%v)", err)
	}
}

func waitingOfAll(t *testing.T, r ports.ExtensionRegistry) {
	for n := range admission.MaxWaiting {
		save(t, r, visit(origin(n), "a", n))
	}
	save(t, r, visit(origin(admission.MaxWaiting), "a", admission.MaxWaiting))
	if rows := list(t, r); len(rows) != admission.MaxWaiting {
		t.Errorf("%d rows; want %d", len(rows), admission.MaxWaiting)
	}
	if _, err := r.FindExtension(t.Context(), origin(0), admission.HashKey("a")); !errors.Is(err, ports.ErrExtensionUnknown) {
		t.Errorf("the row seen longest ago is still there (%v)", err)
	}
}

func decidedDoNotCount(t *testing.T, r ports.ExtensionRegistry) {
	for n, state := range []admission.State{admission.Allowed, admission.Blocked, admission.Allowed, admission.Blocked} {
		e := visit(origin(1), fmt.Sprint("decided", n), n)
		e.State = state
		save(t, r, e)
	}
	for n := range admission.MaxWaitingPerOrigin {
		save(t, r, visit(origin(1), fmt.Sprint("waiting", n), 10+n))
	}
	if rows := list(t, r); len(rows) != 4+admission.MaxWaitingPerOrigin {
		t.Errorf("%d rows; want %d", len(rows), 4+admission.MaxWaitingPerOrigin)
	}
}

func concurrentVisits(t *testing.T, r ports.ExtensionRegistry) {
	var visits sync.WaitGroup
	for n := range 16 {
		visits.Go(func() {
			if _, err := r.SaveExtension(t.Context(), visit(origin(n%2), fmt.Sprint("k", n%8), n)); err != nil {
				t.Errorf("save: %v", err)
			}
		})
	}
	visits.Wait()
	if rows := list(t, r); len(rows) != 2*admission.MaxWaitingPerOrigin {
		t.Errorf("%d rows; want %d", len(rows), 2*admission.MaxWaitingPerOrigin)
	}
}
