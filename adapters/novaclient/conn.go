package novaclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
)

// Conn is one connection that has been made ready. Its methods may be called
// concurrently.
type Conn struct {
	o     Options
	ws    *websocket.Conn
	ready nova.Ready
	since time.Time // the clock of t_render_ms starts here
	board *Workbench

	work   sync.WaitGroup
	ctx    context.Context // of the sender; ends with the connection
	cancel context.CancelCauseFunc
	wake   chan struct{} // the sender has something to look at
	over   chan struct{} // closed when end is set

	mu       sync.Mutex
	out      queue
	player   player
	deck     deck
	receipts map[string]chan nova.Status // by request ID
	texts    map[string]chan nova.TextResult
	drafts   map[string]chan nova.Transcription
	results  map[string]chan nova.PersonalResult
	input    nova.DesktopCapabilities
	captions int64 // the sequence of the last one; -1: none yet
	end      *End
}

// Dial connects, says hello and waits for client.ready. An error is an *End, or
// says why there was nothing to end.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	c, err := dial(ctx, o, new(Workbench))
	if err != nil {
		return nil, err
	}
	c.begin()
	return c, nil
}

// dial is Dial up to begin.
func dial(ctx context.Context, o Options, board *Workbench) (*Conn, error) {
	hello, err := o.hello()
	if err != nil {
		return nil, err
	}
	opening, stop := context.WithTimeout(ctx, readyWithin)
	defer stop()
	ws, err := o.open(opening, clientPath, readLimit(o.Profile))
	if err != nil {
		return nil, err
	}
	ready, err := greet(opening, ws, hello, o.Profile)
	if err != nil {
		_ = ws.CloseNow() // it is over either way
		return nil, err
	}
	return newConn(o, ws, ready, board), nil
}

// readLimit leaves room to see that a message is too long.
func readLimit(p Profile) int64 {
	if p == Flutter {
		return nova.MaxPersonalText + receiveLimit
	}
	return receiveLimit
}

// greet says hello and takes the first message, which must be client.ready.
func greet(ctx context.Context, ws *websocket.Conn, hello []byte, p Profile) (nova.Ready, error) {
	if err := ws.Write(ctx, websocket.MessageText, hello); err != nil {
		return nova.Ready{}, endOf(err, nil)
	}
	kind, message, err := ws.Read(ctx)
	if err != nil {
		return nova.Ready{}, endOf(err, nil)
	}
	ready, err := firstMessage(kind, message)
	if err != nil {
		return nova.Ready{}, lastWord(ctx, ws, fmt.Errorf("%w: %w", ErrMismatch, err))
	}
	ready.Personal = ready.Personal && p == Flutter
	return ready, nil
}

func firstMessage(kind websocket.MessageType, message []byte) (nova.Ready, error) {
	if kind != websocket.MessageText {
		return nova.Ready{}, errors.New("it is not text")
	}
	m, err := readMessage(message, nova.MaxText, IOS)
	if err != nil {
		return nova.Ready{}, err
	}
	ready, ok := m.(nova.Ready)
	if !ok {
		return nova.Ready{}, errors.New("it is another message")
	}
	return ready, nil
}

// lastWord waits a moment for a close code, which counts for more than what this
// side has found. The connection is of no use afterwards.
func lastWord(ctx context.Context, ws *websocket.Conn, found error) *End {
	moment, stop := context.WithTimeout(ctx, closeWins)
	defer stop()
	for {
		if _, _, err := ws.Read(moment); err != nil {
			return endOf(err, found)
		}
	}
}

func newConn(o Options, ws *websocket.Conn, ready nova.Ready, board *Workbench) *Conn {
	c := &Conn{
		o: o, ws: ws, ready: ready, since: time.Now(), board: board,
		wake: make(chan struct{}, 1), over: make(chan struct{}),
		player: player{mute: !o.Voice}, deck: newDeck(), captions: -1,
		receipts: make(map[string]chan nova.Status),
		texts:    make(map[string]chan nova.TextResult),
		drafts:   make(map[string]chan nova.Transcription),
		results:  make(map[string]chan nova.PersonalResult),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// begin says that there is a connection, and makes it send and receive.
func (c *Conn) begin() {
	c.o.Events.status(Status{Phase: Connected, Ready: c.ready})
	if c.ready.Personal {
		c.openWorkbench()
	}
	c.work.Go(c.send)
	c.work.Go(c.receive)
}

// Ready is what the host said first.
func (c *Conn) Ready() nova.Ready { return c.ready }

// Workbench is what the host has shown of itself.
func (c *Conn) Workbench() *Workbench { return c.board }

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

// fail makes both goroutines end. The first cause counts.
func (c *Conn) fail(err error) { c.cancel(err) }

// receive takes messages until the connection is over.
func (c *Conn) receive() {
	end := c.receiveAll()
	c.fail(end)
	c.mu.Lock()
	c.end = end
	removed := c.deck.list()
	c.deck, c.player.held = newDeck(), nil
	c.mu.Unlock()
	close(c.over)
	for _, card := range removed {
		c.o.Events.cards(&card, nil)
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
		if err := c.take(kind, message); err != nil {
			return lastWord(context.Background(), c.ws, err)
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
			c.shut()
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
	c.post(c.player.settle(time.Now()))
	if c.ctx.Err() == nil {
		m, ok = c.out.pop()
	}
	return m, ok, c.player.due()
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

// shut says goodbye if this side wants to go, and else just goes. The library
// waits some seconds for a host that does not answer.
func (c *Conn) shut() {
	if errors.Is(context.Cause(c.ctx), ErrClosed) {
		_ = c.ws.Close(websocket.StatusNormalClosure, "") // whether it is answered or not
		return
	}
	_ = c.ws.CloseNow() // it is over either way
}
