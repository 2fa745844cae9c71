package novaws

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
	"unicode/utf8"

	"plexus/adapters/wsconn"
	"plexus/domain/pairing"
	"plexus/domain/playback"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/usecases/devices"
	"plexus/usecases/personal/hub"
	"plexus/usecases/recovery"
)

// session runs one /client/v1 connection: a reader that fills the inbox, a loop
// that owns the state machine and performs its effects, and a writer. The loop
// never waits for the host: calls run beside it and their results come back as
// events.
type session struct {
	server *Server
	id     sessions.ConnID
	socket *wsconn.Socket
	log    *slog.Logger

	nova    *sessions.Nova   // the loop's alone
	current message          // being worked on; the loop's alone
	working bool             // current is set
	who     devices.Identity // the loop's alone
	detach  func()           // the loop's alone; nil until attached
	// Set by the loop at the admission, before anything that uses it is started;
	// nil where there is no personal host.
	endpoint hub.Endpoint

	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	work    sync.WaitGroup
	inbox   *inbox
	results chan func(*sessions.Nova) sessions.Effects
	readEnd chan sessions.CloseReason // from the reader, once
	out     *sender

	stopOnce sync.Once
	stopped  chan struct{}
	stopWith sessions.CloseReason
}

// runClient serves one client socket to its end.
func (s *Server) runClient(socket *wsconn.Socket, peer string, log *slog.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &session{
		server: s, id: sessions.ConnID(s.lastID.Add(1)), socket: socket, log: log,
		nova: sessions.NewNova(sessions.NovaIDs{
			ServerInstance: s.config.ServerInstanceID, InputInstance: s.config.InputInstanceID, Connection: s.config.NewID(),
		}, time.Now()),
		ctx: ctx, cancel: cancel, inbox: &inbox{arrived: make(chan struct{}, 1)},
		results: make(chan func(*sessions.Nova) sessions.Effects, 1), readEnd: make(chan sessions.CloseReason, 1),
		out: newSender(ctx, socket, s.config.KeepAlive, log), stopped: make(chan struct{}),
	}
	s.Tracker.Add(c)
	defer s.Tracker.Release(c)
	s.addPendingHello(c, peer)
	c.run()
}

// Close ends the connection for a reason of the host's. It never blocks.
func (c *session) Close(reason sessions.CloseReason) {
	c.stopOnce.Do(func() {
		c.stopWith = reason
		close(c.stopped)
	})
}

func (c *session) run() {
	opened := time.Now()
	c.log.Info("client connected")
	var reading, writing sync.WaitGroup
	reading.Go(c.readLoop)
	writing.Go(func() { c.out.writer.Run(func(err error) { c.Close(wsconn.WriteFailed(err)) }) })
	reason := c.loop()
	// The slot is freed before the closing handshake, so that the next client need
	// not wait for it.
	c.server.release(c)
	c.cancel()
	c.detachPersonal()
	if c.detach != nil {
		c.detach()
	}
	end := closeCode(reason, c.nova.Personal())
	c.out.end(reason.Flushes())
	if end.Code == 0 {
		c.socket.CloseNow()
	}
	writing.Wait()
	c.socket.Close(end, closeLimit)
	reading.Wait()
	c.work.Wait()
	var observed slog.Attr // empty when there is nothing
	if o := c.nova.Observed(); o != (sessions.Observed{}) {
		observed = slog.Group("observed", "round_trips", o.RoundTrips, "round_trip", o.RoundTrip.Round(time.Microsecond),
			"telemetry", o.Telemetry, "telemetry_rejected", o.TelemetryRejected,
			"closed", o.Closed, "reconnects", o.Reconnects, "results", o.Results)
	}
	c.log.Info("client gone", "reason", reason.String(), "code", end.Code,
		"lasted", time.Since(opened).Round(time.Millisecond), observed)
}

// loop handles one event after the other until one of them ends the connection.
func (c *session) loop() (reason sessions.CloseReason) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a client's session panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
			reason = sessions.Internal
		}
	}()
	armed := c.nova.Deadline()
	deadline := time.NewTimer(time.Until(armed))
	defer deadline.Stop()
	for {
		if end := c.next(deadline.C); end != 0 {
			return end
		}
		if due := c.nova.Deadline(); !due.Equal(armed) {
			armed = due
			deadline.Stop()
			if !due.IsZero() {
				deadline.Reset(time.Until(due))
			}
		}
	}
}

