package host

import (
	"context"
	"errors"

	"plexus/domain/nova"
)

// Refusals of a control. The client gets the receipt "rejected" and nothing more.
var (
	ErrUnknownTarget = errors.New("the control names a conversation that is not there")
	ErrNoVoice       = errors.New("this host cannot hear or speak")
	ErrNoInput       = errors.New("this host takes no text from a client")
	ErrNotGranted    = errors.New("the personal extension was not granted")
)

// DeliverControl takes one command of the connected client. nil is no more than
// "it was handed over": what it names may be gone already.
func (c *Clients) DeliverControl(_ context.Context, control nova.Control) error {
	switch m := control.(type) {
	case nova.ConfirmationDecision:
		return scoped(m.ConversationID)
	case nova.ApprovalDecision:
		return scoped(m.ConversationID)
	case nova.InputAudio:
		return ErrNoVoice
	case nova.InputDictation:
		if m.Action == nova.DictationCancel {
			return nil // no draft is left to cancel: clients send it after each one
		}
		return ErrNoVoice
	case nova.InputText:
		return ErrNoInput
	case nova.PersonalCommand:
		return ErrNotGranted
	}
	// Speech and playback of which there is none, clock and diagnostics.
	return nil
}

// scoped refuses a decision for a conversation, since there are none; it never
// falls back to another scope (decision K14).
func scoped(conversation string) error {
	if conversation != "" {
		return ErrUnknownTarget
	}
	return nil
}
