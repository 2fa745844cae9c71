package host

import (
	"errors"
	"testing"

	"plexus/domain/nova"
)

// TestDeliverControl_WhatIsRefused: a decision for a conversation that is not
// there is delivered nowhere, least of all elsewhere (decision K14), and nothing
// is taken that nobody would hear.
func TestDeliverControl_WhatIsRefused(t *testing.T) {
	c := newDesk(t).Clients
	const somewhere = "chat:other"
	for name, tc := range map[string]struct {
		control nova.Control
		want    error
	}{
		"confirmation elsewhere":  {nova.ConfirmationDecision{ProposalID: "p", Confirmed: true, ConversationID: somewhere}, ErrUnknownTarget},
		"approval elsewhere":      {nova.ApprovalDecision{Executor: "e", ApprovalID: "a", ConversationID: somewhere}, ErrUnknownTarget},
		"confirmation of nothing": {nova.ConfirmationDecision{ProposalID: "p"}, nil},
		"approval of nothing":     {nova.ApprovalDecision{Executor: "e", ApprovalID: "a"}, nil},
		"audio":                   {nova.InputAudio{}, ErrNoVoice},
		"dictation starts":        {nova.InputDictation{Action: nova.DictationStart}, ErrNoVoice},
		"dictation is cancelled":  {nova.InputDictation{Action: nova.DictationCancel}, nil},
		"text":                    {nova.InputText{Text: "hello"}, ErrNoInput},
		"personal":                {nova.PersonalCommand{Method: "conversations.list"}, ErrNotGranted},
		"speech":                  {nova.SpeechOnset{SpeechID: "s"}, nil},
	} {
		if err := c.DeliverControl(t.Context(), tc.control); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}
