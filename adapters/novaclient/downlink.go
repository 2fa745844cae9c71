package novaclient

import (
	"errors"
	"slices"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
)

// errSenseless: a message of a known type that cannot be used.
var errSenseless = errors.New("a member is wrong or missing")

// readMessage reads a text message. limit is its longest length in bytes.
func readMessage(text []byte, limit int, p Profile) (nova.Message, error) {
	if len(text) > limit {
		return nil, &Fault{"a text message is too long", nil}
	}
	m, err := nova.DecodeMessage(text)
	if err != nil {
		return nil, &Fault{"a text message cannot be read", err}
	}
	if p == Flutter && spoilt(m, text) {
		return nil, &Fault{"a " + m.Type() + " cannot be used", errSenseless}
	}
	return m, nil
}

// spoilt finds what DecodeMessage has passed over for the lenient family: a
// message of a type that is acted upon, and a question that is not shown.
func spoilt(m nova.Message, text []byte) bool {
	switch m := m.(type) {
	case nova.Unknown:
		return slices.Contains(actedUpon(), m.Name)
	case nova.ProjectState:
		return !m.Pending.Set && !isFalse(text, "pending_confirmation")
	case nova.ExecutorApproval:
		return !m.Pending.Set && !isFalse(text, "pending_approval")
	}
	return false
}

func isFalse(text []byte, member string) bool {
	members, err := jsonform.Object(text)
	return err == nil && string(members[member]) == "false"
}

// actedUpon are the types whose content matters. The others are status texts or
// nothing at all to an app.
func actedUpon() []string {
	return []string{
		"client.command_result", "desktop.capabilities", "caption", "input.text_result", "input.transcription",
		"personal.result", "executor.state", "executor.progress", "executor.result",
	}
}

// textLimit is how long a text message may be, in bytes.
func textLimit(p Profile, personal bool) int {
	if p == Flutter && personal {
		return nova.MaxPersonalText
	}
	return nova.MaxText
}
