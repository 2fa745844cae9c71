package nova

import (
	"unicode/utf8"

	"plexus/domain/jsonscan"
	"plexus/domain/nova/jsonform"
)

// Message is a text message of the host: one of the types with a Type method
// here. Append writes it, DecodeMessage reads it.
type Message interface {
	// Type is the message's name on the wire.
	Type() string
	message() schema // a copy, with its schema
}

// PlaybackClear: drop all audio of this generation and of older ones.
type PlaybackClear struct{ Generation }

// PlaybackAlert: playback was cut. The generation is optional.
type PlaybackAlert struct{ Generation Optional[Generation] }

// PlaybackTerminal: no more frames of this generation follow.
type PlaybackTerminal struct{ Generation }

// Role is who speaks in a caption.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Caption is what was said, or is being said. "" in an optional member means
// absent.
type Caption struct {
	TurnID         string // optional, opaque
	WorkID         string // optional
	Executor       string // optional
	Project        string // optional, at most 240 code points
	Title          string // optional, at most 240 code points
	Role           Role
	Text           string // accumulated; Append keeps the last MaxCaptionPoints
	Final          bool
	Sequence       uint64
	MessageID      string // optional
	FullText       string // optional, finals only; Append cuts it so that the message fits
	ConversationID string // optional
}

// TextError is why a submitted text did not go through.
type TextError string

// The errors of input.text_result.
const (
	SubmissionFailed  TextError = "submission_failed"
	OutcomeUnknown    TextError = "outcome_unknown"
	RequestIDConflict TextError = "request_id_conflict"
	RequestCapacity   TextError = "request_capacity"
)

// TextResult is input.text_result: ok when Error is "".
type TextResult struct {
	RequestID      string
	ConversationID string // optional
	Error          TextError
}

// Transcription is input.transcription: the text, or recognition_failed when
// Text is "".
type Transcription struct {
	ID             string
	ConversationID string // optional
	Text           string // not blank, at most MaxInputUnits; "" is a failure
}

// ClockPing asks for the client's clock.
type ClockPing struct{ PingID string }

// ConversationError is conversation.error: an admitted turn failed.
type ConversationError struct {
	ConversationID string
	Error          string
}

func (PlaybackClear) Type() string     { return "playback.clear" }
func (PlaybackAlert) Type() string     { return "playback.alert" }
func (PlaybackTerminal) Type() string  { return "playback.terminal" }
func (Caption) Type() string           { return "caption" }
func (TextResult) Type() string        { return "input.text_result" }
func (Transcription) Type() string     { return "input.transcription" }
func (ClockPing) Type() string         { return "clock.ping" }
func (ConversationError) Type() string { return "conversation.error" }

func (m PlaybackClear) message() schema     { return &m }
func (m PlaybackAlert) message() schema     { return &m }
func (m PlaybackTerminal) message() schema  { return &m }
func (m Caption) message() schema           { return &m }
func (m TextResult) message() schema        { return &m }
func (m Transcription) message() schema     { return &m }
func (m ClockPing) message() schema         { return &m }
func (m ConversationError) message() schema { return &m }

// Append appends m as one text message of at most MaxText bytes, a personal.state
// or personal.result of at most MaxPersonalText: what is longer becomes its
// marker that the state has to be loaded again (nova-personal §9.5). An error means
// that m breaks a bound, or with ErrTooLong that it is too long as a whole:
// nothing was appended and nothing may be sent.
func Append(dst []byte, m Message) ([]byte, error) {
	switch m := m.(type) {
	case Caption:
		return appendObject(dst, m.Type(), MaxText, m.shortened().message())
	case PersonalState:
		return m.append(dst, MaxPersonalText), nil
	case PersonalResult:
		return m.append(dst, MaxPersonalText)
	}
	return appendObject(dst, m.Type(), MaxText, m.message())
}

func (m *PlaybackClear) form(f *jsonform.Form) {
	f.ASCII()
	m.Generation.form(f)
}

func (m *PlaybackAlert) form(f *jsonform.Form) {
	f.ASCII()
	if m.Generation.Set || f.Has("utterance_id") || f.Has("generation_epoch") {
		m.Generation.Set = true
		m.Generation.Value.form(f)
	}
}

