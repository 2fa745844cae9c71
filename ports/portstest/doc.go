// Package portstest holds one contract suite for each port. Every
// implementation runs the suite of its port from its own tests; what a suite
// asks is what the port's comment promises and nothing more.
package portstest

import (
	"testing"
	"time"
)

// atOnce is how long a call may go on after its context has ended. It is
// generous for the sake of loaded machines; a call that waits for an upstream
// in spite of its context takes for ever.
const atOnce = 2 * time.Second

// returnsAtOnce runs call and waits for it; ended says when its context ended.
func returnsAtOnce(t *testing.T, ended <-chan struct{}, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ended:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(atOnce):
		t.Fatalf("the call still ran %v after its context had ended", atOnce)
		return nil
	}
}
