package desktop

import (
	"plexus/adapters/wsconn"
	"plexus/domain/sessions"
)

// closeCode is the one table from reason to close code. A fault closes with 1002
// (decision K17); 4003 says that the session of the page is over.
func closeCode(reason sessions.CloseReason) wsconn.CloseCode {
	switch reason {
	case sessions.ClientGone, sessions.Finished:
		return wsconn.CloseCode{Code: 1000}
	case sessions.Shutdown:
		return wsconn.CloseCode{Code: 1001, Reason: "shutdown"}
	case sessions.BadWebSocket:
		return wsconn.CloseCode{Code: 1002}
	case sessions.InvalidUTF8:
		return wsconn.CloseCode{Code: 1007}
	case sessions.MessageTooBig:
		return wsconn.CloseCode{Code: 1009}
	case sessions.DeviceRevoked:
		return wsconn.CloseCode{Code: 4003, Reason: "session over"}
	case sessions.ProtocolFault, sessions.InputOverflow, sessions.FrameStalled:
		return wsconn.CloseCode{Code: 1002, Reason: "client protocol rejected"}
	case sessions.OutputBudget, sessions.RequiredFrameLost:
		return wsconn.CloseCode{Code: 4008, Reason: "refresh connection"}
	case sessions.PeerTimeout, sessions.WriteFailed, sessions.SlowReader:
		return wsconn.CloseCode{}
	}
	return wsconn.CloseCode{Code: 1011}
}
