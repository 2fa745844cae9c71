package desktop

import (
	"io"
	"unicode/utf8"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// read fills the lanes until the socket or a rule ends it.
func (c *session) read() {
	defer c.recoverPanic("a frame")
	for {
		binary, body, err := c.socket.Next()
		if err != nil {
			c.Close(wsconn.ReadFailed(err))
			return
		}
		text, err := io.ReadAll(body) // the socket bounds it
		if err != nil {
			c.Close(wsconn.ReadFailed(err))
			return
		}
		c.socket.MessageDone()
		if reason := c.dispatch(binary, text); reason != 0 {
			c.Close(reason)
			return
		}
	}
}

// dispatch puts one frame into its lane. A reason other than 0 ends the socket.
func (c *session) dispatch(binary bool, text []byte) sessions.CloseReason {
	switch {
	case binary:
		return sessions.ProtocolFault
	case !utf8.Valid(text):
		return sessions.InvalidUTF8
	}
	control, err := nova.DecodeControl(text)
	if err != nil {
		return sessions.ProtocolFault
	}
	room := false
	switch m := control.(type) {
	case nova.PersonalCommand:
		if !c.server.config.Host.Knows(m.Method) {
			return sessions.ProtocolFault
		}
		room = offer(c.commands, m)
	case nova.InputText:
		if m.RequestID == "" {
			return sessions.ProtocolFault
		}
		room = offer(c.texts, m)
	default:
		return sessions.ProtocolFault
	}
	if !room {
		return sessions.InputOverflow
	}
	return 0
}

// offer puts m into a lane; false: it is full.
func offer[M any](lane chan M, m M) bool {
	select {
	case lane <- m:
		return true
	default:
		return false
	}
}
