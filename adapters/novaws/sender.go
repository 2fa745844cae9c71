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

// sender queues the messages to one client: any goroutine may send, and the Writer
// writes what is in the outbox. It also knows when the personal state is due.
type sender struct {
	log            *slog.Logger
	writer         *wsconn.Writer
	keepAlive      *wsconn.KeepAlive
	snapshotSignal chan struct{} // wakes sendSnapshots: the answer of snapshotDue may have changed

	// The Writer's alone.
	writing frame
	began   time.Time

	mu          sync.Mutex // the send lock
	box         *outbox
	states      sessions.Coalescer // of the personal state
	unconfirmed int                // large bodies that left and may not have arrived
	ended       bool
}

func newSender(ctx context.Context, socket *wsconn.Socket, interval time.Duration, log *slog.Logger) *sender {
	s := &sender{log: log, snapshotSignal: make(chan struct{}, 1), keepAlive: wsconn.NewKeepAlive(ctx, socket, interval, wsconn.SlowestLink)}
	s.writer = wsconn.NewWriter(s, func(f wsconn.Frame) error { return socket.Write(f.Buffer.B, f.Text) }, socket.CloseNow, s.keepAlive)
	s.box = newOutbox(false, s.writer.Wake)
	return s
}

// admit lets frames in, those of the personal extension where it was granted.
// fence is what the process has told clients to drop.
func (s *sender) admit(fence playback.Fence, personal bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box.personal = personal
	s.box.admit(fence)
}

// send queues m. A reason other than 0 ends the connection.
func (s *sender) send(m nova.Message) sessions.CloseReason {
	f, ok := frameOf(m)
	switch {
	case !ok:
		return sessions.Internal
	case f.kind.extension():
		s.mu.Lock()
		personal := s.box.personal
		s.mu.Unlock()
		if !personal {
			return 0
		}
	}
	b := wsconn.GetBuffer()
	text, err := nova.Append(b.B, m)
	if err != nil { // a bug of ours: the message is dropped and the connection goes on
		b.Put()
		s.log.Error("a message could not be encoded", "type", m.Type(), "error", err)
		return 0
	}
	var private []byte // what a personal message can go without
	switch m := m.(type) {
	case nova.PersonalState:
		private = m.Frame
	case nova.PersonalResult:
		private = m.Data
	}
	if len(private) > len(text) { // decision K13: the last resort
		s.log.Warn("a personal message was too large and goes without its body", "type", m.Type(), "bytes", len(private))
		f.snapshot = f.kind == kindPersonalState // of a state, the revision has gone; of a result, nothing
	}
	b.B = text
	f.buffer = b
	s.mu.Lock()
	defer s.mu.Unlock()
	news := !f.snapshot || s.states.Told(f.revision)
	if s.ended || f.kind == kindPersonalState && !news {
		b.Put()
		return 0
	}
	switch s.box.push(f) {
	case refused:
		s.log.Error("a message is out of place or too large", "type", m.Type())
	case queueFull:
		return sessions.RequiredFrameLost
	case overBudget:
		return sessions.OutputBudget
	}
	return 0
}

// changed notes that the personal state has this revision.
func (s *sender) changed(revision uint64, now time.Time) {
	s.mu.Lock()
	s.states.Changed(revision, now)
	s.mu.Unlock()
	wsconn.Signal(s.snapshotSignal)
}

// snapshotDue reports whether the personal state is to be composed now. Else wait is
// how long until then, or 0 for until the next snapshotSignal: on a slow link nothing
// is composed while a body is still on its way, here or in a buffer beyond, so that
// one at most is there and the next is as new as it can be.
func (s *sender) snapshotDue(now time.Time) (due bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.states.Due()
	switch {
	case s.ended, at.IsZero(), s.box.holdsBody(), s.unconfirmed > 0:
		return false, 0
	case s.states.Take(now):
		return true, 0
	}
	return false, at.Sub(now)
}

// Next gives the Writer the next frame (wsconn.Queue).
func (s *sender) Next() (wsconn.Frame, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.box.next()
	s.writing, s.began = f, time.Now()
	return wsconn.Frame{Buffer: f.buffer, Text: f.kind != kindAudio}, ok
}

// A body of more than largeBody bytes that took less than quickWrite may lie in a
// buffer. One that took longer has met a link that holds the writer back by itself.
const (
	largeBody  = 64 << 10
	quickWrite = time.Second
)

// Written takes the frame back (wsconn.Queue).
func (s *sender) Written(_ wsconn.Frame, err error) {
	body, size := s.writing.kind.body(), len(s.writing.buffer.B)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && body && size > largeBody && time.Since(s.began) < quickWrite {
		// A ping behind it: once the pong is there, or the time for it on the slowest
		// link is over, the client has the body, and another may follow.
		s.unconfirmed++
		s.keepAlive.Ping(time.Duration(size)*time.Second/wsconn.SlowestLink, func() {
			s.mu.Lock()
			s.unconfirmed--
			s.mu.Unlock()
			wsconn.Signal(s.snapshotSignal)
		})
	}
	s.box.written(s.writing)
	if body {
		wsconn.Signal(s.snapshotSignal)
	}
}

// end refuses further messages, and stops the writer with or without writing what
// is queued.
func (s *sender) end(flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if !flush {
		s.box.release()
	}
	s.writer.Stop(closeLimit)
}
