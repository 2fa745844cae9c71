package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plexus/domain/conversations"
	"plexus/ports"
	"plexus/ports/portstest"
)

// What was deleted is in no file of the open database.
func TestEraseTraces_LeavesNoDeletedText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plexus.db")
	s := openAt(t, path)
	at := portstest.NewClock().Now()
	err := s.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
		err := tx.PutConversation(conversations.Conversation{ID: "c", Kind: conversations.Chat, CreatedAt: at, UpdatedAt: at})
		for n := 0; n < 50 && err == nil; n++ {
			_, err = tx.AddMessage(conversations.Message{
				ID: fmt.Sprint(n), ConversationID: "c", Role: conversations.User, Text: "my diary of today", CreatedAt: at,
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := occurrences(t, path, "my diary of today"); n == 0 {
		t.Fatal("the texts are in no file at all")
	}
	if err := s.Personal().Update(t.Context(), func(tx ports.PersonalTx) error { return tx.DropConversation("c") }); err != nil {
		t.Fatal(err)
	}
	if err := s.Personal().EraseTraces(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := occurrences(t, path, "my diary of today"); n > 0 {
		t.Errorf("%d deleted texts can be read", n)
	}
}

// occurrences counts a text in the database and its log.
func occurrences(t *testing.T, path, text string) (n int) {
	t.Helper()
	for _, file := range []string{path, path + "-wal"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(content, []byte(text))
	}
	return n
}
