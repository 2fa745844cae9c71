package personal_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"plexus/adapters/sqlite"
	"plexus/adapters/sqlite/personal"
	"plexus/ports"
)

var errOops = errors.New("oops")

// gather lets callers wait for the turn together: it holds the writer of the
// database until release is called.
func gather(t testing.TB, d *database) (release func()) {
	t.Helper()
	tx, err := d.other.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err == nil {
		_, err = tx.ExecContext(t.Context(), "UPDATE personal_totals SET one = 1")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// together runs change in n callers, which all wait before the first of them
// runs, and gives what each of them got.
func together(t *testing.T, d *database, n int, change func(i int, tx ports.PersonalTx) error) []error {
	t.Helper()
	release := gather(t, d)
	got := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					got[i] = fmt.Errorf("panic: %v", cause)
				}
			}()
			got[i] = d.Update(t.Context(), func(tx ports.PersonalTx) error { return change(i, tx) })
		})
		for d.Queued() < i || !d.Busy() { // the first does not queue: it begins the group
			runtime.Gosched()
		}
	}
	release()
	all.Wait()
	return got
}

func commits(d *database) *[]int {
	var sizes []int
	d.OnCommit(func(changes int) { sizes = append(sizes, changes) })
	return &sizes
}

func TestUpdate_CallersThatWaitShareACommit(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	sizes := commits(d)
	const n = personal.MaxGroup + 20
	for i, err := range together(t, d, n, func(i int, tx ports.PersonalTx) error { return add(tx, "one", i, "text") }) {
		if err != nil {
			t.Errorf("caller %d got %v", i, err)
		}
	}
	if len(*sizes) != 2 || (*sizes)[0] != personal.MaxGroup || (*sizes)[1] != 20 {
		t.Errorf("commits held %v changes; want %d and 20", *sizes, personal.MaxGroup)
	}
	if got := d.ask(t, "SELECT count(*) FROM messages"); got != fmt.Sprint(n) {
		t.Errorf("%s messages; want %d", got, n)
	}
}

func TestUpdate_ChangesRunInOrderOfArrival(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	together(t, d, 30, func(i int, tx ports.PersonalTx) error { return add(tx, "one", i, "text") })
	if got := d.ask(t, "SELECT group_concat(id, ' ' ORDER BY seq) = group_concat(id, ' ' ORDER BY CAST(id AS INTEGER)) FROM messages"); got != "1" {
		t.Error("changes did not run in order of arrival")
	}
}

func TestUpdate_AFailureInAGroupIsItsOwn(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	sizes := commits(d)
	got := together(t, d, 12, func(i int, tx ports.PersonalTx) error {
		err := add(tx, "one", i, "text")
		switch i % 4 {
		case 1:
			return errors.Join(err, errOops)
		case 2:
			panic("oops")
		case 3:
			_ = add(tx, "one", i, "the ID is taken") // fails, and the change does not say so
		}
		return err
	})
	for i, err := range got {
		want := []string{"", "oops", "panic: oops", "add message: "}[i%4]
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("caller %d got %v; want %q", i, err, want)
		}
	}
	if len(*sizes) != 1 || (*sizes)[0] != 3 {
		t.Errorf("commits held %v changes; want one of 3", *sizes)
	}
	if got := d.ask(t, "SELECT group_concat(id, ' ' ORDER BY seq) FROM messages"); got != "0 4 8" {
		t.Errorf("messages are %s", got)
	}
	check(t, d)
}

// A goroutine that ends within its change, as a failing test's does, takes
// nothing and nobody with it.
func TestUpdate_SurvivesTheEndOfItsGoroutine(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	var all sync.WaitGroup
	all.Go(func() {
		err := d.Update(t.Context(), func(tx ports.PersonalTx) error {
			if err := add(tx, "one", 1, "text"); err != nil {
				t.Error(err)
			}
			runtime.Goexit()
			return nil
		})
		t.Errorf("update returned %v", err)
	})
	all.Wait()
	d.update(t, func(tx ports.PersonalTx) error { return add(tx, "one", 2, "text") })
	if got := d.ask(t, "SELECT group_concat(id) FROM messages"); got != "2" {
		t.Errorf("messages are %s", got)
	}
}

func TestUpdate_AFailedCommitIsEverybodysError(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	// A deferred foreign key shows only when the transaction ends.
	d.execute(t, `CREATE TABLE promises (message INTEGER REFERENCES messages (seq) DEFERRABLE INITIALLY DEFERRED);
		CREATE TRIGGER promised AFTER INSERT ON messages WHEN new.text = 'breaks' BEGIN INSERT INTO promises VALUES (-1); END`)
	got := together(t, d, 5, func(i int, tx ports.PersonalTx) error {
		if i == 3 {
			return errOops // it may have found what the others wrote, and it is not there
		}
		return add(tx, "one", i, map[bool]string{true: "breaks", false: "text"}[i == 2])
	})
	for i, err := range got {
		if err == nil || !strings.HasPrefix(err.Error(), "commit changes: ") {
			t.Errorf("caller %d got %v; want the error of the commit", i, err)
		}
	}
	if got := d.ask(t, "SELECT count(*) FROM messages"); got != "0" {
		t.Errorf("%s messages are there after a failed commit", got)
	}
	d.update(t, func(tx ports.PersonalTx) error { return add(tx, "one", 9, "text") })
}

// A caller that gives up while it leads, waiting for another writer, hands the
// turn on.
func TestUpdate_TheFirstMayGiveUp(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	conn, err := d.Writer().Conn(t.Context()) // another store of the database writes
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		first <- d.Update(ctx, func(ports.PersonalTx) error {
			t.Error("the first change ran")
			return nil
		})
	}()
	for !d.Busy() {
		runtime.Gosched()
	}
	go func() {
		second <- d.Update(t.Context(), func(tx ports.PersonalTx) error { return add(tx, "one", 2, "text") })
	}()
	for d.Queued() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first got %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second got %v", err)
	}
}

func TestUpdate_IsThereForAnotherProgramOnceItHasReturned(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	for i := range 20 {
		d.update(t, func(tx ports.PersonalTx) error { return add(tx, "one", i, "text") })
		if got := d.ask(t, "SELECT count(*) || ' ' || max(seq) FROM messages"); got != fmt.Sprintf("%d %d", i+1, i+1) {
			t.Fatalf("after %d messages another connection sees %s", i+1, got)
		}
	}
}

func TestClose_EndsUpdates(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	if err := d.whole.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the turn is handed on
		if err := d.Update(t.Context(), func(ports.PersonalTx) error { return nil }); err == nil || errors.Is(err, sqlite.ErrDamaged) {
			t.Errorf("an update of a closed database gave %v", err)
		}
	}
}
