package wsconn

import "plexus/domain/sessions"

// ReadEnd is why a connection ends whose read has failed.
func ReadEnd(err error) sessions.CloseReason {
	switch FaultOf(err) {
	case TooBig:
		return sessions.MessageTooBig
	case TimedOut:
		return sessions.FrameStalled
	case NotTaken:
		return sessions.SlowReader
	case BrokenRule:
		return sessions.BadWebSocket
	}
	return sessions.ClientGone
}

// WriteEnd is why a connection ends whose write has failed.
func WriteEnd(err error) sessions.CloseReason {
	if FaultOf(err) == TimedOut {
		return sessions.SlowReader
	}
	return sessions.WriteFailed
}
