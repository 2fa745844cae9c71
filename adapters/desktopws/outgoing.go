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

// silentLooks is how many looks without a sign of life retire a page: with the
// default keepalive, 60 s.
const silentLooks = 3

// frame is one message on its way. What has the key of one that waits takes its
// place: a newer state, or a caption that has grown.
type frame struct {
	key  string
	text []byte
}

// outgoing is what one socket still has to write. Anybody may send; one writer
// writes.
type outgoing struct {
	ctx       context.Context // ends with the socket
	socket    *wsconn.Socket
	keepalive time.Duration
	log       *slog.Logger
	wake      chan struct{} // to the writer: there is something to do
	stopped   chan struct{} // closed by end
	probes    sync.WaitGroup

	mu      sync.Mutex
	waiting []frame
	bytes   int
	ended   bool
	flush   bool
	cut     *time.Timer // armed by end: frees a writer that is stuck
}

func newOutgoing(ctx context.Context, socket *wsconn.Socket, keepalive time.Duration, log *slog.Logger) *outgoing {
	return &outgoing{
		ctx: ctx, socket: socket, keepalive: keepalive, log: log, wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
}

// send queues m. A reason other than 0 ends the socket.
func (o *outgoing) send(m nova.Message) sessions.CloseReason {
	text, err := nova.AppendDesktop(nil, m)
	if err != nil { // our bug: what cannot be said is dropped, and disturbs nobody
		o.log.Error("a message could not be encoded", "type", m.Type(), "error", err)
		return 0
	}
	f := frame{keyOf(m), text}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return 0
	}
	o.replace(f.key)
	if len(o.waiting) >= maxWaitingFrames || o.bytes+len(text) > maxWaitingBytes {
		return sessions.OutputBudget
	}
	o.waiting = append(o.waiting, f)
	o.bytes += len(text)
	select {
	case o.wake <- struct{}{}:
	default: // it is awake already
	}
	return 0
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

// replace drops the frame that waits under key.
func (o *outgoing) replace(key string) {
	if key == "" {
		return
	}
	if i := slices.IndexFunc(o.waiting, func(f frame) bool { return f.key == key }); i >= 0 {
		o.bytes -= len(o.waiting[i].text)
		o.waiting = slices.Delete(o.waiting, i, i+1)
	}
}

func (o *outgoing) next() (frame, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return frame{}, false
	}
	f := o.waiting[0]
	o.waiting = slices.Delete(o.waiting, 0, 1)
	o.bytes -= len(f.text)
	return f, true
}

// run writes until end. It calls retire when the page has to go.
func (o *outgoing) run(retire func(sessions.CloseReason)) {
	defer o.probes.Wait()
	look := time.NewTimer(o.keepalive)
	defer look.Stop()
	reads, quiet := uint64(0), 0
	for {
		select {
		case <-o.wake:
			if reason := o.drain(); reason != 0 {
				retire(reason)
			}
		case <-look.C:
			if now := o.socket.Reads(); now != reads {
				reads, quiet = now, 0
			} else if quiet++; quiet >= silentLooks {
				retire(sessions.GhostRetired)
			}
			o.probe()
			look.Reset(o.keepalive)
		case <-o.stopped:
			if o.flush {
				_ = o.drain() // the socket ends either way
			}
			o.cut.Stop()
			return
		}
	}
}

// drain writes until nothing is queued.
func (o *outgoing) drain() sessions.CloseReason {
	for {
		f, ok := o.next()
		if !ok {
			return 0
		}
		if err := o.socket.WriteText(f.text); err != nil {
			return wsconn.WriteEnd(err)
		}
	}
}

// end stops the writer, with or without what is queued, and frees it when the
// page takes nothing.
func (o *outgoing) end(flush bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended, o.flush = true, flush
	if !flush {
		o.waiting, o.bytes = nil, 0
	}
	o.cut = time.AfterFunc(retireLimit, o.socket.Cut)
	close(o.stopped)
}

// probe sends a WebSocket ping; what comes back counts as a sign of life.
func (o *outgoing) probe() {
	o.probes.Go(func() {
		ctx, cancel := context.WithTimeout(o.ctx, o.keepalive)
		defer cancel()
		_ = o.socket.Ping(ctx) // whatever comes back is counted elsewhere
	})
}
