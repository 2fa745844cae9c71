package novaclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/pairing"
)

// Bounds of what waits to be sent, the message under way included.
const (
	maxQueuedBytes    = 131_072
	maxQueuedMessages = 128
)

// uplink is what one connection sends: commands, audio and, when they are due, the
// reports of its player. A goroutine of its own writes it, oldest first.
type uplink struct {
	ws           *websocket.Conn
	connectionID string
	since        time.Time // the clock of t_render_ms starts here

	ctx  context.Context         // ends with the connection
	fail context.CancelCauseFunc // ends the connection; the first cause counts
	wake chan struct{}           // there is something to look at

	mu      sync.Mutex
	player  player
	waiting []outgoing
	count   int // messages in waiting and under way
	bytes   int // of the same
}

// outgoing is one message to the host.
type outgoing struct {
	kind websocket.MessageType
	data []byte
}

// command sends a control as a command of this ID.
func (u *uplink) command(id string, control nova.Control) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.pushCommand(id, control)
}

// play lets the player do something and sends its reports. Their receipts are not
// waited for.
func (u *uplink) play(do func(*player) []nova.Control) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, report := range do(&u.player) {
		if err := u.pushCommand(newID(), report); err != nil {
			return err
		}
	}
	u.signal() // when to look next may have changed
	return nil
}

// pushCommand queues a command. The caller holds mu.
func (u *uplink) pushCommand(id string, control nova.Control) error {
	text, err := nova.AppendCommand(nil, id, u.connectionID, control)
	if err != nil {
		return fmt.Errorf("write %s: %w", control.Kind(), err)
	}
	return u.push(outgoing{websocket.MessageText, text})
}

// push queues a message. When there is no room it ends the connection. The caller
// holds mu.
func (u *uplink) push(m outgoing) error {
	if cause := context.Cause(u.ctx); cause != nil {
		return cause
	}
	if u.count == maxQueuedMessages || u.bytes+len(m.data) > maxQueuedBytes {
		u.fail(ErrUplinkFull)
		return ErrUplinkFull
	}
	u.waiting = append(u.waiting, m)
	u.count++
	u.bytes += len(m.data)
	u.signal()
	return nil
}

// signal makes run look again.
func (u *uplink) signal() {
	select {
	case u.wake <- struct{}{}:
	default: // run will look in any case
	}
}

// run writes what is queued and reports what has been played, until the connection
// is over. It closes the socket.
func (u *uplink) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var message outgoing
		u.mu.Lock()
		for _, report := range u.player.report(time.Now()) {
			_ = u.pushCommand(newID(), report) // an error is the end of the connection
		}
		ok := u.ctx.Err() == nil && len(u.waiting) > 0
		if ok {
			message, u.waiting = u.waiting[0], u.waiting[1:]
		}
		due := u.player.nextReport()
		u.mu.Unlock()
		if ok {
			u.write(message)
			continue
		}
		var played <-chan time.Time
		if !due.IsZero() {
			timer.Reset(time.Until(due))
			played = timer.C
		}
		select {
		case <-u.ctx.Done():
			// The library waits some seconds for a host that does not answer a close.
			if errors.Is(context.Cause(u.ctx), ErrClosed) {
				_ = u.ws.Close(websocket.StatusNormalClosure, "") // whether it is answered or not
			} else {
				_ = u.ws.CloseNow() // it is over either way
			}
			return
		case <-u.wake:
		case <-played:
		}
	}
}

// write sends one message. One that is not sent in time ends the connection.
func (u *uplink) write(m outgoing) {
	// Not a deadline of Write itself: the socket would be closed before its cause
	// is known.
	watchdog := time.AfterFunc(sendWithin, func() { u.fail(ErrSendTimeout) })
	defer watchdog.Stop()
	err := u.ws.Write(u.ctx, m.kind, m.data)
	u.mu.Lock()
	u.count--
	u.bytes -= len(m.data)
	u.mu.Unlock()
	if err != nil {
		u.fail(fmt.Errorf("send to the host: %w", err))
	}
}

// renderMS is this client's own clock.
func (u *uplink) renderMS() float64 { return float64(time.Since(u.since).Microseconds()) / 1000 }

// newID is a UUID as the apps spell it.
func newID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return strings.ToUpper(pairing.NewDeviceID(random).String())
}
