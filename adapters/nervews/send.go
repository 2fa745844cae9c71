package nervews

import (
	"context"
	"errors"

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
			s.writer.Wake()
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

// Next gives the writer the next frame (wsconn.Queue), and makes room.
func (s *Session) Next() (f wsconn.Frame, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.outbox.Pop()
	if b == nil {
		return wsconn.Frame{}, false
	}
	s.roomMade()
	return wsconn.Frame{Buffer: b}, true
}

// Written takes the frame back (wsconn.Queue).
func (s *Session) Written(f wsconn.Frame, _ error) { f.Buffer.Put() }

// writeFailed ends the session when the writer has failed.
func (s *Session) writeFailed(err error) {
	end := &EndError{Reason: sessions.Internal, Err: err}
	if errors.Is(err, wsconn.ErrPeerTimeout) {
		end = &EndError{Reason: sessions.PeerTimeout}
	}
	errors.As(err, &end)
	s.end(end.Reason, end.Err)
}

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
			s.writer.Wake()
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
