package nervews

import "plexus/domain/sessions"

// closeCode maps a reason to the WebSocket status that the peer sees, with an
// empty reason text: NERVE V1 sends no errors over the wire, the kind is logged.
// (Of BadWebSocket the library has told the peer before us, with a text of its
// own; the status is the same.)
// goodbye is false where the socket is cut instead (the peer sees 1006). It is
// the one place where this is decided.
func closeCode(reason sessions.CloseReason) (code int, goodbye bool) {
	switch reason {
	case sessions.ClientGone:
		return 1000, true
	case sessions.Shutdown:
		return 1001, true
	case sessions.InvalidMagic, sessions.UnsupportedVersion, sessions.UnknownMessageType,
		sessions.PayloadTooLarge, sessions.MalformedFrame, sessions.BadWebSocket, sessions.FrameStalled:
		return 1002, true
	case sessions.NotBinary:
		return 1003, true
	case sessions.ExtensionRemoved:
		return 1008, true
	case sessions.MessageTooBig:
		return 1009, true
	case sessions.Internal:
		return 1011, true
	case sessions.SlowReader, sessions.GhostRetired:
		return 0, false
	default: // a reason of the Nova protocol, which a NERVE session never gives
		return 1011, true
	}
}
