package nova

import (
	"encoding/json"
	"fmt"

	"plexus/domain/nova/jsonform"
)

// Unknown is a message of a type that this side does not know, or one
// that a client passes over because its content makes no sense. Append refuses
// it.
type Unknown struct{ Name string }

func (m Unknown) Type() string    { return m.Name }
func (m Unknown) message() schema { return &m }

func (m *Unknown) form(f *jsonform.Form) { f.Fail("type", jsonform.ErrUnknown) }

// messageForm reads one type of message as a client does.
type messageForm struct {
	read func(*jsonform.Form) (Message, error)
	// required is what the message must have for the connection to go on.
	required func(*jsonform.Form)
	// fallback is what remains of a message that has the required part and breaks
	// another bound, a state without its card; nil is Unknown, which is passed over.
	fallback func(*jsonform.Form) Message
}

var messageForms = map[string]messageForm{
	"client.ready":          {read: readMessage[Ready], required: requireAll[Ready]},
	"client.command_result": {read: readMessage[Receipt]},
	"desktop.capabilities":  {read: readMessage[DesktopCapabilities]},
	"playback.clear":        {read: readMessage[PlaybackClear], required: requireAll[PlaybackClear]},
	"playback.alert":        {read: readMessage[PlaybackAlert]},
	"playback.terminal":     {read: readMessage[PlaybackTerminal], required: requireAll[PlaybackTerminal]},
	"caption": {read: readMessage[Caption], required: func(f *jsonform.Form) {
		f.Uint("sequence", new(uint64), 0, MaxSafeInteger)
	}},
	"input.text_result":   {read: readMessage[TextResult]},
	"input.transcription": {read: readMessage[Transcription]},
	"clock.ping":          {read: readMessage[ClockPing], required: requireAll[ClockPing]},
	"conversation.error":  {read: readMessage[ConversationError]},
	"personal.state": {required: requireAll[PersonalState], read: func(f *jsonform.Form) (Message, error) {
		var m PersonalState
		m.form(f)
		if reload := false; f.Has("reload_required") {
			f.Bool("reload_required", &reload)
			if reload {
				return m, f.Err() // the marker
			}
		}
		m.Frame = json.RawMessage{} // DecodeMessage has the text
		return m, f.Err()
	}},
	"personal.result": {read: readMessage[PersonalResult], required: requireText("request_id", id128u)},
	"personal.error":  {read: readMessage[PersonalError]},
	"project.state": {read: readMessage[ProjectState], fallback: func(f *jsonform.Form) Message {
		// A card with unusable content is not shown, so that nobody answers it.
		conversation, _ := f.Peek("conversation_id")
		return ProjectState{ConversationID: conversation}
	}},
	"executor.state": {read: readMessage[ExecutorState], required: requireText("executor", id256)},
	"executor.approval": {read: readMessage[ExecutorApproval], required: requireText("executor", id256), fallback: func(f *jsonform.Form) Message {
		executor, _ := f.Peek("executor")
		conversation, _ := f.Peek("conversation_id")
		return ExecutorApproval{Executor: executor, ConversationID: conversation}
	}},
	"executor.progress":      {read: readMessage[ExecutorProgress], required: requireText("delegate_id", id128u)},
	"executor.results.reset": {read: readMessage[ResultsReset]},
	"executor.result":        {read: readMessage[ExecutorResult], required: requireText("work_id", id128u)},
	"executor.tasks":         {read: readMessage[ExecutorTasks]},
}

// DecodeMessage reads a host's text message, as a client does: unknown members
// are ignored, an unknown type or senseless content gives Unknown, a card that
// cannot be shown gives the state without it. An error means that the client
// must drop the connection.
func DecodeMessage(text []byte) (Message, error) {
	if len(text) > MaxPersonalText {
		return nil, fmt.Errorf("nova: read message: %w", ErrTooLong)
	}
	f := jsonform.Read(text)
	kind, err := openMessage(f, len(text))
	if err != nil {
		return nil, fmt.Errorf("nova: read message: %w", err)
	}
	form, known := messageForms[kind]
	if !known {
		return Unknown{kind}, nil
	}
	if form.required != nil {
		form.required(f)
		if err := f.Err(); err != nil {
			return nil, fmt.Errorf("nova: read %s: %w", kind, err)
		}
	}
	m, err := form.read(f)
	switch {
	case err == nil:
		if state, ok := m.(PersonalState); ok && state.Frame != nil {
			state.Frame = json.RawMessage(text)
			m = state
		}
		return m, nil
	case form.fallback != nil:
		return form.fallback(f), nil
	}
	return Unknown{kind}, nil
}

// openMessage checks the rules that hold for every text message, and gives its
// type.
func openMessage(f *jsonform.Form, size int) (kind string, err error) {
	f.Text("type", jsonform.Required, &kind, jsonform.Anything)
	if f.Err() == nil && size > MaxText && kind != "personal.state" && kind != "personal.result" {
		return "", ErrTooLong
	}
	// Clients read these four by their spelling, in messages of every type.
	for _, name := range []string{"generation_epoch", "sequence", "protocol_version", "played_ms"} {
		token, there := f.Token(name)
		if _, ok := jsonform.Integer(token); there && !ok && token != "null" {
			f.Fail(name, jsonform.ErrNumber)
		}
	}
	return kind, f.Err()
}

// readMessage reads the message M. P is *M.
func readMessage[M Message, P interface {
	*M
	schema
}](f *jsonform.Form) (Message, error) {
	var m M
	P(&m).form(f)
	if _, err := f.Done(); err != nil {
		return nil, err
	}
	return m, nil
}

// requireAll wants the whole message to be good.
func requireAll[M any, P interface {
	*M
	schema
}](f *jsonform.Form) {
	var m M
	P(&m).form(f)
}

func requireText(name string, good jsonform.Rule) func(*jsonform.Form) {
	return func(f *jsonform.Form) {
		var s string
		f.Text(name, jsonform.Required, &s, good)
	}
}
