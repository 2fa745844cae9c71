// Package waiting is what the use cases wait with: for a change of state, and for
// a place among few. It starts nothing and knows no clock.
package waiting

import "sync"

// Changes lets any number of watchers wait for the next change without a
// goroutine or a subscription to give back. The zero value is ready.
type Changes struct {
	mu   sync.Mutex
	next chan struct{}
}

// Wait gives a channel that is closed at the next change after this call.
func (c *Changes) Wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Announce wakes everybody who waits.
func (c *Changes) Announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
