package workbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plexus/domain/nova"
)

// MobileSnapshot is personal.state as a phone gets it: these members and no
// others (nova-personal §9.3). Members that hold nothing yet are raw.
type MobileSnapshot struct {
	Type                 string              `json:"type"`
	Revision             uint64              `json:"revision"`
	Memory               json.RawMessage     `json:"memory"`
	Capabilities         json.RawMessage     `json:"capabilities"`
	PendingApprovals     json.RawMessage     `json:"pending_approvals"`
	PendingConfirmations json.RawMessage     `json:"pending_confirmations"`
	News                 json.RawMessage     `json:"news"`
	WorkbenchContext     json.RawMessage     `json:"workbench_context"`
	ProfilePreparation   json.RawMessage     `json:"profile_preparation"`
	Life                 LifeMember          `json:"life"`
	Conversations        ConversationsMember `json:"conversations"`
	Feed                 []FeedRow           `json:"feed"`
	Tasks                []TaskRow           `json:"tasks"`
}

// Bounds of a snapshot (decision K13). They hold for what is shown, not for what
// is stored.
const (
	MaxShownConversations = 128
	MaxShownMessages      = 512
	MaxMobileFrame        = 900 << 10 // bytes of a phone's personal.state
)

// ErrSnapshot is a personal.state that lacks what clients insist on.
var ErrSnapshot = errors.New("malformed snapshot")

// DecodeSnapshot reads a whole personal.state as strictly as official clients do
// (nova-personal §3.1): a marker to load it again is no snapshot. Members that it
// does not know are ignored. Errors wrap ErrSnapshot and hold nothing of the frame.
func DecodeSnapshot(frame []byte) (MobileSnapshot, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(frame, &members) != nil {
		return MobileSnapshot{}, fmt.Errorf("%w: no object", ErrSnapshot)
	}
	var s MobileSnapshot
	for _, want := range []struct {
		name  string
		first string // what its text may begin with
		into  any
	}{
		{"type", `"`, &s.Type},
		{"revision", "0123456789", &s.Revision},
		{"life", "{", &s.Life},
		{"conversations", "{", &s.Conversations},
		{"memory", "{", &s.Memory},
		{"capabilities", "{", &s.Capabilities},
		{"news", "{", &s.News},
		{"tasks", "[", &s.Tasks},
		{"feed", "[", &s.Feed},
		{"pending_approvals", "[", &s.PendingApprovals},
		{"pending_confirmations", "[", &s.PendingConfirmations},
	} {
		text := members[want.name]
		if len(text) == 0 || !strings.Contains(want.first, string(text[:1])) || json.Unmarshal(text, want.into) != nil {
			return MobileSnapshot{}, fmt.Errorf("%w: %s", ErrSnapshot, want.name)
		}
	}
	if s.Type != (nova.PersonalState{}).Type() {
		return MobileSnapshot{}, fmt.Errorf("%w: type", ErrSnapshot)
	}
	s.WorkbenchContext, s.ProfilePreparation = members["workbench_context"], members["profile_preparation"]
	return s, nil
}
