package nervews

import (
	"plexus/adapters/wsconn"
	"plexus/domain/sessions"
)

// closeCode is the one table from reason to WebSocket close code. The close frame
// has no reason text: NERVE V1 sends no errors over the wire, the kind is logged.
// (Of BadWebSocket the library has told the peer before us, with a text of its
// own; the code is the same.)
func closeCode(reason sessions.CloseReason) wsconn.CloseCode {
	switch reason {
	case sessions.ClientGone:
		return wsconn.CloseCode{Code: 1000}
	case sessions.Shutdown:
		return wsconn.CloseCode{Code: 1001}
	case sessions.InvalidMagic, sessions.UnsupportedVersion, sessions.UnknownMessageType,
		sessions.PayloadTooLarge, sessions.MalformedFrame, sessions.BadWebSocket, sessions.FrameStalled:
		return wsconn.CloseCode{Code: 1002}
	case sessions.NotBinary:
		return wsconn.CloseCode{Code: 1003}
	case sessions.ExtensionRemoved:
		return wsconn.CloseCode{Code: 1008}
	case sessions.MessageTooBig:
		return wsconn.CloseCode{Code: 1009}
	case sessions.Internal:
		return wsconn.CloseCode{Code: 1011}
	case sessions.SlowReader, sessions.PeerTimeout:
		return wsconn.CloseCode{}
	default: // a reason of the Nova protocol, which a NERVE session never gives
		return wsconn.CloseCode{Code: 1011}
	}
}
