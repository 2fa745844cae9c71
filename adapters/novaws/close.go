package novaws

import "plexus/domain/sessions"

// closing is how a connection ends on the wire. A code of 0 cuts it without a
// close frame; the peer then sees 1006.
type closing struct {
	code   int
	reason string // fixed words; clients do not read them
}

// closingOf is the one table from reason to wire (Nova client protocol §2).
// 4003 makes clients erase their credentials, so that on a personal connection
// only a rejected token and a revocation may map to it.
func closingOf(reason sessions.CloseReason, personal bool) closing {
	const rejected = "client protocol rejected"
	switch reason {
	case sessions.ClientGone, sessions.Finished:
		return closing{1000, ""}
	case sessions.Shutdown:
		return closing{1001, "shutdown"}
	case sessions.InvalidUTF8:
		return closing{1007, ""}
	case sessions.MessageTooBig:
		return closing{1009, ""}
	case sessions.BadWebSocket:
		return closing{1002, rejected}
	case sessions.HelloTimeout, sessions.BadHello, sessions.AuthRejected, sessions.DeviceRevoked:
		return closing{4003, rejected}
	case sessions.UnsupportedPath:
		return closing{4004, "unsupported endpoint"}
	case sessions.UnsupportedProtocol, sessions.UnsupportedMedia, sessions.UnsupportedLanguage:
		return closing{4006, rejected}
	case sessions.ControlCapacity, sessions.OutputBudget, sessions.RequiredFrameLost:
		return closing{4008, "refresh connection"}
	case sessions.ConcurrentClient, sessions.VoiceConflict:
		return closing{4009, "client busy"}
	case sessions.ProtocolFault, sessions.InputOverflow, sessions.FrameStalled:
		if personal {
			return closing{1002, rejected}
		}
		return closing{4003, rejected}
	case sessions.GhostRetired, sessions.WriteFailed, sessions.SlowReader, sessions.Crowded, sessions.PairingOverLimit:
		return closing{}
	}
	return closing{1011, ""}
}
