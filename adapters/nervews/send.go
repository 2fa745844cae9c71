package nervews

import (
	"context"
	"errors"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/framing"
	"plexus/domain/sessions"
)

// errGone: the request or its connection is over; nothing more can be sent.
var errGone = errors.New("the request is over")

// maxTokenText keeps a token's frame far below 1 MiB even when every byte of
// its text has to be escaped.
const maxTokenText = 64 << 10

// queue waits until push, called under the send lock, takes b. It gives b back
// to the pool when the session or ctx ends first.
func (s *Session) queue(ctx context.Context, b *wsconn.Buffer, push func() bool) {
	for {
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			b.Put()
			return
		}
		if push() {
			s.mu.Unlock()
			s.wakeWriter()
			return
		}
		room := s.roomWanted()
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			b.Put()
			return
		}
	}
}

// roomWanted gives a channel that is closed when room is made. mu is held.
func (s *Session) roomWanted() <-chan struct{} {
	if s.waiters == nil {
		s.waiters = make(chan struct{})
	}
	return s.waiters
}

// roomMade wakes whoever waits for room. mu is held.
func (s *Session) roomMade() {
	if s.waiters != nil {
		close(s.waiters)
		s.waiters = nil
	}
}

func (s *Session) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake already
	}
}

// writeLoop is the writer: it drains the outbox, looks for signs of life, and
// says goodbye when the session ends.
func (s *Session) writeLoop() {
	life := newLifeWatch(s)
	defer life.stop()
	for {
		select {
		case <-s.wake:
			s.drain()
		case <-life.timer.C:
			life.look()
		case <-s.stop:
			s.goodbye()
			return
		}
	}
}

// drain writes until nothing is queued or somebody else is writing.
func (s *Session) drain() {
	for {
		s.mu.Lock()
		if s.writing {
			s.mu.Unlock()
			return // the reader is; it wakes us when it is done
		}
		b := s.outbox.Pop()
		if b == nil {
			s.mu.Unlock()
			return
		}
		s.writing = true
		s.roomMade()
		s.mu.Unlock()
		ok := s.write(b.B)
		b.Put()
		if !ok {
			return
		}
	}
}

// write writes one frame for whoever has set writing, and clears it.
func (s *Session) write(frame []byte) (ok bool) {
	err := s.link.WriteFrame(frame)
	s.mu.Lock()
	s.writing = false
	more := !s.outbox.Empty() || s.ended
	s.mu.Unlock()
	if err != nil {
		end := &EndError{Reason: sessions.Internal, Err: err}
		errors.As(err, &end)
		s.end(end.Reason, end.Err)
		return false
	}
	if more {
		s.wakeWriter()
	}
	return true
}

// goodbye flushes what the reason wants flushed and closes the link.
func (s *Session) goodbye() {
	for s.flushOne() {
	}
	s.cut.Stop() // Close has a limit of its own
	s.link.Close(s.reason)
}

// flushOne writes one queued frame of an ended session. false: nothing is left.
func (s *Session) flushOne() bool {
	s.mu.Lock()
	if s.writing {
		s.mu.Unlock()
		select { // the reader is inside a write; it wakes us
		case <-s.wake:
			return true
		case <-time.After(wsconn.CloseLimit):
			return false
		}
	}
	b := s.outbox.Pop()
	s.mu.Unlock()
	if b == nil {
		return false
	}
	defer b.Put()
	return s.link.WriteFrame(b.B) == nil
}

// lifeWatch retires a peer that has given no sign of life for silentLooks looks.
type lifeWatch struct {
	session *Session
	timer   *time.Timer
	seen    uint64
	silent  int
}

func newLifeWatch(s *Session) *lifeWatch {
	return &lifeWatch{session: s, timer: time.NewTimer(s.timing.Keepalive)}
}

func (l *lifeWatch) look() {
	s := l.session
	if seen := s.link.SignsOfLife(); seen != l.seen {
		l.seen, l.silent = seen, 0
	} else if l.silent++; l.silent >= silentLooks {
		s.end(sessions.GhostRetired, nil)
		return
	}
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, s.timing.Keepalive)
		defer cancel()
		s.link.Probe(ctx)
	})
	l.timer.Reset(s.timing.Keepalive)
}

func (l *lifeWatch) stop() { l.timer.Stop() }

// sink carries one answer into the outbox. Its calls come from one worker.
type sink struct {
	session *Session
	id      uint64
	request *request
	done    bool // FINAL is queued, or never will be
}

// Results queues the SearchResult.
func (k *sink) Results(ctx context.Context, r framing.SearchResult) error {
	b := wsconn.GetBuffer()
	var dropped int
	b.B, dropped = framing.AppendSearchResult(b.B, k.id, r)
	if dropped > 0 {
		k.session.log.Warn("results were cut to fit one frame", "request_id", k.id, "dropped", dropped)
	}
	return k.push(ctx, b, false)
}

// Token queues text, in several frames when it is long.
func (k *sink) Token(ctx context.Context, text string, final bool) error {
	for len(text) > maxTokenText {
		var head string
		head, text = framing.SplitToken(text, maxTokenText)
		if err := k.token(ctx, head, false); err != nil {
			return err
		}
	}
	return k.token(ctx, text, final)
}

func (k *sink) token(ctx context.Context, text string, final bool) error {
	b := wsconn.GetBuffer()
	b.B = framing.AppendAiToken(b.B, k.id, text, final)
	return k.push(ctx, b, final)
}

// push waits for room and queues b, if the request still lives. That check, the
// enqueue, and with FINAL the freeing of the slot are one critical section.
func (k *sink) push(ctx context.Context, b *wsconn.Buffer, final bool) error {
	s := k.session
	for {
		s.mu.Lock()
		if r, live := s.inflight.Get(k.id); !live || r != k.request {
			s.mu.Unlock()
			b.Put()
			k.done = true
			if err := ctx.Err(); err != nil {
				return err
			}
			return errGone
		}
		if s.outbox.Push(k.id, b) {
			if final {
				s.inflight.End(k.id)
				k.done = true
			}
			s.mu.Unlock()
			s.wakeWriter()
			return nil
		}
		room := s.roomWanted()
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			b.Put()
			return ctx.Err()
		}
	}
}
