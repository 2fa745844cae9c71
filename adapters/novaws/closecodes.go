package novaws

import (
	"plexus/adapters/wsconn"
	"plexus/domain/sessions"
)

// closeCode is the one table from reason to close code (Nova client protocol §2).
// 4003 makes clients erase their credentials, so that on a personal connection
// only a rejected token and a revocation may map to it.
func closeCode(reason sessions.CloseReason, personal bool) wsconn.CloseCode {
	const rejected = "client protocol rejected"
	switch reason {
	case sessions.ClientGone, sessions.Finished:
		return wsconn.CloseCode{Code: 1000}
	case sessions.Shutdown:
		return wsconn.CloseCode{Code: 1001, Reason: "shutdown"}
	case sessions.InvalidUTF8:
		return wsconn.CloseCode{Code: 1007}
	case sessions.MessageTooBig:
		return wsconn.CloseCode{Code: 1009}
	case sessions.BadWebSocket:
		return wsconn.CloseCode{Code: 1002, Reason: rejected}
	case sessions.HelloTimeout, sessions.BadHello, sessions.AuthRejected, sessions.DeviceRevoked:
		return wsconn.CloseCode{Code: 4003, Reason: rejected}
	case sessions.UnsupportedPath:
		return wsconn.CloseCode{Code: 4004, Reason: "unsupported endpoint"}
	case sessions.UnsupportedProtocol, sessions.UnsupportedMedia, sessions.UnsupportedLanguage:
		return wsconn.CloseCode{Code: 4006, Reason: rejected}
	case sessions.ControlCapacity, sessions.OutputBudget, sessions.RequiredFrameLost:
		return wsconn.CloseCode{Code: 4008, Reason: "refresh connection"}
	case sessions.ConcurrentClient, sessions.VoiceConflict:
		return wsconn.CloseCode{Code: 4009, Reason: "client busy"}
	case sessions.ProtocolFault, sessions.InputOverflow, sessions.FrameStalled:
		if personal {
			return wsconn.CloseCode{Code: 1002, Reason: rejected}
		}
		return wsconn.CloseCode{Code: 4003, Reason: rejected}
	case sessions.PeerTimeout, sessions.WriteFailed, sessions.SlowReader, sessions.EvictedBeforeHello, sessions.PairingOverLimit:
		return wsconn.CloseCode{}
	}
	return wsconn.CloseCode{Code: 1011}
}
