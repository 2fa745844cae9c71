package sessions

import (
	"strconv"
	"time"

	"plexus/domain/nova"
)

// ClockInterval is the time between two clock.pings to an admitted client (Nova
// client protocol, §20.1).
const ClockInterval = time.Minute

// MaxClockPings is how many clock.pings one connection gets: each pong costs one
// of its MaxCommands, and measuring must not use those up.
const MaxClockPings = 64

// Observed is what one connection has measured and what its client told of
// itself. None of it changes what the host does.
type Observed struct {
	RoundTrips int           // clock.pings that were answered
	RoundTrip  time.Duration // of the last one; never negative

	Telemetry         int // valid playback.telemetry
	TelemetryRejected int // invalid ones

	Closed     int // connection.diagnostic: earlier connections that ended
	Reconnects int // attempts to reconnect
	Results    int // how those ended
}

// clock measures the round trip by the pings that are out. The zero value has
// sent none.
type clock struct {
	sent int
	out  map[string]time.Time
}

// ping gives the next ping; ok is false when no more are to be sent.
func (c *clock) ping(now time.Time) (m nova.ClockPing, ok bool) {
	if c.sent == MaxClockPings {
		return m, false
	}
	if c.out == nil {
		c.out = make(map[string]time.Time)
	}
	m.PingID = "ping-" + strconv.Itoa(c.sent)
	c.out[m.PingID] = now
	c.sent++
	return m, true
}

// pong gives the round trip of a ping, once; ok is false for an ID that is not
// out.
func (c *clock) pong(id string, now time.Time) (trip time.Duration, ok bool) {
	at, ok := c.out[id]
	delete(c.out, id)
	return max(0, now.Sub(at)), ok
}

// observe records a control that is only a measurement; false for one that the host
// has to act upon.
func (n *Nova) observe(c nova.Control, now time.Time) bool {
	switch c := c.(type) {
	case nova.ClockPong:
		if trip, ok := n.clock.pong(c.PingID, now); ok {
			n.observed.RoundTrips++
			n.observed.RoundTrip = trip
		}
	case nova.Telemetry:
		n.observed.Telemetry++
	case nova.TelemetryRejected:
		n.observed.TelemetryRejected++
	case nova.DiagnosticClosed:
		n.observed.Closed++
	case nova.DiagnosticAttempt:
		n.observed.Reconnects++
	case nova.DiagnosticResult:
		n.observed.Results++
	default:
		return false
	}
	return true
}
