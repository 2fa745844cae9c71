// Package sessions holds the rules of one connection as plain values: why it
// ends, what is in flight on it, how much it may queue. Pure.
package sessions

// CloseReason says why a connection ends. It is a closed set, from ClientGone to
// Internal: each protocol has one table from reason to wire code, and a test that the
// table is complete.
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
	EvictedBeforeHello                         // newcomers took its slot before it said hello
	PairingOverLimit                           // one pairing socket too many, or one too long open
	WriteFailed                                // a write that had to succeed failed
	Internal                                   // our fault
)

// reasonWords are what the log shows. Owners look them up in docs/phone.md.
var reasonWords = [...]string{
	ClientGone:          "client_gone",
	Shutdown:            "shutdown",
	InvalidMagic:        "invalid_magic",
	UnsupportedVersion:  "unsupported_version",
	UnknownMessageType:  "unknown_message_type",
	PayloadTooLarge:     "payload_too_large",
	MalformedFrame:      "malformed_frame",
	NotBinary:           "not_binary",
	MessageTooBig:       "message_too_big",
	BadWebSocket:        "bad_websocket",
	FrameStalled:        "frame_stalled",
	SlowReader:          "slow_reader",
	PeerTimeout:         "ghost_retired",
	ExtensionRemoved:    "extension_removed",
	Finished:            "finished",
	HelloTimeout:        "hello_timeout",
	BadHello:            "bad_hello",
	AuthRejected:        "auth_rejected",
	DeviceRevoked:       "device_revoked",
	UnsupportedPath:     "unsupported_path",
	UnsupportedProtocol: "unsupported_protocol",
	UnsupportedMedia:    "unsupported_media",
	UnsupportedLanguage: "unsupported_language",
	ControlCapacity:     "control_capacity",
	OutputBudget:        "output_budget",
	RequiredFrameLost:   "required_frame_lost",
	ConcurrentClient:    "concurrent_client",
	VoiceConflict:       "voice_conflict",
	ProtocolFault:       "protocol_fault",
	InputOverflow:       "input_overflow",
	InvalidUTF8:         "invalid_utf8",
	EvictedBeforeHello:  "evicted_before_hello",
	PairingOverLimit:    "pairing_over_limit",
	WriteFailed:         "write_failed",
	Internal:            "internal",
}

// String is the snake_case word that the log shows.
func (r CloseReason) String() string {
	if r == 0 || int(r) >= len(reasonWords) {
		return "unknown"
	}
	return reasonWords[r]
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

// Milestone reports whether n is 1, 10, 100 and so on: the occurrences of a
// repeated event that are worth a line in the log.
func Milestone(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
