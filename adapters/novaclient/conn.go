package novaclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// Conn is one connection that has been made ready. Its methods may be called
// concurrently.
type Conn struct {
	options   Options
	ws        *websocket.Conn
	ready     nova.Ready
	since     time.Time // the clock of t_render_ms starts here
	workbench *Workbench

	work sync.WaitGroup
	ctx  context.Context         // of the sender; ends with the connection
	fail context.CancelCauseFunc // ends both goroutines; the first cause counts
	wake chan struct{}           // the sender has something to look at
	over chan struct{}           // closed when end is set

	mu             sync.Mutex
	out            queue
	player         player
	cards          cardSet
	receipts       map[string]chan nova.Status // who waits, by request ID
	texts          map[string]chan nova.TextResult
	transcriptions map[string]chan nova.Transcription
	results        map[string]chan nova.PersonalResult
	input          nova.DesktopCapabilities
	lastCaption    int64 // its sequence; -1: none yet
	end            *End
}

// Dial connects, says hello and waits for client.ready. An error is an *End, or
// says why there was nothing to end.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	c, err := dial(ctx, o, new(Workbench))
	if err != nil {
		return nil, err
	}
	c.start()
	return c, nil
}

// dial is Dial up to start.
func dial(ctx context.Context, o Options, w *Workbench) (*Conn, error) {
	hello, err := o.hello()
	if err != nil {
		return nil, err
	}
	opening, stop := context.WithTimeout(ctx, readyWithin)
	defer stop()
	limit := int64(receiveLimit)
	if o.Profile == Flutter {
		limit += nova.MaxPersonalText // room to see that a message is too long
	}
	ws, err := o.open(opening, clientPath, limit)
	if err != nil {
		return nil, err
	}
	ready, err := handshake(opening, ws, hello, o.Profile)
	if err != nil {
		_ = ws.CloseNow() // it is over either way
		return nil, err
	}
	c := &Conn{
		options: o, ws: ws, ready: ready, since: time.Now(), workbench: w,
		wake: make(chan struct{}, 1), over: make(chan struct{}),
		player: player{mute: !o.Voice}, cards: newCardSet(), lastCaption: -1,
		receipts:       make(map[string]chan nova.Status),
		texts:          make(map[string]chan nova.TextResult),
		transcriptions: make(map[string]chan nova.Transcription),
		results:        make(map[string]chan nova.PersonalResult),
	}
	c.ctx, c.fail = context.WithCancelCause(context.Background())
	return c, nil
}

// handshake says hello and takes the first message, which must be client.ready.
func handshake(ctx context.Context, ws *websocket.Conn, hello []byte, p Profile) (nova.Ready, error) {
	if err := ws.Write(ctx, websocket.MessageText, hello); err != nil {
		return nova.Ready{}, endOf(err, nil)
	}
	kind, text, err := ws.Read(ctx)
	if err != nil {
		return nova.Ready{}, endOf(err, nil)
	}
	m, err := decodeMessage(text, nova.MaxText, IOS)
	ready, ok := m.(nova.Ready)
	switch {
	case kind != websocket.MessageText:
		err = errors.New("it is not text")
	case err == nil && !ok:
		err = errors.New("it is another message")
	}
	if err != nil {
		return nova.Ready{}, awaitClose(ctx, ws, fmt.Errorf("%w: %w", ErrMismatch, err))
	}
	ready.Personal = ready.Personal && p == Flutter
	return ready, nil
}

// awaitClose waits a moment for a close code, which counts for more than what this
// side has found. The connection is of no use afterwards.
func awaitClose(ctx context.Context, ws *websocket.Conn, found error) *End {
	moment, stop := context.WithTimeout(ctx, closeWins)
	defer stop()
	for {
		if _, _, err := ws.Read(moment); err != nil {
			return endOf(err, found)
		}
	}
}

// start announces the connection, says what an app in the foreground says first,
// and makes it send and receive.
func (c *Conn) start() {
	c.options.Events.status(Status{Phase: Connected, Ready: c.ready})
	if c.ready.Personal {
		c.workbench.connected(c.ready.ServerInstanceID)
		c.mu.Lock()
		// Their results need no waiting for: a state counts whoever asked for it.
		_ = c.enqueueAll([]nova.Control{ // there is room
			nova.PersonalCommand{
				RequestID: newID(), Method: "presentation.set", Params: json.RawMessage(`{"mode":"` + string(workbench.ModeWorkbench) + `"}`),
			},
			stateCommand(),
		})
		c.mu.Unlock()
	}
	c.work.Go(c.send)
	c.work.Go(c.receive)
}

// Ready is what the host said first.
func (c *Conn) Ready() nova.Ready { return c.ready }

// Workbench is what the host has shown of itself.
func (c *Conn) Workbench() *Workbench { return c.workbench }

// Wait blocks until the connection is over and says why.
func (c *Conn) Wait() *End {
	c.work.Wait()
	return c.cause()
}

func (c *Conn) cause() *End {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// Close ends the connection; ending a call is no more than this. It must not be
// called from Events.
func (c *Conn) Close() {
	c.fail(ErrClosed)
	c.work.Wait()
}

// receive takes messages until the connection is over.
func (c *Conn) receive() {
	end := c.receiveAll()
	c.fail(end)
	c.mu.Lock()
	c.end = end
	removed := c.cards.list()
	c.cards, c.player.current = newCardSet(), nil
	c.mu.Unlock()
	close(c.over)
	for _, card := range removed {
		c.options.Events.cards(&card, nil)
	}
}

func (c *Conn) receiveAll() *End {
	for {
		// Without a deadline: the sender closes the socket when all is over.
		kind, message, err := c.ws.Read(context.Background())
		if cause := context.Cause(c.ctx); errors.Is(cause, ErrClosed) {
			return &End{Err: ErrClosed}
		} else if err != nil {
			return endOf(err, cause)
		}
		if err := c.handle(kind, message); err != nil {
			return awaitClose(context.Background(), c.ws, err)
		}
	}
}

// send writes what is queued and reports what has been played, until the
// connection is over. It closes the socket.
func (c *Conn) send() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		message, ok, due := c.next()
		if ok {
			c.write(message)
			continue
		}
		var played <-chan time.Time
		if !due.IsZero() {
			timer.Reset(time.Until(due))
			played = timer.C
		}
		select {
		case <-c.ctx.Done():
			// The library waits some seconds for a host that does not answer a close.
			if errors.Is(context.Cause(c.ctx), ErrClosed) {
				_ = c.ws.Close(websocket.StatusNormalClosure, "") // whether it is answered or not
			} else {
				_ = c.ws.CloseNow() // it is over either way
			}
			return
		case <-c.wake:
		case <-played:
		}
	}
}

// next gives what to send now; if there is nothing, when to look again.
func (c *Conn) next() (m outgoing, ok bool, due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.enqueueAll(c.player.report(time.Now())) // an error is the end of the connection
	if c.ctx.Err() == nil {
		m, ok = c.out.pop()
	}
	return m, ok, c.player.nextReport()
}

// write sends one message. One that is not sent in time ends the connection.
func (c *Conn) write(m outgoing) {
	// Not a deadline of Write itself: the socket would be closed before its cause
	// is known.
	watchdog := time.AfterFunc(sendWithin, func() { c.fail(ErrSendTimeout) })
	defer watchdog.Stop()
	err := c.ws.Write(c.ctx, m.kind, m.data)
	c.mu.Lock()
	c.out.sent(m)
	c.mu.Unlock()
	if err != nil {
		c.fail(fmt.Errorf("send to the host: %w", err))
	}
}
