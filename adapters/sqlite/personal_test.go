package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/ports"
	"plexus/ports/portstest"
)

// talk makes a database with some conversations and closes it.
func talk(t *testing.T, path string) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Now: portstest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
		at := portstest.NewClock().Now()
		chat := conversations.Conversation{ID: "chat", Kind: conversations.Chat, CreatedAt: at, UpdatedAt: at}
		topic := conversations.Conversation{ID: "topic", Kind: conversations.Topic, SubjectKey: "s", CreatedAt: at, UpdatedAt: at}
		err := errors.Join(tx.PutConversation(chat), tx.PutConversation(topic), tx.PutRecord("a", "r", []byte("kept"), 3))
		for n := range 5 {
			_, added := tx.AddMessage(conversations.Message{ID: fmt.Sprint(n), ConversationID: "chat", Role: conversations.User, Text: "apples", CreatedAt: at})
			err = errors.Join(err, added)
		}
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// checkTalk looks for what talk has stored, in a store that goes on working.
func checkTalk(t *testing.T, path string) {
	t.Helper()
	if err := Check(t.Context(), path); err != nil {
		t.Error(err)
	}
	s := openAt(t, path)
	st, err := s.Stats(t.Context())
	want := ports.PersonalSizes{Conversations: 2, Topics: 1, Messages: 5, MessageBytes: 30}
	if err != nil || st.Personal != want {
		t.Errorf("sizes are %+v, %v; want %+v", st.Personal, err, want)
	}
	found, err := s.Personal().SearchMessages(t.Context(), "apple", 10)
	if err != nil || len(found) != 5 {
		t.Errorf("a search gives %d messages, %v", len(found), err)
	}
	err = s.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
		if _, err := tx.TopicBySubject("s"); err != nil {
			return err
		}
		if body, err := tx.Record("a", "r"); err != nil || string(body) != "kept" {
			t.Errorf("the record is %q, %v", body, err)
		}
		seq, err := tx.AddMessage(conversations.Message{ID: "new", ConversationID: "topic", Role: conversations.User})
		if seq != 6 {
			t.Errorf("the next Seq is %d", seq)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := Check(t.Context(), path); err != nil {
		t.Error(err)
	}
}

func TestRestore_BringsConversationsBack(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
	talk(t, path)
	if err := Backup(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "DELETE FROM conversations; DELETE FROM records; UPDATE sqlite_sequence SET seq = 99")
	if _, err := Restore(t.Context(), backup, path, restoreOptions()); err != nil {
		t.Fatal(err)
	}
	checkTalk(t, path)
}

func TestRestore_ABackupWithoutConversationsGetsThem(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
	mustMigrate(t, backup, realScripts(t)[:5])
	execute(t, backup, rowsOfVersion(5))
	if err := Check(t.Context(), backup); err != nil {
		t.Errorf("an old database does not pass the check: %v", err)
	}
	talk(t, path)
	if _, err := Restore(t.Context(), backup, path, restoreOptions()); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), path); err != nil {
		t.Error(err)
	}
	s := openAt(t, path)
	st, err := s.Stats(t.Context())
	if err != nil || st.Personal != (ports.PersonalSizes{}) || st.Pages != 1 {
		t.Errorf("stats are %+v, %v; want a page and no conversation", st, err)
	}
	err = s.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
		return tx.PutConversation(conversations.Conversation{ID: "chat", Kind: conversations.Chat, UpdatedAt: time.UnixMilli(1)})
	})
	if err != nil {
		t.Error(err)
	}
}

// A backup whose conversations are at odds with each other is no better than a
// damaged one.
func TestRestore_ABackupAtOddsChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
	makeDatabase(t, path, 1)
	talk(t, backup)
	execute(t, backup, "UPDATE personal_totals SET messages = 7")
	before := fileHash(t, path)
	if _, err := Restore(t.Context(), backup, path, restoreOptions()); !errors.Is(err, ErrDamaged) {
		t.Errorf("restore gave %v; want ErrDamaged", err)
	}
	if fileHash(t, path) != before {
		t.Error("the database was changed")
	}
	if left, err := filesWithPrefix(path + "."); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
