package nova

import (
	"slices"

	"plexus/domain/nova/jsonform"
)

// Control is the payload of a client.command: one of the types below.
type Control interface {
	// Kind is the control's name on the wire.
	Kind() string
	control() schema // a copy, with its schema
}

// Generation names one stretch of host speech.
type Generation struct {
	UtteranceID string // not blank, at most 256 code points
	Epoch       uint64 // 1…MaxSafeInteger
}

// SpeechOnset says that the client heard its user begin to speak.
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
type PlaybackDone PlaybackStopped

// PlaybackCleared: the client dropped a generation as it was told to.
type PlaybackCleared PlaybackStopped

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

// TaskAction asks to open or cancel what an executor works on (§19.4).
type TaskAction struct {
	RequestID string // these three 1…128 UTF-16 units, not blank, printable
	WorkID    string
	Executor  string
	Action    string // open, cancel
}

// ProgressNarration chooses how much of an executor's progress is told.
type ProgressNarration struct{ Mode string } // smart, continuous

func (c SpeechOnset) control() schema          { return &c }
func (c PlaybackStarted) control() schema      { return &c }
func (c PlaybackStopped) control() schema      { return &c }
func (c PlaybackDone) control() schema         { return &c }
func (c PlaybackCleared) control() schema      { return &c }
func (c ConfirmationDecision) control() schema { return &c }
func (c ApprovalDecision) control() schema     { return &c }
func (c ClockPong) control() schema            { return &c }
func (c Telemetry) control() schema            { return &c }
func (c TelemetryRejected) control() schema    { return &c }
func (c DiagnosticClosed) control() schema     { return &c }
func (c DiagnosticAttempt) control() schema    { return &c }
func (c DiagnosticResult) control() schema     { return &c }
func (c TaskAction) control() schema           { return &c }
func (c ProgressNarration) control() schema    { return &c }

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

func (TaskAction) Kind() string        { return "executor.task_action" }
func (ProgressNarration) Kind() string { return "coding.progress_narration" }

func (g *Generation) form(f *jsonform.Form) {
	f.Text("utterance_id", jsonform.Required, &g.UtteranceID, id256)
	f.Uint("generation_epoch", &g.Epoch, 1, MaxSafeInteger)
}

func formRender(f *jsonform.Form, v *Optional[float64]) {
	f.OptionalNumber("t_render_ms", jsonform.Omitted, v, 0, MaxSafeInteger)
}

func formConversation(f *jsonform.Form, id *string) {
	f.Text("conversation_id", jsonform.Omitted, id, id256)
}

func (c *SpeechOnset) form(f *jsonform.Form) {
	f.Text("speech_id", jsonform.Required, &c.SpeechID, id256)
	formRender(f, &c.RenderMS)
}

func (c *PlaybackStarted) form(f *jsonform.Form) {
	c.Generation.form(f)
	formRender(f, &c.RenderMS)
}

func (c *PlaybackStopped) form(f *jsonform.Form) {
	c.Generation.form(f)
	f.OptionalUint("played_ms", jsonform.Omitted, &c.PlayedMS, 0, MaxSafeInteger)
	formRender(f, &c.RenderMS)
}

func (c *PlaybackDone) form(f *jsonform.Form)    { (*PlaybackStopped)(c).form(f) }
func (c *PlaybackCleared) form(f *jsonform.Form) { (*PlaybackStopped)(c).form(f) }

func (c *ConfirmationDecision) form(f *jsonform.Form) {
	f.Text("proposal_id", jsonform.Required, &c.ProposalID, id128)
	f.Bool("confirmed", &c.Confirmed)
	formConversation(f, &c.ConversationID)
}

func (c *ApprovalDecision) form(f *jsonform.Form) {
	approved, scope := c.Decision != Decline, ""
	if c.Decision == AcceptForSession {
		scope = "session"
	}
	f.Text("executor", jsonform.Required, &c.Executor, id256)
	f.Text("approval_id", jsonform.Required, &c.ApprovalID, id128)
	f.Bool("approved", &approved)
	jsonform.Choice(f, "scope", jsonform.Omitted, &scope, "session")
	f.Want("scope", approved || scope == "")
	formConversation(f, &c.ConversationID)
	switch {
	case !f.Reading():
	case !approved:
		c.Decision = Decline
	case scope == "":
		c.Decision = Accept
	default:
		c.Decision = AcceptForSession
	}
	f.Want("approved", slices.Contains(decisions[:], c.Decision))
}

