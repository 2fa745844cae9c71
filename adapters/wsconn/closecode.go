package wsconn

import (
	"errors"

	"plexus/domain/sessions"
)

// CloseCode is how a connection ends on the wire. The zero value closes it
// without a close frame; the peer then sees 1006. Which code a reason has is in
// one table of each listener: closecodes.go.
type CloseCode struct {
	Code   int
	Reason string // fixed words of at most 123 bytes
}

// ReadFailed gives the reason with which a connection ends after a read failed with
// err.
func ReadFailed(err error) sessions.CloseReason {
	switch FaultOf(err) {
	case TooBig:
		return sessions.MessageTooBig
	case TimedOut:
		return sessions.FrameStalled
	case PongNotTaken:
		return sessions.SlowReader
	case ProtocolViolation:
		return sessions.BadWebSocket
	}
	return sessions.ClientGone
}

// WriteFailed gives the reason with which a connection ends after its Writer failed
// with err.
func WriteFailed(err error) sessions.CloseReason {
	switch {
	case errors.Is(err, ErrPeerTimeout):
		return sessions.PeerTimeout
	case FaultOf(err) == TimedOut:
		return sessions.SlowReader
	}
	return sessions.WriteFailed
}
