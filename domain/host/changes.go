package host

import "sync"

// changes lets any number of watchers wait for the next change without a
// goroutine or a subscription to give back. The zero value is ready.
type changes struct {
	mu   sync.Mutex
	next chan struct{}
}

// wait gives a channel that is closed at the next change after this call.
func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// announce wakes everybody who waits.
func (c *changes) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
