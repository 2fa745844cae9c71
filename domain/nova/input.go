package nova

import (
	"encoding/json"
	"strings"

	"plexus/domain/nova/jsonform"
)

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
	Text            string // exact; the host refuses what is not Usable
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
	Method    string          // any string
	Params    json.RawMessage // canonical JSON object
}

func (c InputAudio) control() schema      { return &c }
func (c InputDictation) control() schema  { return &c }
func (c InputText) control() schema       { return &c }
func (c PersonalCommand) control() schema { return &c }

func (InputAudio) Kind() string      { return "input.audio" }
func (InputDictation) Kind() string  { return "input.dictation" }
func (InputText) Kind() string       { return "input.text" }
func (PersonalCommand) Kind() string { return "personal.command" }

func (c *InputAudio) form(f *jsonform.Form) {
	formConversation(f, &c.ConversationID)
}

func (c *InputDictation) form(f *jsonform.Form) {
	f.Text("id", jsonform.Required, &c.ID, id256)
	jsonform.Choice(f, "action", jsonform.Required, &c.Action, DictationStart, DictationFinish, DictationCancel)
	formConversation(f, &c.ConversationID)
}

func (c *InputText) form(f *jsonform.Form) {
	f.Text("text", jsonform.Required, &c.Text, jsonform.Anything)
	f.Text("request_id", jsonform.Omitted, &c.RequestID, id128u)
	f.Text("input_instance_id", jsonform.Omitted, &c.InputInstanceID, id128u)
	formConversation(f, &c.ConversationID)
	jsonform.OptionalObject(f, "source_todo", jsonform.Omitted, &c.SourceTodo, func(f *jsonform.Form, t *TodoRef) {
		f.Text("id", jsonform.Required, &t.ID, jsonform.Units(1, 512))
		f.Uint("version", &t.Version, 0, MaxSafeInteger)
	})
}

// Usable reports whether the text can be submitted: it is not blank, and has at
// most MaxInputUnits UTF-16 units. Any other is refused and is no fault, since it
// is what a person wrote and not how the client speaks (decision K16).
func (c InputText) Usable() bool { return userText(c.Text) }

// userText is the rule of a person's text: not blank, and not too long.
func userText(s string) bool {
	return strings.TrimFunc(s, jsonform.IsTrimmed) != "" && jsonform.UnitCount(s) <= MaxInputUnits
}

func (c *PersonalCommand) form(f *jsonform.Form) {
	f.Text("request_id", jsonform.Required, &c.RequestID, id128u)
	f.Text("method", jsonform.Required, &c.Method, jsonform.Anything)
	f.Raw("params", &c.Params)
}
