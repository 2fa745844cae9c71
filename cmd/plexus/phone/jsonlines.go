package phone

import (
	"errors"
	"io"
	"sync"

	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/cli"
	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// jsonLines prints what a phone shows for programs: one JSON object a line. What
// they look like is in docs/phone.md.
type jsonLines struct {
	mu    sync.Mutex
	w     io.Writer
	state *state
}

// fields are the members of an object beside "event".
type fields map[string]any

func (r *jsonLines) put(event string, f fields) {
	f["event"] = event
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = cli.WriteJSON(r.w, f, "") // a reader that is gone is no reason to fail
}

func (r *jsonLines) paired(server, deviceID string) {
	r.put("paired", fields{"server": server, "device_id": deviceID})
}

func (r *jsonLines) status(s novaclient.Status) {
	phase := map[novaclient.Phase]string{
		novaclient.Connecting: "connecting", novaclient.Connected: "connected", novaclient.Waiting: "waiting", novaclient.Over: "over",
	}[s.Phase]
	f := fields{"phase": phase}
	if s.End != nil {
		f["code"], f["reason"] = s.End.Code, s.End.Error()
	}
	if s.Phase == novaclient.Waiting {
		f["retry_ms"] = s.Retry.Milliseconds()
	}
	r.put("status", f)
	if s.Phase == novaclient.Connected {
		r.put("ready", fields{
			"server_instance_id": s.Ready.ServerInstanceID, "pipeline": s.Ready.Pipeline, "personal": s.Ready.Personal,
			"text_input": s.Ready.TextInput, "dictation": s.Ready.Dictation,
		})
	}
}

func (r *jsonLines) message(m nova.Message) {
	switch m := m.(type) {
	case nova.Caption:
		r.put("caption", fields{
			"conversation_id": m.ConversationID, "role": m.Role, "turn_id": m.TurnID, "message_id": m.MessageID,
			"text": m.Text, "full_text": m.FullText, "final": m.Final, "sequence": m.Sequence,
		})
	case nova.ConversationError:
		r.put("conversation_error", fields{"conversation_id": m.ConversationID, "error": m.Error})
	}
}

func (r *jsonLines) input(takes nova.DesktopCapabilities, boxed bool) {
	r.put("input", fields{
		"text_input": takes.TextInput, "dictation": takes.Dictation, "input_instance_id": takes.InputInstanceID, "text_box": boxed,
	})
}

func (r *jsonLines) card(c novaclient.Card) {
	kind, summary := "project", asked(c.Proposal.Action)
	if !c.IsProject() {
		kind, summary = "approval", c.Approval.Summary
	}
	r.put("card", fields{"id": c.ID, "conversation_id": c.ConversationID, "kind": kind, "summary": summary, "busy": c.Busy})
}

func (r *jsonLines) cardRemoved(c novaclient.Card) { r.put("card_removed", fields{"id": c.ID}) }

func (r *jsonLines) snapshot(now, _ workbench.MobileSnapshot) { r.summary(now) }

// The parts of a snapshot that a person asks for are all in its summary.
func (r *jsonLines) list()  { r.summary(r.state.snapshot()) }
func (r *jsonLines) open()  { r.summary(r.state.snapshot()) }
func (r *jsonLines) todos() { r.summary(r.state.snapshot()) }

// recordedMessages is how many messages a summary has.
const recordedMessages = 20

func (r *jsonLines) summary(s workbench.MobileSnapshot) {
	threads, messages, todos := []fields{}, []fields{}, []fields{}
	for _, c := range s.Conversations.Items {
		threads = append(threads, fields{
			"number": r.state.conversations.number(c.ID), "id": c.ID, "kind": c.Kind, "title": c.Title, "unread": c.Unread, "generation": c.Generation,
		})
	}
	all := s.Conversations.Messages
	for _, m := range all[max(0, len(all)-recordedMessages):] {
		messages = append(messages, fields{
			"id": m.ID, "role": m.Role, "text": m.Text, "reply_to": m.ReplyTo, "request_id": m.RequestID,
			"status": m.Status, "delivery": m.Delivery,
		})
	}
	for _, t := range s.Life.Todos {
		if isOpen(t) {
			todos = append(todos, fields{
				"number": r.state.openTodos.number(t.ID), "id": t.ID, "version": t.Version, "title": t.Title, "status": t.Status,
			})
		}
	}
	r.put("snapshot", fields{
		"revision": s.Revision, "selected_id": s.Conversations.SelectedID, "unread": s.Conversations.Unread,
		"conversations": threads, "message_count": len(all), "messages": messages, "todos": todos,
	})
}

func (r *jsonLines) help() {
	var words []string
	for _, c := range commands() {
		words = append(words, c.word)
	}
	r.put("help", fields{"commands": append(words, "/quit")})
}

// noOutcome is the error of a text whose connection ended first.
const noOutcome = "lost"

func (r *jsonLines) textResult(t nova.InputText, err error) {
	f := fields{"request_id": t.RequestID, "conversation_id": t.ConversationID, "ok": err == nil}
	var refused *novaclient.TextRefused
	var end *novaclient.End
	switch {
	case errors.As(err, &refused):
		f["error"] = refused.Reason
	case errors.As(err, &end):
		f["error"] = noOutcome
	case err != nil:
		f["error"] = err.Error()
	}
	r.put("text", f)
}

func (r *jsonLines) dictationResult(words string, err error) {
	f := fields{"ok": err == nil, "text": words}
	if err != nil {
		f["error"] = err.Error()
	}
	r.put("transcription", f)
}

func (r *jsonLines) lineDone(line string, err error) {
	if err != nil {
		r.put("error", fields{"line": line, "error": err.Error()})
		return
	}
	r.put("done", fields{"line": line})
}