// next takes one event and performs what it asks for. 0: go on.
func (c *session) next(deadline <-chan time.Time) sessions.CloseReason {
	select {
	case <-c.stopped: // before any queued message
		return c.perform(c.nova.End(c.stopWith))
	default:
	}
	if c.inbox.Overflowed() {
		return c.perform(c.nova.Overflow())
	}
	if !c.nova.Busy() {
		if c.working { // what was worked on does not count as waiting any more
			c.inbox.Done(c.current)
			c.current, c.working = message{}, false
		}
		if m, ok := c.inbox.Take(); ok {
			c.current, c.working = m, true
			if m.binary {
				return c.perform(c.nova.Binary(m.body))
			}
			return c.perform(c.nova.Text(m.body, time.Now()))
		}
	}
	select {
	case <-c.inbox.arrived:
		return 0
	case result := <-c.results:
		return c.perform(result(c.nova))
	case now := <-deadline:
		return c.perform(c.nova.Tick(now))
	case reason := <-c.readEnd:
		return c.perform(c.nova.End(reason))
	case <-c.stopped:
		return c.perform(c.nova.End(c.stopWith))
	}
}

// perform does what the state machine asks for: send, call, close.
func (c *session) perform(e sessions.Effects) sessions.CloseReason {
	for _, m := range e.Send {
		if reason := c.out.send(m); reason != 0 {
			return reason
		}
	}
	if e.Audio != nil && c.endpoint != nil {
		c.endpoint.Audio(e.Audio)
	}
	if call := e.Call; call != nil { // beside the loop; the result comes back as an event
		c.work.Go(func() {
			result := c.answer(call)
			select {
			case c.results <- result:
			case <-c.ctx.Done():
			}
		})
	}
	return e.Close
}

// answer does the work of a call.
func (c *session) answer(call sessions.Call) (result func(*sessions.Nova) sessions.Effects) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a client's session panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
			result = func(n *sessions.Nova) sessions.Effects { return n.End(sessions.Internal) }
		}
	}()
	switch call := call.(type) {
	case sessions.CheckToken:
		who, verdict := c.authenticate(call.Token)
		return func(n *sessions.Nova) sessions.Effects {
			c.who = who
			return n.TokenChecked(verdict)
		}
	case sessions.AcquireSlot:
		acquired, offer := c.server.acquireSlot(c), sessions.Offer{}
		if host := c.server.deps.Personal; acquired && host != nil {
			offer = sessions.Offer{Input: host.Input(), Personal: true, Admits: host.Admits}
		}
		return func(n *sessions.Nova) sessions.Effects {
			e := n.SlotAcquired(acquired, offer)
			if acquired {
				c.out.admit(playback.Fence{}, n.Granted()) // no client has been told to drop any speech yet
			}
			return e
		}
	case sessions.Admission:
		return func(n *sessions.Nova) sessions.Effects { return c.admit(n, call) }
	case sessions.Deliver:
		err := c.deliver(call.Control)
		return func(n *sessions.Nova) sessions.Effects { return n.Delivered(err) }
	}
	return func(n *sessions.Nova) sessions.Effects { return n.End(sessions.Internal) }
}

// authenticate finds out whose token it is. A failed look-up is not a rejection,
// because a rejected client erases its credentials.
func (c *session) authenticate(token secret.Text) (devices.Identity, sessions.TokenVerdict) {
	who, err := c.server.deps.Auth.Authenticate(c.ctx, pairing.DeviceToken{Text: token})
	switch {
	case err == nil:
		return who, sessions.TokenKnown
	case errors.Is(err, devices.ErrTokenUnknown):
		return who, sessions.TokenUnknown
	}
	if c.ctx.Err() == nil {
		c.log.Error("a token could not be checked", "error", err)
	}
	return who, sessions.TokenUnchecked
}

// readLoop fills the inbox until the socket or a rule ends it.
func (c *session) readLoop() {
	for {
		binary, body, err := c.socket.Next()
		if err != nil {
			c.readEnd <- wsconn.ReadFailed(err)
			return
		}
		b, err := io.ReadAll(body) // the socket bounds it
		if err != nil {
			c.readEnd <- wsconn.ReadFailed(err)
			return
		}
		c.socket.MessageDone()
		if !binary && !utf8.Valid(b) {
			c.readEnd <- sessions.InvalidUTF8
			return
		}
		if !c.inbox.Put(message{binary, b}) {
			return // the loop sees the overflow
		}
	}
}
