package desktopws

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// Bounds of what waits to be written: two of the longest personal frames, and
// what comes between them.
const (
	maxWaitingFrames = 512
	maxWaitingBytes  = 2*nova.MaxDesktopText + 1<<20
)

// frame is one message on its way. What has the key of one that waits takes its
// place: a newer state, or a caption that has grown.
type frame struct {
	key    string
	buffer *wsconn.Buffer
}

// sender is the way of messages to one page: anybody may send, and the Writer
// writes what waits.
type sender struct {
	log    *slog.Logger
	writer *wsconn.Writer

	mu      sync.Mutex
	waiting []frame
	bytes   int
	ended   bool
}

func newSender(ctx context.Context, socket *wsconn.Socket, interval time.Duration, log *slog.Logger) *sender {
	o := &sender{log: log}
	o.writer = wsconn.NewWriter(o, func(f wsconn.Frame) error { return socket.Write(f.Buffer.B, f.Text) }, socket.CloseNow,
		wsconn.NewKeepAlive(ctx, socket, interval, 0))
	return o
}

// send queues m. A reason other than 0 ends the socket.
func (o *sender) send(m nova.Message) sessions.CloseReason {
	b := wsconn.GetBuffer()
	text, err := nova.AppendDesktop(b.B, m)
	if err != nil { // our bug: what cannot be said is dropped, and disturbs nobody
		b.Put()
		o.log.Error("a message could not be encoded", "type", m.Type(), "error", err)
		return 0
	}
	b.B = text
	key := keyOf(m)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		b.Put()
		return 0
	}
	if i := slices.IndexFunc(o.waiting, func(f frame) bool { return key != "" && f.key == key }); i >= 0 {
		o.take(i).Put()
	}
	if len(o.waiting) >= maxWaitingFrames || o.bytes+len(text) > maxWaitingBytes {
		b.Put()
		return sessions.OutputBudget
	}
	o.waiting = append(o.waiting, frame{key, b})
	o.bytes += len(text)
	o.writer.Wake()
	return 0
}

// take removes the frame at i. mu is held.
func (o *sender) take(i int) *wsconn.Buffer {
	b := o.waiting[i].buffer
	o.waiting = slices.Delete(o.waiting, i, i+1)
	o.bytes -= len(b.B)
	return b
}

// keyOf gives the key of messages of which only the newest matters; "" for all
// others. A caption holds the whole of what it stands for, as far as it goes.
func keyOf(m nova.Message) string {
	switch m := m.(type) {
	case nova.PersonalState:
		return m.Type()
	case nova.Caption:
		if !m.Final {
			return m.Type() + " " + m.ConversationID + " " + m.TurnID + " " + m.MessageID + " " + string(m.Role)
		}
	}
	return ""
}

// Next gives the Writer the next frame (wsconn.Queue).
func (o *sender) Next() (f wsconn.Frame, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return f, false
	}
	return wsconn.Frame{Buffer: o.take(0), Text: true}, true
}

// Written takes the frame back (wsconn.Queue).
func (o *sender) Written(f wsconn.Frame, _ error) { f.Buffer.Put() }

// end takes nothing more, and stops the writer with or without what is queued.
func (o *sender) end(flush bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	for !flush && len(o.waiting) > 0 {
		o.take(0).Put()
	}
	o.writer.Stop(closeLimit)
}
