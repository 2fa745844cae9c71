package novaclient

import (
	"errors"
	"fmt"

	"github.com/coder/websocket"
)

// Close codes after which no client comes back by itself.
const (
	CodeRejected     = 4003 // the token is not, or no longer, good
	CodeIncompatible = 4006 // version, media or language
	CodeBusy         = 4009 // another client is connected
)

// ErrMismatch: the host speaks, but not this protocol.
var ErrMismatch = errors.New("the host's first message is no valid client.ready")

// ErrClosed: this side has ended the connection.
var ErrClosed = errors.New("the connection was closed here")

// ErrUplinkFull: more was to be sent than the queue holds.
var ErrUplinkFull = errors.New("the host takes messages too slowly")

// ErrSendTimeout: one message could not be sent in time.
var ErrSendTimeout = errors.New("the host did not take a message in time")

// Fault is a message of the host that made the client drop the connection. It
// repeats nothing of the message.
type Fault struct {
	Rule string // what was broken
	Err  error  // more about it, or nil
}

func (f *Fault) Error() string {
	if f.Err != nil {
		return "the host broke a rule: " + f.Rule + ": " + f.Err.Error()
	}
	return "the host broke a rule: " + f.Rule
}

// Unwrap gives what the rule found.
func (f *Fault) Unwrap() error { return f.Err }

// End says how a connection ended.
type End struct {
	Code   int    // of the host's close frame; 0 when none came
	Reason string // of the same; from outside, for people
	Err    error  // why, when no close frame came: a *Fault or a transport's error
}

func (e *End) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("the host closed the connection with code %d", e.Code)
	}
	return "the connection ended: " + e.Err.Error()
}

// Unwrap gives Err.
func (e *End) Unwrap() error { return e.Err }

// Terminal reports whether a client must not connect again by itself.
func (e *End) Terminal() bool {
	switch e.Code {
	case CodeRejected, CodeIncompatible, CodeBusy:
		return true
	case 0:
		return errors.Is(e.Err, ErrMismatch) || errors.Is(e.Err, ErrClosed)
	}
	return false
}

// endOf turns a failed read into an End. A close code counts for more than what
// this side found wrong before.
func endOf(readErr, found error) *End {
	var ce websocket.CloseError
	switch {
	case errors.As(readErr, &ce) && ce.Code != websocket.StatusNoStatusRcvd:
		return &End{Code: int(ce.Code), Reason: ce.Reason}
	case found != nil:
		return &End{Err: found}
	}
	return &End{Err: readErr}
}
