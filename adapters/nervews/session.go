package nervews

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/ask"
	"plexus/usecases/recovery"
	"plexus/usecases/syncx"
)

// QueryService answers the queries of a session. *ask.Service is one.
type QueryService interface {
	AnswerQuery(ctx context.Context, q ask.Question, sink ports.AnswerSink)
	CountRefused()
}

// Timing of a session. The zero value of a field means its default.
type Timing struct {
	KeepAlive time.Duration // between two pings; default wsconn.KeepAliveInterval
	Finish    time.Duration // for answers that a half-closed peer waits for; default 150 s
}

// Session runs one NERVE connection over a Link. Its reader goroutine is the
// actor: it parses frames and handles Ping and Cancel itself. Each query runs in
// a worker of its own, and one writer drains the outbox. One lock, mu, guards
// the request table and the outbox together, so that nothing of a request can
// follow its Cancel and a slot is free no later than its FINAL is queued.
type Session struct {
	link    Link
	queries QueryService
	asker   string
	room    payloadRoom
	timing  Timing
	log     *slog.Logger

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	work   sync.WaitGroup // workers
	writer *wsconn.Writer

	mu       sync.Mutex
	inflight sessions.Inflight[*request]
	outbox   wsconn.Outbox
	drained  syncx.Notifier // tells that the outbox has room again
	ended    bool
	payloads int // bytes of the queries that are being answered
	reason   sessions.CloseReason
	cause    error

	counts counts
}

// request is one query between its acceptance and its FINAL or Cancel.
type request struct{ cancel context.CancelFunc }

// counts is what the closing log line tells. The reader goroutine alone writes it.
type counts struct{ frames, queries, cancels, refused, ignored int }

// NewSession prepares a session for a peer.
func NewSession(link Link, queries QueryService, peer admission.Peer, payloads *syncx.Budget, timing Timing, log *slog.Logger) *Session {
	if timing.KeepAlive == 0 {
		timing.KeepAlive = wsconn.KeepAliveInterval
	}
	if timing.Finish == 0 {
		timing.Finish = 150 * time.Second
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{
		link: link, queries: queries, asker: peer.Origin, timing: timing, log: log,
		ctx: ctx, cancel: cancel,
	}
	s.room = payloadRoom{budget: payloads, origin: peer.Origin, ctx: ctx}
	var keepAlive *wsconn.KeepAlive
	if p := link.Peer(); p != nil {
		keepAlive = wsconn.NewKeepAlive(ctx, &patientPeer{Peer: p, room: &s.room}, timing.KeepAlive, 0)
	}
	s.writer = wsconn.NewWriter(s, func(f wsconn.Frame) error { return link.WriteFrame(f.Buffer.B) }, link.CloseNow, keepAlive)
	return s
}

// Close ends the session for a reason of ours. It never blocks.
func (s *Session) Close(reason sessions.CloseReason) { s.end(reason, nil) }

// Attacher knows the open sessions: each is to be closed when its peer's admission is
// taken back. ok is false when it was, meanwhile.
type Attacher interface {
	Attach(ctx context.Context, v admission.Verdict, link ports.NerveLink) (detach func(), ok bool)
}

// Serve is Run in the tracker's slot that was reserved for it, known to auth.
func (s *Session) Serve(tracker *wsconn.Tracker, auth Attacher, v admission.Verdict) {
	tracker.Add(s)
	defer tracker.Release(s)
	if detach, ok := auth.Attach(s.ctx, v, s); ok {
		defer detach()
	} else {
		s.Close(sessions.ExtensionRemoved)
	}
	s.Run()
}

// Run serves the connection until it ends, and returns when every goroutine of
// it has. It logs one line when it opens and one when it closes.
func (s *Session) Run() {
	opened := time.Now()
	s.log.Info("connection opened")
	var writing sync.WaitGroup
	writing.Go(func() {
		s.writer.Run(s.writeFailed)
		s.link.Close(s.reason)
	})
	end := s.readLoop()
	if end.Reason == sessions.ClientGone && s.link.HalfOpen() {
		s.finishHalfClosed()
	}
	s.end(end.Reason, end.Err)
	writing.Wait()
	s.work.Wait()
	attrs := []any{
		"reason", s.reason.String(), "lasted", time.Since(opened).Round(time.Millisecond),
		"frames", s.counts.frames, "queries", s.counts.queries, "cancels", s.counts.cancels,
		"refused", s.counts.refused, "ignored", s.counts.ignored,
	}
	if s.cause != nil {
		attrs = append(attrs, "cause", s.cause)
	}
	s.log.Info("connection closed", attrs...)
}

// end starts the teardown, once: every request is cancelled, and the connection
// closed after what still has to go out. A peer that does not read cannot delay
// that, even while a write to it is blocked.
func (s *Session) end(reason sessions.CloseReason, cause error) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended, s.reason, s.cause = true, reason, cause
	s.inflight.Drain(func(_ uint64, r *request) { r.cancel() })
	if !reason.Flushes() {
		s.outbox.Clear()
	}
	s.mu.Unlock()
	s.cancel()
	s.writer.Stop(wsconn.CloseLimit)
}

