package desktopws

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
	"plexus/domain/usecases/personal"
	"plexus/domain/usecases/recovery"
)

// laneFrames bounds what waits in each of the two lanes; with the longest frames
// that is 512 KiB.
const laneFrames = 32

// session is one socket: a reader, a writer, two lanes that hand controls to the
// host, and a teller of changes. It is the ports.PersonalLink of its endpoint.
//
// A command waits behind nothing but other commands (P65): texts, which are
// stored before they are answered, have a lane of their own.
type session struct {
	server   *Server
	socket   *wsconn.Socket
	log      *slog.Logger
	endpoint personal.Endpoint
	out      *sender

	commands chan nova.PersonalCommand
	texts    chan nova.InputText

	telling   sync.Mutex // guards states, and the order of what tells of one
	states    sessions.Coalescer
	announced chan struct{} // states may have another due

	ctx    context.Context // ends with the socket
	cancel context.CancelFunc
	work   sync.WaitGroup

	stopOnce sync.Once
	stopped  chan struct{}
	stopWith sessions.CloseReason
}

// run serves one socket to its end.
func (s *Server) run(socket *wsconn.Socket, over func(context.Context) bool) {
	ctx, cancel := context.WithCancel(context.Background())
	log := s.config.Log.With("connection", s.numbers.Add(1), "transport", "desktop")
	c := &session{
		server: s, socket: socket, log: log, ctx: ctx, cancel: cancel, stopped: make(chan struct{}),
		commands: make(chan nova.PersonalCommand, laneFrames), texts: make(chan nova.InputText, laneFrames),
		announced: make(chan struct{}, 1), out: newSender(ctx, socket, s.config.KeepAlive, log),
	}
	s.tracker.Add(c)
	defer s.tracker.Release(c)
	opened := time.Now()
	log.Info("page connected")
	in, host := s.config.Host.Input(), s.config.Host
	first, _ := nova.NewDesktopCapabilities(in, host.InputInstance())
	c.Send(first) // before anything that attaching brings
	c.endpoint = host.Attach(c, personal.Terms{Desktop: true, Personal: true})
	var reading, writing sync.WaitGroup
	reading.Go(c.read)
	writing.Go(func() { c.out.writer.Run(func(err error) { c.Close(wsconn.WriteFailed(err)) }) })
	c.work.Go(c.doCommands)
	c.work.Go(c.doTexts)
	c.work.Go(c.tellChanges)
	c.work.Go(func() {
		if over(ctx) {
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
	c.telling.Lock()
	defer c.telling.Unlock()
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
	c.telling.Lock()
	c.states.Changed(revision, time.Now())
	c.telling.Unlock()
	select {
	case c.announced <- struct{}{}:
	default: // it will look
	}
}

// tellChanges sends a snapshot for the changes of each window.
func (c *session) tellChanges() {
	defer c.guard("a snapshot")
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		c.telling.Lock()
		due := c.states.Due()
		c.telling.Unlock()
		timer.Stop()
		if !due.IsZero() {
			timer.Reset(time.Until(due))
		}
		select {
		case <-c.announced:
		case now := <-timer.C:
			c.telling.Lock()
			ended := c.states.Take(now)
			c.telling.Unlock()
			if ended {
				c.tellState()
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// tellState sends the snapshot unless the page has it already.
func (c *session) tellState() {
	state, err := c.endpoint.Snapshot(c.ctx)
	if err != nil {
		if c.ctx.Err() == nil {
			c.log.Error("the page could not be told of a change", "error", err)
		}
		return // the next change tries again
	}
	c.telling.Lock()
	defer c.telling.Unlock()
	if c.states.Told(state.Revision) {
		c.queue(state)
	}
}

// doCommands hands one command after the other to the host.
func (c *session) doCommands() {
	defer c.guard("a command")
	for {
		select {
		case m := <-c.commands:
			if err := c.endpoint.Deliver(c.ctx, m); err != nil && c.ctx.Err() == nil {
				c.log.Error("a command was not taken", "method", m.Method, "error", err)
				c.Send(nova.PersonalResult{RequestID: m.RequestID, Error: "unavailable"})
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// doTexts does the same with what was written. What was not taken has a receipt
// too.
func (c *session) doTexts() {
	defer c.guard("a text")
	for {
		select {
		case m := <-c.texts:
			if err := c.endpoint.Deliver(c.ctx, m); err != nil && c.ctx.Err() == nil {
				c.log.Error("a text was not taken", "error", err)
				c.Send(nova.TextResult{RequestID: m.RequestID, ConversationID: m.ConversationID, Error: nova.SubmissionFailed})
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// guard ends the socket when the host falls over what it was given.
func (c *session) guard(what string) {
	p := recover()
	if p == nil {
		return
	}
	c.log.Error("a page's socket panicked", "over", what, "panic", recovery.Describe(p), "stack", string(debug.Stack()))
	c.Close(sessions.Internal)
}
