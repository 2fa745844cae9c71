package novaws

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/playback"
	"plexus/domain/sessions"
)

// silentLooks is how many looks without a sign of life retire a client: with
// the default keepalive, 60 s (decision K3).
const silentLooks = 3

// outgoing writes one connection's outbox. Anybody may send; one writer writes.
type outgoing struct {
	ctx       context.Context // ends with the connection
	socket    *wsconn.Socket
	keepalive time.Duration
	log       *slog.Logger
	wake      chan struct{} // to the writer: there is something to do
	stopped   chan struct{} // closed by end
	stirred   chan struct{} // to who composes states: stateDue may say something else
	probes    sync.WaitGroup

	mu     sync.Mutex
	box    *outbox
	states sessions.Coalescer // of the personal state
	ended  bool
	flush  bool
	cut    *time.Timer // armed by end: frees a writer that is stuck
}

func newOutgoing(ctx context.Context, socket *wsconn.Socket, keepalive time.Duration, log *slog.Logger) *outgoing {
	o := &outgoing{
		ctx: ctx, socket: socket, keepalive: keepalive, log: log,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), stirred: make(chan struct{}, 1),
	}
	o.box = newOutbox(false, func() { rouse(o.wake) })
	return o
}

// rouse wakes who waits on a channel of one place, now or when it looks again.
func rouse(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // it is awake already
	}
}

// admit lets frames in, those of the personal extension where it was granted.
// fence is what the process has told clients to drop.
func (o *outgoing) admit(fence playback.Fence, personal bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.box.personal = personal
	o.box.admit(fence)
}

// send queues m. A reason other than 0 ends the connection.
func (o *outgoing) send(m nova.Message) sessions.CloseReason {
	f, ok := describe(m)
	switch {
	case !ok:
		return sessions.Internal
	case f.kind.extension() && !o.extended():
		return 0
	}
	b := wsconn.GetBuffer()
	text, err := nova.Append(b.B, m)
	if err != nil { // our bug: what cannot be said is dropped, and disturbs nobody
		b.Put()
		o.log.Error("a message could not be encoded", "type", m.Type(), "error", err)
		return 0
	}
	if private := bodyOf(m); len(private) > len(text) { // decision K13: the last resort
		o.log.Warn("a personal message was too large and goes without its body", "type", m.Type(), "bytes", len(private))
		f.snapshot = f.kind == kindPersonalState // of a state, the revision has gone; of a result, nothing
	}
	b.B = text
	f.buffer = b
	o.mu.Lock()
	defer o.mu.Unlock()
	news := !f.snapshot || o.states.Told(f.revision)
	if o.ended || f.kind == kindPersonalState && !news {
		b.Put()
		return 0
	}
	switch o.box.push(f) {
	case refused:
		o.log.Error("a message is out of place or too large", "type", m.Type())
	case queueFull:
		return sessions.RequiredFrameLost
	case overBudget:
		return sessions.OutputBudget
	}
	return 0
}

// bodyOf gives the part of a personal message that it can go without.
func bodyOf(m nova.Message) []byte {
	switch m := m.(type) {
	case nova.PersonalState:
		return m.Frame
	case nova.PersonalResult:
		return m.Data
	}
	return nil
}

// extended reports whether the client has the personal extension.
func (o *outgoing) extended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.box.personal
}

// changed notes that the personal state has this revision.
func (o *outgoing) changed(revision uint64, now time.Time) {
	o.mu.Lock()
	o.states.Changed(revision, now)
	o.mu.Unlock()
	rouse(o.stirred)
}

// stateDue reports whether the personal state is to be composed now. Else wait is
// how long until then, or 0 for until stirred: on a slow link nothing is composed
// while a body is still on its way, so that one at most is in memory and the next
// is as new as it can be.
func (o *outgoing) stateDue(now time.Time) (compose bool, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := o.states.Due()
	switch {
	case o.ended, due.IsZero(), o.box.holdsBody():
		return false, 0
	case o.states.Take(now):
		return true, 0
	}
	return false, due.Sub(now)
}

// run writes until end. It calls retire when the client has to go.
func (o *outgoing) run(retire func(sessions.CloseReason)) {
	defer o.probes.Wait()
	look := time.NewTimer(o.keepalive)
	defer look.Stop()
	life := &signsOfLife{}
	for {
		select {
		case <-o.wake:
			if reason := o.drain(); reason != 0 {
				retire(reason)
			}
		case <-look.C:
			if life.silent(o.socket.Reads()) {
				retire(sessions.GhostRetired)
			}
			o.probe()
			look.Reset(o.keepalive)
		case <-o.stopped:
			if o.flush {
				_ = o.drain() // the connection ends either way
			}
			o.cut.Stop()
			return
		}
	}
}

// drain writes until nothing is queued.
func (o *outgoing) drain() sessions.CloseReason {
	for {
		o.mu.Lock()
		f, ok := o.box.next()
		o.mu.Unlock()
		if !ok {
			return 0
		}
		err := o.write(f)
		o.mu.Lock()
		o.box.written(f)
		o.mu.Unlock()
		if f.kind.body() {
			rouse(o.stirred)
		}
		if err != nil {
			if wsconn.FaultOf(err) == wsconn.TimedOut {
				return sessions.SlowReader
			}
			return sessions.WriteFailed
		}
	}
}

func (o *outgoing) write(f frame) error {
	if f.kind == kindAudio {
		return o.socket.WriteBinary(f.buffer.B)
	}
	return o.socket.WriteText(f.buffer.B)
}

// end stops the writer, with or without what is queued, and frees it when the
// client takes nothing.
func (o *outgoing) end(flush bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended, o.flush = true, flush
	if !flush {
		o.box.release()
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

// signsOfLife looks for bytes that came. Nobody looks while something is being
// written: that has a limit of its own, which counts progress.
type signsOfLife struct {
	reads uint64
	quiet int
}

func (l *signsOfLife) silent(reads uint64) bool {
	if reads != l.reads {
		l.reads, l.quiet = reads, 0
	} else {
		l.quiet++
	}
	return l.quiet >= silentLooks
}
