package nova

import (
	"cmp"
	"encoding/json"
	"strconv"

	"plexus/domain/nova/jsonform"
)

// MaxDesktopText bounds personal frames to the owner's own page, in bytes.
const MaxDesktopText = 8 << 20

// PersonalState is personal.state. Frame is the whole message as it was
// composed; without one the message only says that the state has changed and is
// too large to be sent.
type PersonalState struct {
	Revision uint64
	Frame    json.RawMessage
}

// PersonalResult is personal.result: ok when Error is "".
type PersonalResult struct {
	RequestID      string
	Error          string
	Data           json.RawMessage // any value, or none
	ReloadRequired bool            // it was done, and Data is not here
	InputStatus    string          // of tasks.input that failed: failed, unknown, or ""
	InputTaskID    string
	// Revision is that of the snapshot in Data, 0 for none. It is not on the wire.
	Revision uint64
}

// PersonalError is personal.error, which the owner's page gets in place of a state
// that is too large.
type PersonalError struct{ Error string }

// tooLarge replaces what exceeds MaxDesktopText.
const tooLarge = "personal_frame_too_large"

func (PersonalState) Type() string  { return "personal.state" }
func (PersonalResult) Type() string { return "personal.result" }
func (PersonalError) Type() string  { return "personal.error" }

func (m PersonalState) message() schema  { return &m }
func (m PersonalResult) message() schema { return &m }
func (m PersonalError) message() schema  { return &m }

// form is the marker; a whole state is never written by a schema. A client that
// reads keeps the whole text aside.
func (m *PersonalState) form(f *jsonform.Form) {
	marker := len(m.Frame) == 0
	f.Uint("revision", &m.Revision, 0, MaxSafeInteger)
	formFlag(f, "reload_required", &marker)
}

func (m *PersonalResult) form(f *jsonform.Form) {
	ok := m.Error == ""
	f.Text("request_id", jsonform.Required, &m.RequestID, id128u)
	f.Bool("ok", &ok)
	f.Value("data", &m.Data)
	f.Text("error", jsonform.Omitted, &m.Error, jsonform.NotBlank(MaxText))
	f.Want("error", ok == (m.Error == ""))
	f.Text("input_status", jsonform.Omitted, &m.InputStatus, jsonform.NotBlank(256))
	f.Text("input_task_id", jsonform.Omitted, &m.InputTaskID, jsonform.NotBlank(512))
	formFlag(f, "reload_required", &m.ReloadRequired)
}

func (m *PersonalError) form(f *jsonform.Form) {
	f.Text("error", jsonform.Required, &m.Error, jsonform.NotBlank(256))
}

// formFlag is true or absent.
func formFlag(f *jsonform.Form, name string, v *bool) {
	if f.Reading() && !f.Has(name) || !f.Reading() && !*v {
		*v = false
		return
	}
	f.Bool(name, v)
}

// append appends a state, or its marker where it is longer than limit.
func (m PersonalState) append(dst []byte, limit int) []byte {
	if 0 < len(m.Frame) && len(m.Frame) <= limit {
		return append(dst, m.Frame...)
	}
	dst = append(dst, `{"type":"personal.state","revision":`...)
	return append(strconv.AppendUint(dst, m.Revision, 10), `,"reload_required":true}`...)
}

// append appends a result, without its data where it would be longer than limit.
func (m PersonalResult) append(dst []byte, limit int) ([]byte, error) {
	out, err := appendObject(dst, m.Type(), limit, &m)
	if err == nil || len(m.Data) == 0 {
		return out, err
	}
	m.Data, m.ReloadRequired = nil, true
	return appendObject(dst, m.Type(), limit, &m)
}

// AppendDesktop is Append for the owner's page, where personal frames may have
// MaxDesktopText bytes, and have other replacements (nova-personal §1.4).
func AppendDesktop(dst []byte, m Message) ([]byte, error) {
	switch m := m.(type) {
	case PersonalState:
		if len(m.Frame) > MaxDesktopText {
			return Append(dst, PersonalError{tooLarge})
		}
		return m.append(dst, MaxDesktopText), nil
	case PersonalResult:
		if len(m.Data) > MaxDesktopText-MaxText {
			m = PersonalResult{RequestID: m.RequestID, Error: tooLarge, InputStatus: cmp.Or(m.InputStatus, "unknown"), InputTaskID: m.InputTaskID}
		}
		return m.append(dst, MaxDesktopText)
	}
	return Append(dst, m)
}
