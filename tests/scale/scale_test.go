// Package scale starts the built program on a store of many years and looks at
// it as a phone does.
package scale

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaclient"
	"plexus/adapters/sqlite"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/tests/program"
)

// What is stored: 5,000 topics with 100,000 messages, and one chat with as many.
const (
	topics   = 5_000 / share
	perTopic = 20
	inChat   = 100_000 / share
	texts    = 200 // that are admitted on top of it
)

// address is where phones find the host.
const address = "wss://box.example.net"

// TestScale_APhoneSeesManyYears: a snapshot of all that is whole and below its
// bound, and the host stays quick.
func TestScale_APhoneSeesManyYears(t *testing.T) {
	if err := program.Sources(); err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "plx") // short: sockets live in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	data := filepath.Join(home, "data")
	filled := fill(t, data)
	run, ready := serve(t, home, data)
	size := databaseSize(t, data)

	conn := connect(t, run, data)
	began := time.Now()
	result, err := conn.Personal(t.Context(), "state", struct{}{})
	took := time.Since(began)
	if err != nil || result.Error != "" || result.ReloadRequired {
		t.Fatalf("state: %+v, %v", result.Error, err)
	}
	if len(result.Data) > workbench.MaxMobileFrame {
		t.Errorf("the snapshot has %d bytes, the bound is %d", len(result.Data), workbench.MaxMobileFrame)
	}
	snapshot, err := workbench.DecodeSnapshot(result.Data)
	if err != nil {
		t.Fatal(err)
	}
	c := snapshot.Conversations
	if c.SelectedID != conversations.MainID || len(c.Items) != workbench.MaxShownConversations {
		t.Errorf("%q is selected among %d conversations", c.SelectedID, len(c.Items))
	}
	if n := len(c.Messages); n < 50 || c.Messages[n-1].Text != chatText(inChat-1) {
		t.Errorf("%d messages are shown", n)
	}
	admitted := admit(t, conn)
	t.Logf("%d messages stored in %v, database %.1f MB; start to ready %v; snapshot %d bytes with %d messages in %v; text admission p50 %v, p99 %v",
		topics*perTopic+inChat, filled.Round(time.Millisecond), float64(size)/1e6, ready.Round(time.Millisecond), len(result.Data), len(c.Messages),
		took.Round(time.Millisecond), admitted[len(admitted)/2].Round(10*time.Microsecond), admitted[len(admitted)*99/100].Round(10*time.Microsecond))
}

// chatText is the n-th message of the chat. The last ones are long, so that a
// snapshot has to be cut.
func chatText(n int) string {
	text := fmt.Sprintf("Message %d of a long chat. ", n)
	if n >= inChat-300 {
		return strings.TrimSpace(text + strings.Repeat("It says a great deal about bridges. ", 200))
	}
	return text + "It says something about the bridge that was opened long ago."
}

// fill stores everything, and says how long that took.
func fill(t *testing.T, data string) time.Duration {
	t.Helper()
	began := time.Now()
	if _, err := hostfiles.PrivateDir(data); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(data, hostfiles.DatabaseName), sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	store := db.Personal()
	update := func(change func(tx ports.PersonalTx) error) {
		if err := store.Update(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	const step = 5_000 // messages of one write
	for from := 0; from < topics; from += step / perTopic {
		update(func(tx ports.PersonalTx) error {
			for n := from; n < from+step/perTopic; n++ {
				if err := addTopic(tx, n, now.Add(time.Duration(n-topics)*time.Minute)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	main := conversations.Conversation{ID: conversations.MainID, Kind: conversations.Chat, Title: "Chat 1", CreatedAt: now, UpdatedAt: now}
	for from := 0; from < inChat; from += step {
		update(func(tx ports.PersonalTx) error { return addPairs(tx, main, from, from+step, chatText) })
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func addTopic(tx ports.PersonalTx, n int, at time.Time) error {
	c := conversations.Conversation{
		ID: fmt.Sprintf("topic:%05d", n), Kind: conversations.Topic, Title: fmt.Sprintf("Page %d", n),
		SubjectKey: fmt.Sprintf("https://example.org/%d", n), CreatedAt: at, UpdatedAt: at,
	}
	return addPairs(tx, c, 0, perTopic, func(int) string { return fmt.Sprintf("What does page %d say about the bridge?", n) })
}

// addPairs adds questions and their answers to a conversation.
func addPairs(tx ports.PersonalTx, c conversations.Conversation, from, to int, text func(int) string) error {
	if err := tx.PutConversation(c); err != nil {
		return err
	}
	for n := from; n < to; n++ {
		m := conversations.Message{
			ID: fmt.Sprintf("user:%d", n), ConversationID: c.ID, Role: conversations.User, Text: text(n),
			CreatedAt: c.UpdatedAt, Status: conversations.Completed,
		}
		if n%2 == 1 {
			m.ID, m.Role, m.Status = fmt.Sprintf("assistant:%d", n), conversations.Assistant, ""
			m.ReplyTo, m.Delivery = fmt.Sprintf("user:%d", n-1), conversations.Delivered
		}
		if _, err := tx.AddMessage(m); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the program with a model and says how long it took to be ready.
func serve(t *testing.T, home, data string) (run hostfiles.RunInfo, took time.Duration) {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(model.Close)
	cmd := exec.Command(binary, "serve")
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=en_US.UTF-8", "XDG_RUNTIME_DIR=" + home, "PLEXUS_DATA_DIR=" + data,
		"PLEXUS_NERVE_ADDR=127.0.0.1:0", "PLEXUS_CLIENT_ADDR=127.0.0.1:0", "PLEXUS_ADMIN_ADDR=127.0.0.1:0", "PLEXUS_PUBLIC_URL=" + address,
		"PLEXUS_MODEL_KIND=openai", "PLEXUS_MODEL_NAME=stub", "PLEXUS_MODEL_BASE_URL=" + model.URL + "/v1",
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program ended with %v", err)
		}
	})
	for deadline := time.Now().Add(time.Minute); ; {
		run, err := hostfiles.ReadRun(data)
		if err == nil && run.PID == cmd.Process.Pid {
			return run, time.Since(began)
		}
		if time.Now().After(deadline) {
			t.Fatal("the program was not ready within a minute")
		}
		<-time.After(5 * time.Millisecond)
	}
}

func databaseSize(t *testing.T, data string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(data, hostfiles.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// connect is a phone that has the master token.
func connect(t *testing.T, run hostfiles.RunInfo, data string) *novaclient.Conn {
	t.Helper()
	o, err := program.Phone(data, run.Client, address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := novaclient.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// admit submits texts one after the other, each into a topic of its own and fewer
// than one connection takes, and gives the sorted times to their acknowledgement.
func admit(t *testing.T, conn *novaclient.Conn) []time.Duration {
	t.Helper()
	var took []time.Duration
	for n := range texts {
		began := time.Now()
		err := conn.SubmitText(t.Context(), nova.InputText{
			Text: "And now?", RequestID: fmt.Sprintf("scale-%d", n), ConversationID: fmt.Sprintf("topic:%05d", n),
		})
		if err != nil {
			t.Fatalf("text %d: %v", n, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}
