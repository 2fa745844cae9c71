package novaclient

import "github.com/coder/websocket"

// Bounds of what waits to be sent, the message under way included.
const (
	maxQueuedBytes    = 131_072
	maxQueuedMessages = 128
)

// outgoing is one message to the host.
type outgoing struct {
	kind websocket.MessageType
	data []byte
}

// queue is what is to be sent, oldest first. Not safe for concurrent use.
type queue struct {
	waiting []outgoing
	count   int // messages in waiting and under way
	bytes   int // of the same
}

// push refuses what exceeds a bound.
func (q *queue) push(m outgoing) bool {
	if q.count == maxQueuedMessages || q.bytes+len(m.data) > maxQueuedBytes {
		return false
	}
	q.waiting = append(q.waiting, m)
	q.count++
	q.bytes += len(m.data)
	return true
}

// pop takes the oldest; sent must be called when it is on its way.
func (q *queue) pop() (outgoing, bool) {
	if len(q.waiting) == 0 {
		return outgoing{}, false
	}
	m := q.waiting[0]
	q.waiting = q.waiting[1:]
	return m, true
}

func (q *queue) sent(m outgoing) {
	q.count--
	q.bytes -= len(m.data)
}
