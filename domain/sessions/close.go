// Package sessions holds the rules of one connection as plain values: why it
// ends, what is in flight on it, how much it may queue. Pure.
package sessions

// CloseReason says why a connection ends. It is a closed set: each protocol has
// one table from reason to wire code, and a test that the table is complete.
type CloseReason uint8

const (
	ClientGone         CloseReason = iota + 1 // the peer closed, or a stream ended between two frames
	Shutdown                                  // this host stops
	InvalidMagic                              // first header check of NERVE V1 failed
	UnsupportedVersion                        // second
	UnknownMessageType                        // third
	PayloadTooLarge                           // fourth
	MalformedFrame                            // a frame ended too early or went on too long
	NotBinary                                 // a text message on a binary protocol
	MessageTooBig                             // over the WebSocket message limit
	BadWebSocket                              // the peer broke RFC 6455 itself
	FrameStalled                              // a frame was begun and not finished in time
	SlowReader                                // the peer does not take what is written
	GhostRetired                              // no answer to pings
	ExtensionRemoved                          // the owner removed the extension or rotated the token
	Internal                                  // our fault
)

// Reasons lists every CloseReason, for tables and their tests.
func Reasons() []CloseReason {
	all := make([]CloseReason, 0, Internal)
	for r := ClientGone; r <= Internal; r++ {
		all = append(all, r)
	}
	return all
}

// String is the snake_case word that the log shows.
func (r CloseReason) String() string {
	switch r {
	case ClientGone:
		return "client_gone"
	case Shutdown:
		return "shutdown"
	case InvalidMagic:
		return "invalid_magic"
	case UnsupportedVersion:
		return "unsupported_version"
	case UnknownMessageType:
		return "unknown_message_type"
	case PayloadTooLarge:
		return "payload_too_large"
	case MalformedFrame:
		return "malformed_frame"
	case NotBinary:
		return "not_binary"
	case MessageTooBig:
		return "message_too_big"
	case BadWebSocket:
		return "bad_websocket"
	case FrameStalled:
		return "frame_stalled"
	case SlowReader:
		return "slow_reader"
	case GhostRetired:
		return "ghost_retired"
	case ExtensionRemoved:
		return "extension_removed"
	case Internal:
		return "internal"
	}
	return "unknown"
}

// Flushes reports whether what is queued goes out before the close.
func (r CloseReason) Flushes() bool { return r == ClientGone || r == Shutdown }