func (m *PlaybackTerminal) form(f *jsonform.Form) {
	f.ASCII()
	m.Generation.form(f)
}

func (m *Caption) form(f *jsonform.Form) {
	f.Text("turn_id", jsonform.Omitted, &m.TurnID, id256)
	f.Text("work_id", jsonform.Omitted, &m.WorkID, id256)
	f.Text("executor", jsonform.Omitted, &m.Executor, id256)
	f.Text("project", jsonform.Omitted, &m.Project, jsonform.Points(1, 240))
	f.Text("title", jsonform.Omitted, &m.Title, jsonform.Points(1, 240))
	jsonform.Choice(f, "role", jsonform.Required, &m.Role, User, Assistant)
	f.Text("text", jsonform.Required, &m.Text, jsonform.Anything)
	f.Bool("final", &m.Final)
	f.Uint("sequence", &m.Sequence, 0, MaxSafeInteger)
	f.Text("message_id", jsonform.Omitted, &m.MessageID, id256)
	f.Text("full_text", jsonform.Omitted, &m.FullText, jsonform.Points(0, MaxFullTextPoints))
	f.Want("full_text", m.Final || m.FullText == "")
	formConversation(f, &m.ConversationID)
}

// shortened shortens what may be shortened: the shown text to its end, the full
// text to as much of its beginning as the message has room for.
func (m Caption) shortened() Caption {
	m.Text = lastPoints(m.Text, MaxCaptionPoints)
	full := firstPoints(m.FullText, MaxFullTextPoints)
	m.FullText = ""
	if full == "" || !utf8.ValidString(full) {
		m.FullText = full
		return m
	}
	bare, err := appendObject(nil, m.Type(), MaxText, m.message())
	if err == nil {
		m.FullText = full[:bytesThatFit(full, MaxText-len(bare)-len(`,"full_text":""`))]
	}
	return m
}

// bytesThatFit is how many bytes of s, in whole code points, need at most room bytes
// as JSON.
func bytesThatFit(s string, room int) int {
	var scratch [16]byte
	for i, r := range s {
		room -= len(jsonscan.AppendString(scratch[:0], string(r))) - len(`""`)
		if room < 0 {
			return i
		}
	}
	return len(s)
}

// firstPoints is the first n code points of s.
func firstPoints(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// lastPoints is the last n code points of s.
func lastPoints(s string, n int) string {
	end := len(s)
	for ; n > 0 && end > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[end:]
}

func (m *TextResult) form(f *jsonform.Form) {
	ok := m.Error == ""
	f.Text("request_id", jsonform.Required, &m.RequestID, id128u)
	f.Bool("ok", &ok)
	formConversation(f, &m.ConversationID)
	formCause(f, &m.Error, SubmissionFailed, OutcomeUnknown, RequestIDConflict, RequestCapacity)
	f.Want("ok", ok == (m.Error == ""))
}

func (m *Transcription) form(f *jsonform.Form) {
	f.Text("id", jsonform.Required, &m.ID, id256)
	formConversation(f, &m.ConversationID)
	failed := ""
	if !f.Reading() && m.Text == "" {
		failed = recognitionFailed
	}
	f.Text("text", jsonform.Omitted, &m.Text, userText)
	formCause(f, &failed, recognitionFailed)
	f.Want("error", (m.Text == "") == (failed != ""))
}

// recognitionFailed is the one word for every failure of a dictation.
const recognitionFailed = "recognition_failed"

// formCause is one of the causes this host knows. A client accepts any other cause
// too, as a failure.
func formCause[S ~string](f *jsonform.Form, v *S, causes ...S) {
	if cause, there := f.Peek("error"); there {
		causes = append(causes, S(cause))
	}
	jsonform.Choice(f, "error", jsonform.Omitted, v, causes...)
}

func (m *ClockPing) form(f *jsonform.Form) {
	f.Text("ping_id", jsonform.Required, &m.PingID, id256)
}

func (m *ConversationError) form(f *jsonform.Form) {
	f.Text("conversation_id", jsonform.Required, &m.ConversationID, id256)
	f.Text("error", jsonform.Required, &m.Error, jsonform.NotBlank(256))
}
