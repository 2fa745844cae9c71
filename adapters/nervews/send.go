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

// enqueue waits until push, called under the send lock, has queued b: it reports
// whether there was room, and an error when b is not wanted any more.
func (s *Session) enqueue(ctx context.Context, b *wsconn.Buffer, push func() (bool, error)) error {
	for {
		s.mu.Lock()
		queued, err := push()
		var room <-chan struct{}
		if !queued {
			room = s.drained.Wait()
		}
		s.mu.Unlock()
		switch {
		case err != nil:
			b.Put()
			return err
		case queued:
			s.writer.Wake()
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			b.Put()
			return ctx.Err()
		}
	}
}

// enqueueUrgent queues what goes before all answers. At the end of the session it
// is dropped.
func (s *Session) enqueueUrgent(b *wsconn.Buffer) {
	_ = s.enqueue(s.ctx, b, func() (bool, error) {
		if s.ended {
			return false, errGone
		}
		return s.outbox.PushUrgent(b), nil
	})
}

// Next gives the writer the next frame (wsconn.Queue), and makes room.
func (s *Session) Next() (f wsconn.Frame, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.outbox.Pop()
	if b == nil {
		return wsconn.Frame{}, false
	}
	s.drained.Notify()
	return wsconn.Frame{Buffer: b}, true
}

// Written takes the frame back (wsconn.Queue).
func (s *Session) Written(f wsconn.Frame, _ error) { f.Buffer.Put() }

// writeFailed ends the session when the writer has failed.
func (s *Session) writeFailed(err error) {
	end := &LinkError{Reason: sessions.Internal, Err: err}
	if errors.Is(err, wsconn.ErrPeerTimeout) {
		end = &LinkError{Reason: sessions.PeerTimeout}
	}
	errors.As(err, &end)
	s.end(end.Reason, end.Err)
}

// answerSink carries one answer into the outbox. Its calls come from one worker.
type answerSink struct {
	session *Session
	id      uint64
	request *request
	done    bool // FINAL is queued, or never will be
}

// Results queues the SearchResult.
func (k *answerSink) Results(ctx context.Context, r framing.SearchResult) error {
	b := wsconn.GetBuffer()
	var dropped int
	b.B, dropped = framing.AppendSearchResult(b.B, k.id, r)
	if dropped > 0 {
		k.session.log.Warn("results were cut to fit one frame", "request_id", k.id, "dropped", dropped)
	}
	return k.push(ctx, b, false)
}

// Token queues text, in several frames when it is long.
func (k *answerSink) Token(ctx context.Context, text string, final bool) error {
	for len(text) > maxTokenText {
		var head string
		head, text = framing.SplitToken(text, maxTokenText)
		if err := k.token(ctx, head, false); err != nil {
			return err
		}
	}
	return k.token(ctx, text, final)
}

func (k *answerSink) token(ctx context.Context, text string, final bool) error {
	b := wsconn.GetBuffer()
	b.B = framing.AppendAiToken(b.B, k.id, text, final)
	return k.push(ctx, b, final)
}

// push queues b, if the request still lives. That check, the enqueue, and with FINAL
// the freeing of the slot are one critical section.
func (k *answerSink) push(ctx context.Context, b *wsconn.Buffer, final bool) error {
	s := k.session
	err := s.enqueue(ctx, b, func() (bool, error) {
		if r, live := s.inflight.Get(k.id); !live || r != k.request {
			k.done = true
			return false, errGone
		}
		queued := s.outbox.Push(k.id, b)
		if queued && final {
			s.inflight.End(k.id)
			k.done = true
		}
		return queued, nil
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
