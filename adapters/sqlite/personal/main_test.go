package personal_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/sqlite"
	"plexus/adapters/sqlite/personal"
	"plexus/domain/conversations"
	"plexus/ports"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database is an open database with another connection to the same file.
type database struct {
	*personal.Store
	whole *sqlite.Store
	path  string
	other *sql.DB
}

// open gives an empty database.
func open(t testing.TB) *database {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plexus.db")
	whole, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := errors.Join(other.Close(), whole.Close()); err != nil {
			t.Error(err)
		}
	})
	return &database{whole.Personal(), whole, path, other}
}

// execute runs statements beside the store.
func (d *database) execute(t testing.TB, statements string, args ...any) {
	t.Helper()
	if _, err := d.other.ExecContext(t.Context(), statements, args...); err != nil {
		t.Fatal(err)
	}
}

// ask reads one value beside the store.
func (d *database) ask(t testing.TB, query string) (value string) {
	t.Helper()
	if err := d.other.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func (d *database) update(t testing.TB, change func(tx ports.PersonalTx) error) {
	t.Helper()
	if err := d.Update(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func (d *database) put(t testing.TB, ids ...string) {
	t.Helper()
	d.update(t, func(tx ports.PersonalTx) error {
		for _, id := range ids {
			if err := tx.PutConversation(conversations.Conversation{ID: id, Kind: conversations.Chat}); err != nil {
				return err
			}
		}
		return nil
	})
}

// add adds a message whose ID is n.
func add(tx ports.PersonalTx, conversation string, n int, text string) error {
	_, err := tx.AddMessage(conversations.Message{ID: fmt.Sprint(n), ConversationID: conversation, Role: conversations.Assistant, Text: text})
	return err
}

// fill puts n messages into a conversation, past the store.
func (d *database) fill(t testing.TB, conversation string, n int) {
	t.Helper()
	d.execute(t, `WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?2)
		INSERT INTO messages (conversation, id, role, created_at, turn_id, reply_to, request_id, status, delivery, todo_id, todo_version, text)
		SELECT (SELECT number FROM conversations WHERE id = ?1), 'm' || (1000000 + n), iif(n % 2, 'user', 'assistant'), n, '', '', 'r' || (1000000 + n),
		  'completed', '', '', 0, 'a message of some length, ' || (1000000 + n) FROM i`, conversation, n)
	d.execute(t, "INSERT INTO message_words (rowid, words) SELECT seq, 'messag some ' || seq FROM messages WHERE seq NOT IN (SELECT rowid FROM message_words)")
}

func check(t testing.TB, d *database) {
	t.Helper()
	if err := sqlite.Check(context.WithoutCancel(t.Context()), d.path); err != nil {
		t.Error(err)
	}
}
