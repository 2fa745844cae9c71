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
	defer c.recoverPanic("a message")
	for {
		binary, body, err := c.socket.Next()
		if err != nil {
			c.Close(wsconn.ReadFailed(err))
			return
		}
		message, err := io.ReadAll(body) // the socket bounds it
		if err != nil {
			c.Close(wsconn.ReadFailed(err))
			return
		}
		c.socket.MessageDone()
		if reason := c.dispatch(binary, message); reason != 0 {
			c.Close(reason)
			return
		}
	}
}

// received is one message that waits in a lane: a control, or uplink PCM.
type received struct {
	control nova.Control // nil for audio
	audio   []byte
	size    int // bytes of the message
}

// dispatch puts one message into its lane. A reason other than 0 ends the socket.
func (c *session) dispatch(binary bool, body []byte) sessions.CloseReason {
	m := received{size: len(body)}
	switch {
	case binary && nova.CheckUplinkPCM(body) != nil:
		return sessions.ProtocolFault
	case binary:
		m.audio = body
	case !utf8.Valid(body):
		return sessions.InvalidUTF8
	default:
		var err error
		if m.control, err = nova.DecodeControl(body); err != nil {
			return sessions.ProtocolFault
		}
	}
	lane := c.others
	if _, ok := m.control.(nova.PersonalCommand); ok {
		lane = c.commands
	}
	if c.waiting.Add(int64(m.size)) > laneBytes {
		return sessions.InputOverflow
	}
	select {
	case lane <- m:
		return 0
	default:
		return sessions.InputOverflow
	}
}

// deliverAll hands what comes in one lane to the host, one after the other.
func (c *session) deliverAll(lane <-chan received) {
	defer c.recoverPanic("a control")
	for {
		select {
		case m := <-lane:
			if m.control == nil {
				c.endpoint.Audio(m.audio)
			} else if err := c.endpoint.Deliver(c.ctx, m.control); err != nil && c.ctx.Err() == nil {
				c.refuse(m.control, err)
			}
			c.waiting.Add(-int64(m.size))
		case <-c.ctx.Done():
			return
		}
	}
}

// refuse answers what the host did not take (decision K17): a text that names a
// request has a result of its own, everything else gets the receipt "rejected". It
// names the request where the control does, and else the kind of control.
func (c *session) refuse(control nova.Control, cause error) {
	c.log.Debug("a control was refused", "kind", control.Kind(), "cause", cause)
	refusal := nova.Receipt{RequestID: control.Kind(), Status: nova.Rejected}
	switch m := control.(type) {
	case nova.PersonalCommand:
		refusal.RequestID = m.RequestID
	case nova.TaskAction:
		refusal.RequestID = m.RequestID
	case nova.InputText:
		if m.RequestID != "" {
			c.Send(nova.TextResult{RequestID: m.RequestID, ConversationID: m.ConversationID, Error: nova.SubmissionFailed})
			return
		}
	}
	c.Send(refusal)
}