func (c *TaskAction) form(f *jsonform.Form) {
	f.Text("request_id", jsonform.Required, &c.RequestID, taskID)
	f.Text("work_id", jsonform.Required, &c.WorkID, taskID)
	f.Text("executor", jsonform.Required, &c.Executor, taskID)
	jsonform.Choice(f, "action", jsonform.Required, &c.Action, "open", "cancel")
}

func (c *ProgressNarration) form(f *jsonform.Form) {
	jsonform.Choice(f, "mode", jsonform.Required, &c.Mode, "smart", "continuous")
}

func (c *ClockPong) form(f *jsonform.Form) {
	f.Text("ping_id", jsonform.Required, &c.PingID, id256)
	f.Number("t_render_ms", &c.RenderMS, 0, MaxSafeInteger)
}

func (c *Telemetry) form(f *jsonform.Form) {
	const (
		day       = 86_400_000 // milliseconds
		samples   = 16_777_216
		total     = 4_294_967_295
		minute    = 60_000_000 // microseconds
		incidents = 1_000_000
	)
	c.Generation.form(f)
	f.Bool("final", &c.Final)
	f.Uint("window_ms", &c.WindowMS, 0, day)
	f.Uint("pcm_near_silence_ms_max", &c.NearSilenceMSMax, 0, day)
	f.Number("frame_gap_ms_max", &c.FrameGapMSMax, 0, day)
	f.Number("stdin_drain_ms_max", &c.StdinDrainMSMax, 0, day)
	f.Uint("queued_samples", &c.QueuedSamples, 0, samples)
	f.Uint("queued_samples_max", &c.QueuedSamplesMax, 0, samples)
	f.Uint("stdin_buffered_bytes_max", &c.StdinBufferedBytesMax, 0, samples)
	f.Uint("underrun_samples", &c.UnderrunSamples, 0, total)
	f.Uint("underrun_callbacks", &c.UnderrunCallbacks, 0, total)
	f.Uint("max_consecutive_underrun_samples", &c.ConsecutiveUnderrunsMax, 0, total)
	f.Uint("render_callbacks", &c.RenderCallbacks, 0, total)
	f.Uint("max_callback_us", &c.CallbackUSMax, 0, minute)
	f.Uint("sequence_gaps", &c.SequenceGaps, 0, incidents)
	f.Uint("rejected_frames", &c.RejectedFrames, 0, incidents)
	f.Uint("stdin_backpressure_count", &c.StdinBackpressureCount, 0, incidents)
}

func (c *TelemetryRejected) form(*jsonform.Form) {}

func (c *DiagnosticClosed) form(f *jsonform.Form) {
	formConstant(f, "phase", "closed")
	f.Uint("close_code", &c.CloseCode, 0, 4999)
	jsonform.Choice(f, "reason", jsonform.Required, &c.Reason, "normal", "going_away", "protocol_error",
		"unsupported_data", "abnormal", "policy", "message_too_big", "internal_error", "protocol_rejected",
		"client_unavailable", "other")
}

func (c *DiagnosticAttempt) form(f *jsonform.Form) {
	formConstant(f, "phase", "reconnect_attempt")
	f.Uint("attempt", &c.Attempt, 1, 1_000_000)
	f.Uint("delay_ms", &c.DelayMS, 1, 60_000)
}

func (c *DiagnosticResult) form(f *jsonform.Form) {
	result := "open_failed"
	if c.Connected {
		result = "connected"
	}
	formConstant(f, "phase", "reconnect_result")
	f.Uint("attempt", &c.Attempt, 0, 1_000_000)
	jsonform.Choice(f, "result", jsonform.Required, &result, "connected", "open_failed")
	c.Connected = result == "connected"
}
