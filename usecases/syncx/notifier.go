// Package syncx holds what the use cases wait with: a Notifier for changes of
// state and a fair Semaphore. It starts no goroutine and reads no clock.
package syncx

import "sync"

// Notifier lets any number of watchers wait for the next change without a
// goroutine or a subscription to give back. The zero value is ready.
type Notifier struct {
	mu   sync.Mutex
	next chan struct{}
}

// Wait gives a channel that is closed at the next change after this call.
func (c *Notifier) Wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Notify wakes everybody who waits.
func (c *Notifier) Notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
