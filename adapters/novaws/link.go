package novaws

import (
	"errors"
	"runtime/debug"
	"time"

	"plexus/domain/nova"
	"plexus/domain/sessions"
	"plexus/domain/usecases/personal"
	"plexus/domain/usecases/recovery"
	"plexus/ports"
)

// Desk is the personal host, as the connections see it.
type Desk interface {
	// Input says what it takes now.
	Input() nova.Input
	// Attach seats an admitted client and does not wait for anything. The link
	// serves until the endpoint's Leave, which is called once.
	Attach(link ports.PersonalLink, terms personal.Terms) personal.Endpoint
}

// A session is the desk's way to its client.
var _ ports.PersonalLink = (*session)(nil)

// Send queues m (ports.PersonalLink). Without the personal extension the client
// is not sent what belongs to it. A client that cannot be sent m has to go.
func (c *session) Send(m nova.Message) {
	if reason := c.out.send(m); reason != 0 {
		c.Close(reason)
	}
}

// Changed announces a revision of the state (ports.PersonalLink).
func (c *session) Changed(revision uint64) { c.out.changed(revision, time.Now()) }

// errPanicked refuses what fell over; errNobody a control that nobody takes.
var (
	errPanicked = errors.New("the handler panicked")
	errNobody   = errors.New("there is no personal host")
)

// guard notes a panic in the desk's code, and has done called for it.
func (c *session) guard(what string, done func()) {
	if p := recover(); p != nil {
		c.log.Error("the personal host panicked", "during", what, "panic", recovery.Describe(p), "stack", string(debug.Stack()))
		done()
	}
}

// offer asks what the host has for a client now.
func (c *session) offer() sessions.Offer {
	if desk := c.server.deps.Desk; desk != nil {
		return sessions.Offer{Input: desk.Input(), Personal: true}
	}
	return sessions.Offer{}
}

// attach seats the client at the desk, where there is one.
func (c *session) attach(a sessions.Admission) (err error) {
	desk := c.server.deps.Desk
	if desk == nil {
		return nil
	}
	defer c.guard("admission", func() { err = errPanicked })
	c.endpoint = desk.Attach(c, personal.Terms{Personal: a.Personal, Language: a.Language})
	if a.Personal {
		c.work.Go(c.watch)
	}
	return nil
}

func (c *session) deliver(control nova.Control) (err error) {
	if c.endpoint == nil {
		return errNobody
	}
	defer c.guard(control.Kind(), func() { err = errPanicked })
	return c.endpoint.Deliver(c.ctx, control)
}

// leave takes the client from the desk, which drops its draft and its voice.
func (c *session) leave() {
	if c.endpoint != nil {
		defer c.guard("leave", func() {}) // the connection ends either way
		c.endpoint.Leave()
	}
}

// watch sends the state after it has changed, until the connection ends.
func (c *session) watch() {
	var window <-chan time.Time
	failing := false
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.out.snapshotSignal:
		case <-window:
		}
		compose, wait := c.out.stateDue(time.Now())
		window = nil
		switch {
		case compose:
			failing = c.compose(failing)
		case wait > 0:
			window = time.After(wait)
		}
	}
}

// compose sends the state as it is. What fails is tried again at the next change,
// and logged the first time.
func (c *session) compose(failing bool) (fails bool) {
	defer c.guard("snapshot", func() { c.Close(sessions.Internal) })
	state, err := c.endpoint.Snapshot(c.ctx)
	switch {
	case err == nil:
		c.Send(state)
	case c.ctx.Err() == nil && !failing:
		c.log.Error("the state could not be composed", "error", err)
	}
	return err != nil
}
