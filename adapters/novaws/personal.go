package novaws

import (
	"errors"
	"runtime/debug"
	"time"

	"plexus/domain/nova"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/recovery"
)

// PersonalHost is what the connections ask of it. *personal.Host is one.
type PersonalHost interface {
	// Input says what it takes now.
	Input() nova.Input
	// Admits says which methods of personal.command are a phone's.
	Admits(method string) bool
	// Attach adds an admitted client and does not wait for anything. The link
	// serves until the endpoint's Leave, which is called once.
	Attach(link ports.PersonalLink, terms hub.Terms) hub.Endpoint
}

var _ ports.PersonalLink = (*session)(nil)

// Send queues m (ports.PersonalLink). Without the personal extension the client is
// not sent what belongs to it. The connection is closed if m cannot be queued.
func (c *session) Send(m nova.Message) {
	if reason := c.out.send(m); reason != 0 {
		c.Close(reason)
	}
}

// Changed announces a revision of the state (ports.PersonalLink).
func (c *session) Changed(revision uint64) { c.out.changed(revision, time.Now()) }

var (
	errPanicked       = errors.New("the handler panicked")
	errNoPersonalHost = errors.New("there is no personal host")
)

// recoverPanic logs a panic in the personal host's code, and then calls done.
// Deferred.
func (c *session) recoverPanic(what string, done func()) {
	if p := recover(); p != nil {
		c.log.Error("the personal host panicked", "during", what, "panic", recovery.Describe(p), "stack", string(debug.Stack()))
		done()
	}
}

// admit registers the client's link, and adds the client to the personal host, where
// there is one. It runs in the loop.
func (c *session) admit(n *sessions.Nova, a sessions.Admission) (e sessions.Effects) {
	detach, ok := c.server.deps.Auth.AttachClient(c.ctx, c.who, c)
	if !ok {
		return n.End(sessions.DeviceRevoked)
	}
	c.detach = detach
	if host := c.server.deps.Personal; host != nil {
		defer c.recoverPanic("admission", func() { e = n.AdmissionDone(errPanicked, time.Now()) })
		c.endpoint = host.Attach(c, hub.Terms{Personal: a.Personal, Language: a.Language})
		if a.Personal {
			c.work.Go(c.sendSnapshots)
		}
	}
	return n.AdmissionDone(nil, time.Now())
}

func (c *session) deliver(control nova.Control) (err error) {
	if c.endpoint == nil {
		return errNoPersonalHost
	}
	defer c.recoverPanic(control.Kind(), func() { err = errPanicked })
	return c.endpoint.Deliver(c.ctx, control)
}

// detachPersonal takes the client from the personal host, which drops its draft and
// its voice.
func (c *session) detachPersonal() {
	if c.endpoint != nil {
		defer c.recoverPanic("leave", func() {}) // the connection ends either way
		c.endpoint.Leave()
	}
}

// sendSnapshots sends the state after it has changed, until the connection ends. A
// failed snapshot is tried again at the next change, and logged the first time.
func (c *session) sendSnapshots() {
	defer c.recoverPanic("snapshot", func() { c.Close(sessions.Internal) })
	var window <-chan time.Time
	failing := false
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.out.snapshotSignal:
		case <-window:
		}
		due, wait := c.out.snapshotDue(time.Now())
		window = nil
		if wait > 0 {
			window = time.After(wait)
		}
		if !due {
			continue
		}
		state, err := c.endpoint.Snapshot(c.ctx)
		switch {
		case err == nil:
			c.Send(state)
		case c.ctx.Err() == nil && !failing:
			c.log.Error("the state could not be composed", "error", err)
		}
		failing = err != nil
	}
}
