package nova

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"plexus/domain/nova/jsonform"
)

// Command is the envelope of every client message after hello. Its payload is
// an object, and nothing more is known of it until Control reads it.
type Command struct {
	RequestID    string         // 1…128 UTF-16 units
	ConnectionID string         // 1…128 UTF-16 units
	payload      *jsonform.Form // of one that was read
	control      Control        // of one that is to be written
}

// Fingerprint is the SHA-256 of a control as AppendCommand writes it: equal for
// two payloads that mean the same. A control holds what its schema keeps: no
// unknown members, numbers by value, defaults filled in, params in canonical
// form.
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

func (c *Command) form(f *jsonform.Form) {
	f.Text("request_id", jsonform.Required, &c.RequestID, id128u)
	f.Text("connection_id", jsonform.Required, &c.ConnectionID, id128u)
	if f.Reading() {
		c.payload = f.Part("payload")
	} else {
		f.Object("payload", func(f *jsonform.Form) {
			f.Kind(c.control.Kind())
			c.control.control().form(f)
		})
	}
}

// DecodeCommand reads a client.command up to its payload. An error is a protocol
// fault. So is more than MaxText, unless a person's text alone is too long.
func DecodeCommand(text []byte) (Command, error) {
	var c Command
	f := jsonform.Read(text).Strict()
	f.Kind("client.command")
	c.form(f)
	_, err := f.Done()
	if err == nil && len(text) > MaxText && !holdsLongText(c.payload) {
		err = ErrTooLong
	}
	if err != nil {
		return Command{}, fmt.Errorf("nova: read client.command: %w", err)
	}
	return c, nil
}

// holdsLongText reports whether a payload is an input.text that is refused for what
// a person wrote, however long that is (decision K16).
func holdsLongText(payload *jsonform.Form) bool {
	kind, _ := payload.Peek("type")
	text, ok := payload.Peek("text")
	return kind == InputText{}.Kind() && ok && !userText(text)
}

// Control reads the payload, once. An error is a protocol fault. Two payloads
// that mean the same give equal controls and equal fingerprints.
//
// Every number of the payload must be finite and, if integral, safe, also in
// members that no schema reads.
func (c Command) Control() (Control, Fingerprint, error) {
	control, written, err := decodeControl(c.payload.Echo(make([]byte, 0, 512)))
	if err != nil {
		return nil, Fingerprint{}, err
	}
	return control, sha256.Sum256(written), nil
}

// DecodeControl reads a control that came without an envelope, as Control does. The
// bound of its length is that of DecodeCommand.
func DecodeControl(payload []byte) (Control, error) {
	f := jsonform.Read(payload)
	if len(payload) > MaxText && !holdsLongText(f) {
		return nil, fmt.Errorf("nova: read a control: %w", ErrTooLong)
	}
	control, _, err := decodeControl(f)
	return control, err
}

// controlForm reads one kind of control, and gives what the form has echoed.
type controlForm struct {
	strict bool // unknown members are a fault
	read   func(*jsonform.Form) (c Control, written []byte, err error)
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
	"executor.task_action":          {true, readControl[TaskAction]},
	"coding.progress_narration":     {true, readControl[ProgressNarration]},
	"clock.pong":                    {false, readControl[ClockPong]},
	"playback.telemetry": {true, func(f *jsonform.Form) (Control, []byte, error) {
		if c, written, err := readControl[Telemetry](f); err == nil {
			return c, written, nil
		}
		// What is wrong with a measurement is counted, and all wrong ones count as one
		// and the same control.
		return TelemetryRejected{}, []byte(TelemetryRejected{}.Kind()), nil
	}},
	"connection.diagnostic": {true, func(f *jsonform.Form) (Control, []byte, error) {
		switch phase, _ := f.Peek("phase"); phase {
		case "closed":
			return readControl[DiagnosticClosed](f)
		case "reconnect_attempt":
			return readControl[DiagnosticAttempt](f)
		}
		return readControl[DiagnosticResult](f)
	}},
	"input.audio":      {true, readControl[InputAudio]},
	"input.dictation":  {true, readControl[InputDictation]},
	"input.text":       {true, readControl[InputText]},
	"personal.command": {true, readControl[PersonalCommand]},
}

func decodeControl(f *jsonform.Form) (c Control, written []byte, err error) {
	if err := jsonform.CheckNumbers(f); err != nil {
		return nil, nil, fmt.Errorf("nova: read payload: %w", err)
	}
	kind, _ := f.Peek("type")
	form, known := controlForms[kind]
	if !known {
		return nil, nil, errUnknownControl
	}
	f.Kind(kind)
	if form.strict {
		f.Strict()
	}
	if c, written, err = form.read(f); err != nil {
		return nil, nil, fmt.Errorf("nova: read %s: %w", kind, err)
	}
	return c, written, nil
}

var errUnknownControl = errors.New("nova: unknown control")

// readControl reads the control C. P is *C.
func readControl[C Control, P interface {
	*C
	schema
}](f *jsonform.Form) (Control, []byte, error) {
	var c C
	P(&c).form(f)
	written, err := f.Done()
	return c, written, err
}

// AppendCommand appends a client.command that carries c.
func AppendCommand(dst []byte, requestID, connectionID string, c Control) ([]byte, error) {
	return appendObject(dst, "client.command", MaxText, &Command{RequestID: requestID, ConnectionID: connectionID, control: c})
}

func (Receipt) Type() string      { return "client.command_result" }
func (r Receipt) message() schema { return &r }

func (r *Receipt) form(f *jsonform.Form) {
	f.Text("request_id", jsonform.Required, &r.RequestID, id128u)
	jsonform.Choice(f, "status", jsonform.Required, &r.Status, Applied, Rejected, Stale)
}
