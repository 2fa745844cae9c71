package workbench

import "plexus/domain/conversations"

// Bounds of a snapshot (decision K13). They hold for what is shown, not for what
// is stored.
const (
	MaxShownConversations = 128
	MaxShownMessages      = 512
	MaxMobileFrame        = 900 << 10 // bytes of a phone's personal.state
)

// Parts is what the host has to show at one moment.
type Parts struct {
	Revision uint64
	// Conversations in the order in which they are shown, at most
	// MaxShownConversations: selected, voice owner, main, proactive, then the most
	// recently updated.
	Conversations []conversations.Conversation
	SelectedID    string
	VoiceID       string // "" for none
	// Messages visits those of the selected conversation, newest first, until
	// visit returns false.
	Messages func(visit func(conversations.Message) bool) error
	Feed     []FeedItem // newest first
	Items    []Item     // of all three lists, in the order they were made
	Profile  Profile
	Tasks    []Task
	Mode     Mode   // of the endpoint that is shown this
	TimeZone string // IANA name, "" for UTC
}
