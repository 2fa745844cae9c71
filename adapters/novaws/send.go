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
	unseen int                // large bodies that left and may not have arrived
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
// while a body is still on its way, here or in a buffer beyond, so that one at most
// is there and the next is as new as it can be.
func (o *outgoing) stateDue(now time.Time) (compose bool, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := o.states.Due()
	switch {
	case o.ended, due.IsZero(), o.box.holdsBody(), o.unseen > 0:
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
			if life.silent(o.socket.Reads(), o.socket.Sent(), o.keepalive) {
				retire(sessions.GhostRetired)
			}
			if life.backlog == 0 { // else a ping would wait behind it, and be given up
				o.probe(o.keepalive)
			}
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
		size, began := len(f.buffer.B), time.Now()
		err := o.write(f)
		if err == nil && f.kind.body() && size > largeBody && time.Since(began) < promptly {
			o.prove(size)
		}
		o.mu.Lock()
		o.box.written(f)
		o.mu.Unlock()
		if f.kind.body() {
			rouse(o.stirred)
		}
		if err != nil {
			return wsconn.WriteEnd(err)
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
func (o *outgoing) probe(patience time.Duration) {
	o.probes.Go(func() { o.ping(patience) })
}

func (o *outgoing) ping(patience time.Duration) {
	ctx, cancel := context.WithTimeout(o.ctx, patience)
	defer cancel()
	_ = o.socket.Ping(ctx) // whatever comes back is counted elsewhere
}

// slowestLink is the rate, in bytes a second, below which a link is as good as
// none. What was sent may still be on its way, in the buffers of this machine and
// of a proxy, and a ping waits behind it: 900 KiB at this rate need almost two
// minutes.
const slowestLink = 8 << 10

// arrival is how long size bytes may be on their way.
func arrival(size int) time.Duration { return time.Duration(size) * time.Second / slowestLink }

// A body of more than largeBody bytes that left promptly may lie in a buffer. One
// that took longer has met a link that holds the writer back by itself.
const (
	largeBody = 64 << 10
	promptly  = time.Second
)

// prove pings behind a large body: once the pong is there the client has the
// body, and another may follow.
func (o *outgoing) prove(size int) {
	o.mu.Lock()
	o.unseen++
	o.mu.Unlock()
	o.probes.Go(func() {
		o.ping(arrival(size))
		o.mu.Lock()
		o.unseen--
		o.mu.Unlock()
		rouse(o.stirred)
	})
}

// signsOfLife looks for bytes that came. Nobody looks while something is being
// written: that has a limit of its own, which counts progress. While much is on its
// way silence says nothing.
type signsOfLife struct {
	reads   uint64
	sent    uint64
	backlog uint64 // bytes that may not have arrived, at slowestLink
	quiet   int
}

// silent is asked once every interval.
func (l *signsOfLife) silent(reads, sent uint64, interval time.Duration) bool {
	arrives := uint64(slowestLink * interval / time.Second)
	l.backlog += sent - l.sent
	l.backlog -= min(l.backlog, arrives)
	heard := reads != l.reads
	l.reads, l.sent = reads, sent
	switch {
	case heard:
		l.quiet = 0
	case l.backlog == 0:
		l.quiet++
	}
	return l.quiet >= silentLooks
}
