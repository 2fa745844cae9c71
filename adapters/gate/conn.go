package gate

import (
	"container/list"
	"net"
	"net/http"
	"time"
)

// state is what a connection does, as far as its gate cares.
type state uint8

const (
	out    state = iota // not counted: before admit, and after it was closed or evicted
	idle                // nothing of it is being answered
	asking              // a request is, of somebody unknown
	held                // a request is, of somebody known
	kept                // as held, until it is closed
)

// conn is a connection that a gate counts.
type conn struct {
	net.Conn
	gate *Gate

	// Guarded by gate.mu.
	state state
	place *list.Element // in gate.idle or gate.asking
	since time.Time     // when it came into its state
}

// connState is an http.Server.ConnState.
func connState(c net.Conn, s http.ConnState) {
	counted, ok := c.(*conn)
	if !ok {
		return
	}
	switch s {
	case http.StateActive: // the header is here
		counted.enter(asking)
	case http.StateIdle:
		counted.enter(idle)
	case http.StateHijacked:
		counted.enter(kept)
	}
}

// Close closes the connection and gives its place to the next.
func (c *conn) Close() error {
	c.enter(out)
	return c.Conn.Close()
}

func (c *conn) enter(s state) {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	switch {
	case c.state == out: // evicted
	case c.state == kept && s != out: // a request that was upgraded has ended
	default:
		c.move(s, time.Now())
	}
}

// move is called with gate.mu held.
func (c *conn) move(s state, now time.Time) {
	g := c.gate
	switch c.state {
	case idle:
		g.idle.Remove(c.place)
	case asking:
		g.asking.Remove(c.place)
	case held, kept:
		g.held--
	}
	c.state, c.place, c.since = s, nil, now
	switch s {
	case idle:
		c.place = g.idle.PushBack(c)
	case asking:
		c.place = g.asking.PushBack(c)
	case held, kept:
		g.held++
	}
	select {
	case g.freed <- struct{}{}:
	default: // it is known already
	}
}
