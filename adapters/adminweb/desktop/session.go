package desktop

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
	"plexus/usecases/personal/hub"
	"plexus/usecases/recovery"
)

// Bounds of what was received and is not finished, as on a phone's connection.
const (
	laneMessages = 128     // in each lane
	laneBytes    = 262_144 // in both
)

// session is one socket: a reader, a writer, two lanes that hand controls to the
// host, and a goroutine that sends snapshots. It is the ports.PersonalLink of its
// endpoint.
//
// A command waits for other commands alone (P65). Everything else, speech among it,
// has a lane of its own and keeps its order.
type session struct {
	server   *Server
	socket   *wsconn.Socket
	log      *slog.Logger
	endpoint hub.Endpoint
	out      *sender

	commands chan received
	others   chan received
	waiting  atomic.Int64 // bytes in both lanes

	mu             sync.Mutex // guards states, and the order in which snapshots are queued
	states         sessions.Coalescer
	snapshotSignal chan struct{} // states may have another due

	ctx    context.Context // ends with the socket
	cancel context.CancelFunc
	work   sync.WaitGroup

	stopOnce sync.Once
	stopped  chan struct{}
	stopWith sessions.CloseReason
}

// run serves one socket to its end.
func (s *Server) run(socket *wsconn.Socket, signedOut func(context.Context) bool) {
	ctx, cancel := context.WithCancel(context.Background())
	log := s.config.Log.With("connection", s.lastID.Add(1), "transport", "desktop")
	c := &session{
		server: s, socket: socket, log: log, ctx: ctx, cancel: cancel, stopped: make(chan struct{}),
		commands: make(chan received, laneMessages), others: make(chan received, laneMessages),
		snapshotSignal: make(chan struct{}, 1), out: newSender(ctx, socket, s.config.KeepAlive, log),
	}
	s.tracker.Add(c)
	defer s.tracker.Release(c)
	opened := time.Now()
	log.Info("page connected")
	in, host := s.config.Host.Input(), s.config.Host
	first, _ := nova.NewDesktopCapabilities(in, host.InputInstance())
	c.Send(first) // before any message that attaching causes
	c.endpoint = host.Attach(c, hub.Terms{Desktop: true, Personal: true})
	var reading, writing sync.WaitGroup
	reading.Go(c.read)
	writing.Go(func() { c.out.writer.Run(func(err error) { c.Close(wsconn.WriteFailed(err)) }) })
	c.work.Go(func() { c.deliverAll(c.commands) })
	c.work.Go(func() { c.deliverAll(c.others) })
	c.work.Go(c.sendSnapshots)
	c.work.Go(func() {
		if signedOut(ctx) {
			c.Close(sessions.DeviceRevoked)
		}
	})
	<-c.stopped
	c.endpoint.Leave()
	cancel()
	end := closeCode(c.stopWith)
	c.out.end(c.stopWith.Flushes())
	if end.Code == 0 {
		socket.CloseNow()
	}
	writing.Wait()
	socket.Close(end, closeLimit)
	reading.Wait()
	c.work.Wait()
	log.Info("page gone", "reason", c.stopWith.String(), "code", end.Code, "lasted", time.Since(opened).Round(time.Millisecond))
}

// Close ends the socket. It never blocks; the first reason counts.
func (c *session) Close(reason sessions.CloseReason) {
	c.stopOnce.Do(func() {
		c.stopWith = reason
		close(c.stopped)
	})
}

// Send implements ports.PersonalLink. A snapshot in a result counts as told.
func (c *session) Send(m nova.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if result, ok := m.(nova.PersonalResult); ok && result.Revision > 0 {
		c.states.Told(result.Revision)
	}
	c.queue(m)
}

// queue closes the socket over what finds no room.
func (c *session) queue(m nova.Message) {
	if reason := c.out.send(m); reason != 0 {
		c.Close(reason)
	}
}

// Changed implements ports.PersonalLink.
func (c *session) Changed(revision uint64) {
	c.mu.Lock()
	c.states.Changed(revision, time.Now())
	c.mu.Unlock()
	wsconn.Signal(c.snapshotSignal)
}

// sendSnapshots sends a snapshot for the changes of each window.
func (c *session) sendSnapshots() {
	defer c.recoverPanic("a snapshot")
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		c.mu.Lock()
		due := c.states.Due()
		c.mu.Unlock()
		timer.Stop()
		if !due.IsZero() {
			timer.Reset(time.Until(due))
		}
		select {
		case <-c.snapshotSignal:
		case now := <-timer.C:
			c.mu.Lock()
			ended := c.states.Take(now)
			c.mu.Unlock()
			if ended {
				c.sendSnapshot()
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// sendSnapshot sends the state unless the page has it already.
func (c *session) sendSnapshot() {
	state, err := c.endpoint.Snapshot(c.ctx)
	if err != nil {
		if c.ctx.Err() == nil {
			c.log.Error("the page could not be told of a change", "error", err)
		}
		return // the next change tries again
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.states.Told(state.Revision) {
		c.queue(state)
	}
}

// recoverPanic ends the socket when the host's code has panicked. Deferred.
func (c *session) recoverPanic(what string) {
	p := recover()
	if p == nil {
		return
	}
	c.log.Error("a page's socket panicked", "over", what, "panic", recovery.Describe(p), "stack", string(debug.Stack()))
	c.Close(sessions.Internal)
}