// readLoop reads and dispatches frames until the link or a rule ends it.
func (s *Session) readLoop() (end *LinkError) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("the session panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
			end = &LinkError{Reason: sessions.Internal}
		}
	}()
	defer s.room.giveBack()
	admit := s.room.admit
	for {
		s.room.giveBack() // what no query has taken over
		h, frame, err := s.link.ReadFrame(admit)
		if err != nil {
			if errors.As(err, &end) {
				return end
			}
			return &LinkError{Reason: sessions.Internal, Err: err}
		}
		if s.ctx.Err() != nil { // the session has ended; the frame is dropped
			return &LinkError{Reason: sessions.ClientGone}
		}
		s.counts.frames++
		switch h.Type {
		case framing.Ping:
			s.echo(frame)
		case framing.Cancel:
			s.cancelRequest(h.RequestID)
		case framing.SearchQueryMsg:
			s.beginQuery(h.RequestID, frame[framing.HeaderSize:])
		default: // wrong direction, or reserved: no state, no answer
			s.counts.ignored++
		}
	}
}

// echo returns a Ping with the flags that the specification asks for, ahead of
// everything queued. The frame is the reader's, so a busy writer gets a copy.
func (s *Session) echo(frame []byte) {
	frame[7] = byte(framing.Final)
	s.mu.Lock()
	if !s.ended && s.outbox.Empty() && s.writer.TryLock() {
		s.mu.Unlock()
		// Idle: write from here and save two goroutine switches per round trip.
		err := s.link.WriteFrame(frame)
		s.writer.Unlock()
		if err != nil {
			s.writeFailed(err)
		}
		return
	}
	s.mu.Unlock()
	b := wsconn.GetBuffer()
	b.B = append(b.B, frame...)
	s.enqueueUrgent(b)
}

// cancelRequest stops a request and drops what it has queued, also when its FINAL
// is among that: a Ping echo after this is a barrier. Unknown IDs are ignored.
func (s *Session) cancelRequest(id uint64) {
	s.counts.cancels++
	s.mu.Lock()
	r, live := s.inflight.End(id)
	s.outbox.Drop(id)
	s.drained.Notify()
	s.mu.Unlock()
	if live {
		r.cancel()
	}
}

// beginQuery starts a worker for a good query. An ID in flight is ignored, since
// any frame for it would corrupt the first stream (decision D5). A refused query
// ends with the sentinel alone, and the connection goes on (decision D1a).
func (s *Session) beginQuery(id uint64, payload []byte) {
	s.counts.queries++
	s.mu.Lock()
	_, live := s.inflight.Get(id)
	s.mu.Unlock()
	if live {
		s.counts.ignored++
		s.logSampled(s.counts.ignored, "a query was ignored", id, sessions.ErrDuplicateRequest)
		return
	}
	query, err := framing.DecodeSearchQuery(payload)
	if err != nil {
		s.refuse(id, err)
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	r := &request{cancel: cancel}
	size := len(payload) // the worker must not keep the payload itself
	if err := s.begin(id, r, size); err != nil {
		cancel()
		if !errors.Is(err, errGone) {
			s.refuse(id, err)
		}
		return
	}
	s.room.handOver()
	s.work.Go(func() {
		defer s.room.release(size)
		s.answer(ctx, id, r, query)
		s.mu.Lock()
		s.payloads -= size
		s.mu.Unlock()
	})
}

// maxPayloads bounds the bytes of the queries that one connection may have in
// flight: a thousand queries of a megabyte would be a gigabyte.
const maxPayloads = 8 << 20

// begin enters a request. Too many bytes in flight are refused like too many
// requests.
func (s *Session) begin(id uint64, r *request, payload int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errGone
	}
	if s.payloads+payload > maxPayloads {
		return sessions.ErrTooManyInflight
	}
	if err := s.inflight.Begin(id, r); err != nil {
		return err
	}
	s.payloads += payload
	return nil
}

// logSampled logs the 1st, 10th, 100th … of a kind at a level that people see, so that
// a client that sends nothing else cannot flood the log.
func (s *Session) logSampled(count int, what string, id uint64, err error) {
	level := slog.LevelDebug
	if sessions.Milestone(count) {
		level = slog.LevelWarn
	}
	s.log.Log(s.ctx, level, what, "request_id", id, "count", count, "error", err)
}

func (s *Session) refuse(id uint64, err error) {
	s.counts.refused++
	s.queries.CountRefused()
	s.logSampled(s.counts.refused, "a query was refused", id, err)
	b := wsconn.GetBuffer()
	b.B = framing.AppendAiToken(b.B, id, "", true)
	s.enqueueUrgent(b)
}

// answer is a worker: it lets the host answer, and makes sure that the request ends
// with a FINAL even after an error or a panic.
func (s *Session) answer(ctx context.Context, id uint64, r *request, query framing.SearchQuery) {
	defer r.cancel()
	k := &answerSink{session: s, id: id, request: r}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("an answer panicked", "request_id", id, "panic", recovery.Describe(p), "stack", string(debug.Stack()))
		}
		if !k.done {
			_ = k.Token(ctx, "", true) // fails only when the request is over anyway
		}
	}()
	s.queries.AnswerQuery(ctx, ask.Question{Asker: s.asker, Query: query}, k)
}

// finishHalfClosed lets a half-closed peer have the answers it still waits for.
func (s *Session) finishHalfClosed() {
	limit := time.NewTimer(s.timing.Finish)
	defer limit.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for s.link.HalfOpen() {
		s.mu.Lock()
		busy := s.inflight.Len() > 0 || s.writer.Busy() || !s.outbox.Empty()
		s.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-look.C:
		case <-limit.C:
			return
		case <-s.ctx.Done():
			return
		}
	}
}
