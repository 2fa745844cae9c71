package personal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/adapters/sqlite"
	"plexus/adapters/sqlite/personal"
	"plexus/domain/conversations"
	"plexus/ports"
)

// room lets the database grow by so many pages and no further.
func room(t *testing.T, d *database, pages int) {
	t.Helper()
	var now, set int
	if err := d.Writer().QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&now); err != nil {
		t.Fatal(err)
	}
	if err := d.Writer().QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", now+pages)).Scan(&set); err != nil {
		t.Fatal(err)
	}
}

// picture is everything in the database, table by table.
func picture(t *testing.T, d *database) string {
	t.Helper()
	var all []string
	for _, table := range []string{"conversations", "messages", "records", "personal_totals", "record_totals"} {
		rows, err := d.other.QueryContext(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			row := make([]any, len(columns))
			for i := range row {
				row[i] = new(string)
			}
			if err := rows.Scan(row...); err != nil {
				t.Fatal(err)
			}
			line := table
			for _, cell := range row {
				line += " | " + *cell.(*string)
			}
			all = append(all, line)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(all, "\n")
}

// steps is a change of many writes, of which any may find no room.
func steps(tx ports.PersonalTx, round int) error {
	long := strings.Repeat("apples and pears ", 300)
	for i := range 20 {
		id := fmt.Sprint(round, "-", i)
		err := tx.PutConversation(conversations.Conversation{ID: "topic" + id, Kind: conversations.Topic, SubjectKey: id})
		if err == nil {
			_, err = tx.AddMessage(conversations.Message{ID: id, ConversationID: "one", Role: conversations.User, Text: long})
		}
		if err == nil {
			err = tx.PutRecord("area", id, []byte(long), 10)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestP14_FailedWriteLeavesStateAsBefore(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	d.update(t, func(tx ports.PersonalTx) error { return steps(tx, 0) })
	before := picture(t, d)
	// The disk fills up at every place of the change.
	failed := 0
	for pages := 0; ; pages++ {
		room(t, d, pages)
		err := d.Update(t.Context(), func(tx ports.PersonalTx) error { return steps(tx, 1) })
		if err == nil {
			break
		}
		failed++
		if !errors.Is(err, sqlite.ErrDiskFull) {
			t.Fatalf("with room for %d pages: %v; want ErrDiskFull", pages, err)
		}
		if strings.Contains(err.Error(), "apples") {
			t.Fatalf("the error tells a text: %v", err)
		}
		if after := picture(t, d); after != before {
			t.Fatalf("with room for %d pages a failed change left\n%s\nwant\n%s", pages, after, before)
		}
	}
	if failed < 10 {
		t.Errorf("only %d changes failed; the test needs more", failed)
	}
	check(t, d)
	if got := d.ask(t, "SELECT count(*) FROM messages"); got != "40" {
		t.Errorf("%s messages once there was room; want 40", got)
	}
}

// doom makes the store take back the whole transaction, as SQLite does by itself
// after some failures of the disk, when a message says so.
func doom(t *testing.T, d *database) {
	t.Helper()
	d.execute(t, `CREATE TRIGGER doomed BEFORE INSERT ON messages WHEN new.text = 'doomed' BEGIN SELECT RAISE(ROLLBACK, 'gone'); END`)
}

// A change that goes on after such a failure must not write any more: each write
// would be final.
func TestP14_AChangeThatIgnoresAFailureIsUndone(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	doom(t, d)
	before := picture(t, d)
	err := d.Update(t.Context(), func(tx ports.PersonalTx) error {
		if err := add(tx, "one", 1, "text"); err != nil {
			t.Error(err)
		}
		failure := add(tx, "one", 2, "doomed")
		_, noneInterrupted := tx.InterruptPending()
		_, noRecord := tx.Record("a", "r")
		_, noList := tx.Conversations(ports.ConversationQuery{Limit: 1})
		noWalk := tx.MessagesBefore("one", 0, 1, func(conversations.Message) bool { return true })
		put := tx.PutConversation(conversations.Conversation{ID: "two", Kind: conversations.Chat})
		for i, err := range []error{failure, add(tx, "one", 3, "text"), tx.PutRecord("a", "r", nil, 0), noneInterrupted, noRecord, noList, noWalk, put} {
			if err == nil || err.Error() != failure.Error() {
				t.Errorf("step %d after the failure gave %v; want %v", i, err, failure)
			}
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "add message: ") {
		t.Errorf("update gave %v; want the failure", err)
	}
	if after := picture(t, d); after != before {
		t.Errorf("the change left\n%s\nwant\n%s", after, before)
	}
	d.update(t, func(tx ports.PersonalTx) error { return steps(tx, 0) })
	check(t, d)
}

// Those who ran before it in the same transaction are told; those who come after
// it do not notice.
func TestP14_ALostTransactionIsToldToAllThatWereInIt(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	doom(t, d)
	got := together(t, d, 8, func(i int, tx ports.PersonalTx) error {
		return add(tx, "one", i, map[bool]string{true: "doomed", false: "text"}[i == 4])
	})
	for i, err := range got {
		if (err != nil) != (i <= 4) {
			t.Errorf("caller %d got %v", i, err)
		}
	}
	if got := d.ask(t, "SELECT group_concat(id, ' ' ORDER BY seq) FROM messages"); got != "5 6 7" {
		t.Errorf("messages are %s; want 5 6 7", got)
	}
	check(t, d)
}

// Of those who share a transaction with a change that found no room, each either
// landed or got an error.
func TestP14_AGroupWithoutRoomIsWholeOrNothing(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	room(t, d, 10)
	got := together(t, d, 20, func(i int, tx ports.PersonalTx) error {
		if i == 10 {
			return steps(tx, 0)
		}
		return add(tx, "one", i, "text")
	})
	if !errors.Is(got[10], sqlite.ErrDiskFull) {
		t.Fatalf("the greedy one got %v", got[10])
	}
	room(t, d, 10_000)
	for i, err := range got {
		want := map[bool]string{true: "1", false: "0"}[err == nil]
		if there := d.ask(t, fmt.Sprintf("SELECT count(*) FROM messages WHERE id = '%d'", i)); there != want {
			t.Errorf("caller %d got %v, and %s of its messages are there", i, err, there)
		}
		if err != nil && !errors.Is(err, sqlite.ErrDiskFull) {
			t.Errorf("caller %d got %v", i, err)
		}
	}
	for i, err := range got[11:] {
		if err != nil {
			t.Errorf("caller %d came after the greedy one and got %v", i+11, err)
		}
	}
	check(t, d)
}

func TestCheck_FindsWhatIsAtOdds(t *testing.T) {
	for name, harm := range map[string]string{
		"orphan":         "PRAGMA foreign_keys = 0; DELETE FROM conversations WHERE id = 'one'",
		"conversations":  "UPDATE personal_totals SET conversations = 3",
		"topics":         "UPDATE personal_totals SET topics = 1",
		"messages":       "UPDATE personal_totals SET messages = messages - 1",
		"bytes":          "UPDATE personal_totals SET message_bytes = 0",
		"no totals":      "DELETE FROM personal_totals",
		"records":        "UPDATE record_totals SET records = 7",
		"missing record": "DELETE FROM record_totals",
		"spare record":   "INSERT INTO record_totals VALUES ('other', 1)",
		"missing words":  "DELETE FROM message_words WHERE rowid = 1",
		"spare words":    "INSERT INTO message_words (rowid, words) VALUES (99, 'apples')",
	} {
		d := open(t)
		d.put(t, "one", "two")
		d.update(t, func(tx ports.PersonalTx) error {
			return errors.Join(add(tx, "one", 1, "text"), add(tx, "two", 1, ""), tx.PutRecord("a", "r", nil, 0))
		})
		check(t, d)
		d.execute(t, harm)
		if err := sqlite.Check(t.Context(), d.path); !errors.Is(err, sqlite.ErrDamaged) {
			t.Errorf("%s: %v; want ErrDamaged", name, err)
		}
		if err := personal.Check(t.Context(), d.other); !errors.Is(err, sqlite.ErrDamaged) {
			t.Errorf("%s: %v; want ErrDamaged", name, err)
		}
	}
}

// inFile says whether the database or its log holds a word, once traces are erased.
func (d *database) inFile(t *testing.T, word string) bool {
	t.Helper()
	if err := d.EraseTraces(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{d.path, d.path + "-wal"} {
		data, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(word)) {
			return true
		}
	}
	return false
}

// The words of a few messages among many go as well.
func TestDrop_LeavesNoWordOfAFewAmongMany(t *testing.T) {
	d := open(t)
	d.put(t, "kept", "gone")
	for round := range 100 {
		d.update(t, func(tx ports.PersonalTx) error {
			for i := range 30 {
				if err := add(tx, "kept", round*100+i, "an ordinary message of some words "+fmt.Sprint(round, i)); err != nil {
					return err
				}
			}
			if round >= 60 {
				return nil
			}
			return add(tx, "gone", round, "zeppelin hangar")
		})
	}
	if !d.inFile(t, "zeppelin") {
		t.Fatal("the word is not in the file to begin with")
	}
	d.update(t, func(tx ports.PersonalTx) error { return tx.DropConversation("gone") })
	if d.inFile(t, "zeppelin") {
		t.Error("the words are still there")
	}
}

// What was deleted is gone from the file, texts and words.
func TestDrop_LeavesNoTextInTheFile(t *testing.T) {
	d := open(t)
	d.put(t, "kept", "gone", "emptied")
	secret := strings.Repeat("zeppelin hangar ", 400) // pages of its own
	d.update(t, func(tx ports.PersonalTx) error {
		for i := range 30 {
			err := errors.Join(add(tx, "kept", i, "an ordinary message"), add(tx, "gone", i, secret), add(tx, "emptied", i, secret))
			if err != nil {
				return err
			}
		}
		return errors.Join(add(tx, "kept", 100, "zeppelin hangar, but short"), tx.PutRecord("a", "r", []byte(secret), 0), tx.PutRecord("a", "s", []byte(secret), 0))
	})
	if !d.inFile(t, "zeppelin hangar") {
		t.Fatal("the text is not in the file to begin with")
	}
	size := d.ask(t, "PRAGMA page_count")
	d.update(t, func(tx ports.PersonalTx) error {
		_, emptied := tx.DropMessages("emptied")
		set := conversations.Message{ID: "100", ConversationID: "kept", Role: conversations.User, Text: "changed"}
		return errors.Join(tx.DropConversation("gone"), emptied, tx.SetMessage(set), tx.DropRecord("a", "r"), tx.PutRecord("a", "s", nil, 0))
	})
	if d.inFile(t, "zeppelin hangar") || d.inFile(t, "hangar zeppelin") {
		t.Error("a deleted text is still in the file")
	}
	if d.inFile(t, "zeppelin") {
		t.Error("a word of deleted messages is still in the file")
	}
	if after := d.ask(t, "PRAGMA page_count"); len(after) > len(size) || after > size {
		t.Errorf("the file grew from %s to %s pages although there was room in it", size, after)
	}
	check(t, d)
}

// Who looks at what is in the log keeps it from being emptied.
func TestEraseTraces_SaysThatALookIsInItsWay(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	var wait int
	if err := d.Writer().QueryRowContext(t.Context(), "PRAGMA busy_timeout = 1").Scan(&wait); err != nil || wait != 1 {
		t.Fatalf("a wait of %d ms, %v", wait, err)
	}
	look, err := d.other.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := look.QueryRowContext(t.Context(), "SELECT count(*) FROM messages").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if err := d.EraseTraces(t.Context()); !errors.Is(err, sqlite.ErrBusy) {
		t.Errorf("during a look: %v; want ErrBusy", err)
	}
	if err := look.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := d.EraseTraces(t.Context()); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestErrors_HoldNoText(t *testing.T) {
	d := open(t)
	d.put(t, "one")
	d.execute(t, "DROP TABLE message_words")
	writing := d.Update(t.Context(), func(tx ports.PersonalTx) error { return add(tx, "one", 1, "zeppelin") })
	_, searching := d.SearchMessages(t.Context(), "zeppelin", 1)
	reading := d.Update(t.Context(), func(tx ports.PersonalTx) error {
		return errors.Join(add(tx, "one", 1, "zeppelin"), tx.PutConversation(conversations.Conversation{ID: "zeppelin", Kind: "zeppelin"}))
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := d.Update(ctx, nil)
	for _, err := range []error{writing, searching, reading, ended} {
		if err == nil || strings.Contains(err.Error(), "zeppelin") {
			t.Errorf("error is %v", err)
		}
	}
}
