package e2e

import (
	"encoding/json"
	"errors"
	"syscall"
	"testing"

	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// repeated is how often a request ID is among the messages that a host shows, and
// how often the model was asked.
func repeated(t *testing.T, conn *novaclient.Conn, model *answeringModel, requestID string) (stored, asked int) {
	t.Helper()
	for _, m := range snapshot(t, conn).Conversations.Messages {
		if m.RequestID == requestID {
			stored++
		}
	}
	return stored, len(model.asked)
}

// TestN53_ATextIsSubmittedOnce: repeated on the connection, after a reconnect and
// after a restart it has the same result, and is answered once.
func TestN53_ATextIsSubmittedOnce(t *testing.T) {
	model := newAnsweringModel(t).ready()
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	serve := func() *daemon { return p.serve(t, "--config", p.configure(t, modelConfig(model.URL))) }
	d := serve()
	conn, seen := d.dial(t, novaclient.Flutter)
	takes := told(t, seen, "desktop.capabilities", func(nova.DesktopCapabilities) bool { return true })
	text := nova.InputText{Text: "When did it open?", RequestID: "once", InputInstanceID: takes.InputInstanceID, ConversationID: "chat:main"}
	send := func(when string, conn *novaclient.Conn, text nova.InputText, want error) {
		t.Helper()
		if err := conn.SubmitText(t.Context(), text); !errors.Is(err, want) && (err == nil || want == nil || err.Error() != want.Error()) {
			t.Errorf("%s: %v, want %v", when, err, want)
		}
		if stored, asked := repeated(t, conn, model, text.RequestID); stored != 1 || asked != 1 {
			t.Errorf("%s: it is stored %d times, and the model was asked %d times", when, stored, asked)
		}
	}
	if err := conn.SubmitText(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	told(t, seen, "the answer", func(c nova.Caption) bool { return c.Final && c.Role == nova.Assistant })
	send("at once", conn, text, nil)
	other := text
	other.Text = "Another?"
	send("with another text", conn, other, &novaclient.TextRefused{Reason: nova.RequestIDConflict})
	conn.Close()
	conn, _ = d.dial(t, novaclient.Flutter)
	send("after a reconnect", conn, text, nil)
	conn.Close()
	if code := d.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	conn, seen = serve().dial(t, novaclient.Flutter)
	send("after a restart, as to the host before", conn, text, &novaclient.TextRefused{Reason: nova.OutcomeUnknown})
	text.InputInstanceID = told(t, seen, "desktop.capabilities", func(nova.DesktopCapabilities) bool { return true }).InputInstanceID
	send("after a restart", conn, text, nil)
	send("once more", conn, text, nil)
}

// TestP6_AWriteIsDoneOnce: its receipt outlives connections and the host.
func TestP6_AWriteIsDoneOnce(t *testing.T) {
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL, extractive)
	d := p.serve(t)
	command := nova.PersonalCommand{
		RequestID: "todo-once", Method: "life.mutate", Params: json.RawMessage(`{"op":"create","kind":"todo","title":"Buy flour"}`),
	}
	send := func(when string, d *daemon) {
		t.Helper()
		conn, seen := d.dial(t, novaclient.Flutter)
		if status, err := conn.Command(t.Context(), command); err != nil || status != nova.Applied {
			t.Fatalf("%s: %q, %v", when, status, err)
		}
		result := told(t, seen, "the result", func(r nova.PersonalResult) bool { return r.RequestID == command.RequestID })
		if result.Error != "" {
			t.Errorf("%s: %+v", when, result)
		}
		var found []workbench.TodoRow
		for _, todo := range snapshot(t, conn).Life.Todos {
			if todo.Title == "Buy flour" {
				found = append(found, todo)
			}
		}
		if len(found) != 1 {
			t.Errorf("%s: it is there %d times", when, len(found))
		}
		conn.Close()
	}
	send("the first time", d)
	send("after a reconnect", d)
	if code := d.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d = p.serve(t)
	send("after a restart", d)
	conn, seen := d.dial(t, novaclient.Flutter)
	command.Params = json.RawMessage(`{"op":"create","kind":"todo","title":"Buy salt"}`)
	if _, err := conn.Command(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	if r := told(t, seen, "the result", func(r nova.PersonalResult) bool { return r.RequestID == command.RequestID }); r.Error != "request_id_conflict" {
		t.Errorf("another write with this ID: %+v", r)
	}
}
