package novaws

import (
	"sync"

	"plexus/adapters/wsconn"
)

// Bounds of what was received and is not finished (Nova client protocol §7).
const (
	inboxMessages = 128
	inboxBytes    = 262_144
)

// message is one received WebSocket message.
type message struct {
	binary bool
	body   []byte
}

// inbox hands messages from the reader to the loop, in order. A message counts
// against the bounds until Done, so that those being worked on count too.
type inbox struct {
	arrived chan struct{} // of capacity 1: there may be something to take, or it has overflowed

	mu       sync.Mutex
	queue    []message
	count    int
	bytes    int
	overflow bool
}

// Put queues m. false: it exceeds a bound, and the inbox refuses every later
// message.
func (i *inbox) Put(m message) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.overflow {
		return false
	}
	i.count++
	i.bytes += len(m.body)
	if i.count > inboxMessages || i.bytes > inboxBytes {
		i.overflow, i.queue = true, nil
	} else {
		i.queue = append(i.queue, m)
	}
	wsconn.Signal(i.arrived)
	return !i.overflow
}

// Take gives the next message.
func (i *inbox) Take() (m message, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.queue) == 0 {
		return message{}, false
	}
	m = i.queue[0]
	i.queue = i.queue[1:]
	return m, true
}

// Done says that a taken message is finished.
func (i *inbox) Done(m message) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count--
	i.bytes -= len(m.body)
}

// Overflowed reports whether more came than may wait.
func (i *inbox) Overflowed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.overflow
}
