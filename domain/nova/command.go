package nova

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"plexus/domain/nova/jsonform"
)

// Command is the envelope of every client message after hello. Its payload is
// an object, and nothing more is known of it until DecodeControl.
type Command struct {
	RequestID    string // 1…128 UTF-16 units
	ConnectionID string // 1…128 UTF-16 units
	Payload      json.RawMessage
}

// Fingerprint is the SHA-256 of a normalised control: equal for two payloads
// that mean the same.
type Fingerprint [sha256.Size]byte

// Status is the verdict of a receipt.
type Status string

// The three verdicts.
const (
	Applied  Status = "applied"  // handed to the host, which returned normally
	Rejected Status = "rejected" // conflicting retry, full ledger, refused or failed
	Stale    Status = "stale"    // another connection's id
)

// Receipt is client.command_result.
type Receipt struct {
	RequestID string
	Status    Status
}

// form is the envelope; the payload stays as it is.
func (c *Command) form(f *jsonform.Form) {
	f.Kind("client.command")
	f.Text("request_id", jsonform.Required, &c.RequestID, id128u)
	f.Text("connection_id", jsonform.Required, &c.ConnectionID, id128u)
	f.Verbatim("payload", &c.Payload)
}

// DecodeCommand reads a client.command up to its payload, which is only known to
// be an object. An error is a protocol fault.
func DecodeCommand(text []byte) (Command, error) {
	if len(text) > MaxText {
		return Command{}, fmt.Errorf("nova: read client.command: %w", ErrTooLong)
	}
	var c Command
	f := jsonform.Read(text).Strict()
	c.form(f)
	if _, err := f.Done(); err != nil {
		return Command{}, fmt.Errorf("nova: read client.command: %w", err)
	}
	return c, nil
}

// controlForm reads one kind of control.
type controlForm struct {
	strict bool // unknown members are a fault
	read   func(*jsonform.Form) (Control, error)
}

// controlForms is the table of everything that a client may ask. What is not
// here, camera and debug messages among it, is a fault.
var controlForms = map[string]controlForm{
	"speech.onset":                  {false, readControl[SpeechOnset]},
	"playback.started":              {false, readControl[PlaybackStarted]},
	"playback.stopped":              {false, readControl[PlaybackStopped]},
	"playback.done":                 {false, readControl[PlaybackDone]},
	"playback.cleared":              {false, readControl[PlaybackCleared]},
	"project.confirmation_decision": {true, readControl[ConfirmationDecision]},
	"executor.approval_decision":    {true, readControl[ApprovalDecision]},
	"clock.pong":                    {false, readControl[ClockPong]},
	"playback.telemetry":            {true, readTelemetry},
	"connection.diagnostic":         {true, readDiagnostic},
	"input.audio":                   {true, readControl[InputAudio]},
	"input.dictation":               {true, readControl[InputDictation]},
	"input.text":                    {true, readControl[InputText]},
	"personal.command":              {true, readControl[PersonalCommand]},
}

// DecodeControl reads the payload of a client.command. An error is a protocol
// fault. Two payloads that mean the same give equal controls.
//
// Every number of the payload must be finite and, if integral, safe, also in
// members that nobody reads.
func DecodeControl(payload json.RawMessage) (Control, error) {
	canonical, err := jsonform.Canonical(payload)
	if err != nil {
		return nil, fmt.Errorf("nova: read payload: %w", err)
	}
	f := jsonform.Read(canonical)
	kind, _ := f.Peek("type")
	form, known := controlForms[kind]
	if !known {
		return nil, errUnknownControl
	}
	if form.strict {
		f.Strict()
	}
	c, err := form.read(f)
	if err != nil {
		return nil, fmt.Errorf("nova: read %s: %w", kind, err)
	}
	return c, nil
}

var errUnknownControl = errors.New("nova: unknown control")

// readControl reads the control C. P is *C.
func readControl[C Control, P interface {
	*C
	former
}](f *jsonform.Form) (Control, error) {
	var c C
	P(&c).form(f)
	if _, err := f.Done(); err != nil {
		return nil, err
	}
	return c, nil
}

// readTelemetry never fails: what is wrong with a measurement is counted, and
// all wrong ones count as one and the same control.
func readTelemetry(f *jsonform.Form) (Control, error) {
	if c, err := readControl[Telemetry](f); err == nil {
		return c, nil
	}
	return TelemetryRejected{}, nil
}

func readDiagnostic(f *jsonform.Form) (Control, error) {
	switch phase, _ := f.Peek("phase"); phase {
	case "closed":
		return readControl[DiagnosticClosed](f)
	case "reconnect_attempt":
		return readControl[DiagnosticAttempt](f)
	}
	return readControl[DiagnosticResult](f)
}

// AppendCommand appends a client.command that carries c.
func AppendCommand(dst []byte, requestID, connectionID string, c Control) ([]byte, error) {
	payload, err := appendControl(nil, c)
	if err != nil {
		return dst, err
	}
	return seal(dst, "client.command", MaxText, jsonform.Write(dst), &Command{requestID, connectionID, payload})
}

// Normalise gives the fingerprint of a control that DecodeControl returned.
//
// A control holds what its schema keeps: no unknown members, numbers by value,
// defaults filled in, params in canonical form. Written out, two payloads that
// mean the same are the same bytes.
func Normalise(c Control) Fingerprint {
	text, err := appendControl(nil, c)
	if err != nil {
		return Fingerprint{} // a control made by hand, wrongly
	}
	return sha256.Sum256(text)
}

func appendControl(dst []byte, c Control) ([]byte, error) {
	return seal(dst, c.Kind(), MaxText, jsonform.Write(dst), c.control())
}

func (Receipt) Type() string      { return "client.command_result" }
func (r Receipt) message() former { return &r }

func (r *Receipt) form(f *jsonform.Form) {
	f.Kind("client.command_result")
	f.Text("request_id", jsonform.Required, &r.RequestID, id128u)
	jsonform.Choice(f, "status", jsonform.Required, &r.Status, Applied, Rejected, Stale)
}
