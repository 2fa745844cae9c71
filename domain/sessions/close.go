// Package sessions holds the rules of one connection as plain values: why it
// ends, what is in flight on it, how much it may queue. Pure.
package sessions

// CloseReason says why a connection ends. It is a closed set: each protocol has
// one table from reason to wire code, and a test that the table is complete.
type CloseReason uint8

const (
	ClientGone          CloseReason = iota + 1 // the peer closed, or a stream ended between two frames
	Shutdown                                   // this host stops
	InvalidMagic                               // first header check of NERVE V1 failed
	UnsupportedVersion                         // second
	UnknownMessageType                         // third
	PayloadTooLarge                            // fourth
	MalformedFrame                             // a frame ended too early or went on too long
	NotBinary                                  // a text message on a binary protocol
	MessageTooBig                              // over the WebSocket message limit
	BadWebSocket                               // the peer broke RFC 6455 itself
	FrameStalled                               // a frame was begun and not finished in time
	SlowReader                                 // the peer does not take what is written
	PeerTimeout                                // no answer to pings
	ExtensionRemoved                           // the owner removed the extension or rotated the token
	Finished                                   // the one answer of a pairing socket has been given
	HelloTimeout                               // no hello in time
	BadHello                                   // the first message is no hello
	AuthRejected                               // the hello's token is malformed or unknown
	DeviceRevoked                              // the owner has revoked the device
	UnsupportedPath                            // no endpoint of the client listener
	UnsupportedProtocol                        // a protocol version other than 1
	UnsupportedMedia                           // a media offer that cannot be met
	UnsupportedLanguage                        // a language other than those of the host
	ControlCapacity                            // the command ledger is full; the client is to reconnect
	OutputBudget                               // more output than the socket may queue
	RequiredFrameLost                          // a frame that must arrive found no room
	ConcurrentClient                           // another client is connected
	VoiceConflict                              // another owner has the voice
	ProtocolFault                              // an authenticated client broke the Nova protocol
	InputOverflow                              // more input than may wait unfinished
	InvalidUTF8                                // a text message that is not UTF-8
	EvictedBeforeHello                         // driven out by newcomers before it said hello
	PairingOverLimit                           // one pairing socket too many, or one too long open
	WriteFailed                                // a write that had to succeed failed
	Internal                                   // our fault
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
	case PeerTimeout:
		return "ghost_retired"
	case ExtensionRemoved:
		return "extension_removed"
	case Finished:
		return "finished"
	case HelloTimeout:
		return "hello_timeout"
	case BadHello:
		return "bad_hello"
	case AuthRejected:
		return "auth_rejected"
	case DeviceRevoked:
		return "device_revoked"
	case UnsupportedPath:
		return "unsupported_path"
	case UnsupportedProtocol:
		return "unsupported_protocol"
	case UnsupportedMedia:
		return "unsupported_media"
	case UnsupportedLanguage:
		return "unsupported_language"
	case ControlCapacity:
		return "control_capacity"
	case OutputBudget:
		return "output_budget"
	case RequiredFrameLost:
		return "required_frame_lost"
	case ConcurrentClient:
		return "concurrent_client"
	case VoiceConflict:
		return "voice_conflict"
	case ProtocolFault:
		return "protocol_fault"
	case InputOverflow:
		return "input_overflow"
	case InvalidUTF8:
		return "invalid_utf8"
	case EvictedBeforeHello:
		return "crowded"
	case PairingOverLimit:
		return "pairing_over_limit"
	case WriteFailed:
		return "write_failed"
	case Internal:
		return "internal"
	}
	return "unknown"
}

// Flushes reports whether what is queued goes out before the close.
func (r CloseReason) Flushes() bool {
	switch r {
	case ClientGone, Shutdown, Finished, ControlCapacity: // the last two owe the peer an answer or a receipt
		return true
	default:
		return false
	}
}
