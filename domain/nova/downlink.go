package nova

// Message is a text message of the host: one of the types with a Type method
// here. Append writes it, DecodeMessage reads it.
type Message interface {
	// Type is the message's name on the wire.
	Type() string
	message()
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

// Unknown is a message of a type that this side does not know. Clients ignore
// it; Append refuses it.
type Unknown struct{ Name string }
