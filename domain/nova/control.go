package nova

import "encoding/json"

// Control is the payload of a client.command: one of the types below.
type Control interface {
	// Kind is the control's name on the wire.
	Kind() string
	control()
}

// Generation names one stretch of host speech.
type Generation struct {
	UtteranceID string // not blank, at most 256 code points
	Epoch       uint64 // 1…MaxSafeInteger
}

// SpeechOnset: the client heard its user begin to speak.
type SpeechOnset struct {
	SpeechID string
	RenderMS Optional[float64] // the client's own clock, milliseconds
}

// PlaybackStarted: the first samples of a generation are audible.
type PlaybackStarted struct {
	Generation
	RenderMS Optional[float64]
}

// PlaybackStopped: the client stopped a generation on its own.
type PlaybackStopped struct {
	Generation
	PlayedMS Optional[uint64]
	RenderMS Optional[float64]
}

// PlaybackDone: a generation was played to its end.
type PlaybackDone struct {
	Generation
	PlayedMS Optional[uint64]
	RenderMS Optional[float64]
}

// PlaybackCleared: the client dropped a generation as it was told to.
type PlaybackCleared struct {
	Generation
	PlayedMS Optional[uint64]
	RenderMS Optional[float64]
}

// ConfirmationDecision answers the proposal of a project.state.
type ConfirmationDecision struct {
	ProposalID     string
	Confirmed      bool
	ConversationID string // "" when the client named none
}

// ApprovalDecision answers an executor.approval.
type ApprovalDecision struct {
	Executor       string
	ApprovalID     string
	Decision       Decision
	ConversationID string
}

// ClockPong answers a clock.ping.
type ClockPong struct {
	PingID   string
	RenderMS float64
}

// Telemetry is a valid playback.telemetry.
type Telemetry struct {
	Generation
	Final                   bool
	WindowMS                uint64
	NearSilenceMSMax        uint64
	FrameGapMSMax           float64
	StdinDrainMSMax         float64
	QueuedSamples           uint64
	QueuedSamplesMax        uint64
	StdinBufferedBytesMax   uint64
	UnderrunSamples         uint64
	UnderrunCallbacks       uint64
	ConsecutiveUnderrunsMax uint64
	RenderCallbacks         uint64
	CallbackUSMax           uint64
	SequenceGaps            uint64
	RejectedFrames          uint64
	StdinBackpressureCount  uint64
}

// TelemetryRejected stands for every invalid playback.telemetry: it is counted,
// and the connection goes on.
type TelemetryRejected struct{}

// DiagnosticClosed: an earlier connection of the client ended.
type DiagnosticClosed struct {
	CloseCode uint64 // 0…4999
	Reason    string // one of the fixed words
}

// DiagnosticAttempt: the client is about to reconnect.
type DiagnosticAttempt struct {
	Attempt uint64 // 1…1000000
	DelayMS uint64 // 1…60000
}

// DiagnosticResult: how a reconnect ended.
type DiagnosticResult struct {
	Attempt   uint64 // 0…1000000
	Connected bool   // else the socket did not open
}

// InputAudio resumes live voice.
type InputAudio struct{ ConversationID string }

// DictationAction is what to do with a draft.
type DictationAction string

// The actions of input.dictation.
const (
	DictationStart  DictationAction = "start"
	DictationFinish DictationAction = "finish"
	DictationCancel DictationAction = "cancel"
)

// InputDictation steers a dictated draft.
type InputDictation struct {
	ID             string
	Action         DictationAction
	ConversationID string
}

// InputText submits what a person wrote. RequestID and InputInstanceID are ""
// in the uncorrelated form.
type InputText struct {
	Text            string // exact, 1…MaxInputUnits UTF-16 units
	RequestID       string
	InputInstanceID string
	ConversationID  string
	SourceTodo      Optional[TodoRef]
}

// TodoRef names a version of a list entry.
type TodoRef struct {
	ID      string // 1…512 UTF-16 units
	Version uint64
}

// PersonalCommand is an operation of the workbench.
type PersonalCommand struct {
	RequestID string
	Method    string          // any string: ask Admission
	Params    json.RawMessage // canonical JSON object
}

// Admission says what a method may do from a phone.
type Admission uint8

// The verdicts on a method.
const (
	MethodUnknown     Admission = iota // no such method: receipt rejected
	MethodNotAdmitted                  // exists, not for phones: receipt rejected
	MethodAdmitted
)

func (SpeechOnset) control()          {}
func (PlaybackStarted) control()      {}
func (PlaybackStopped) control()      {}
func (PlaybackDone) control()         {}
func (PlaybackCleared) control()      {}
func (ConfirmationDecision) control() {}
func (ApprovalDecision) control()     {}
func (ClockPong) control()            {}
func (Telemetry) control()            {}
func (TelemetryRejected) control()    {}
func (DiagnosticClosed) control()     {}
func (DiagnosticAttempt) control()    {}
func (DiagnosticResult) control()     {}
func (InputAudio) control()           {}
func (InputDictation) control()       {}
func (InputText) control()            {}
func (PersonalCommand) control()      {}

func (SpeechOnset) Kind() string          { return "speech.onset" }
func (PlaybackStarted) Kind() string      { return "playback.started" }
func (PlaybackStopped) Kind() string      { return "playback.stopped" }
func (PlaybackDone) Kind() string         { return "playback.done" }
func (PlaybackCleared) Kind() string      { return "playback.cleared" }
func (ConfirmationDecision) Kind() string { return "project.confirmation_decision" }
func (ApprovalDecision) Kind() string     { return "executor.approval_decision" }
func (ClockPong) Kind() string            { return "clock.pong" }
func (Telemetry) Kind() string            { return "playback.telemetry" }
func (TelemetryRejected) Kind() string    { return "playback.telemetry" }
func (DiagnosticClosed) Kind() string     { return "connection.diagnostic" }
func (DiagnosticAttempt) Kind() string    { return "connection.diagnostic" }
func (DiagnosticResult) Kind() string     { return "connection.diagnostic" }
func (InputAudio) Kind() string           { return "input.audio" }
func (InputDictation) Kind() string       { return "input.dictation" }
func (InputText) Kind() string            { return "input.text" }
func (PersonalCommand) Kind() string      { return "personal.command" }
