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
	ready     nova.Ready
	workbench *Workbench
	uplink    uplink

	work sync.WaitGroup // the uplink's writer, and receive
	over chan struct{}  // closed when end is set

	receipts       answers[nova.Status]
	texts          answers[nova.TextResult]
	transcriptions answers[nova.Transcription]
	results        answers[nova.PersonalResult]
	personal       chan struct{} // has something for each personal command that waits

	mu          sync.Mutex
	cards       cardSet
	input       nova.DesktopCapabilities
	lastCaption int64 // its sequence; -1: none yet
	end         *End
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
		options: o, ready: ready, workbench: w, over: make(chan struct{}), personal: make(chan struct{}, maxPersonal),
		uplink: uplink{
			ws: ws, connectionID: ready.ConnectionID, since: time.Now(),
			wake: make(chan struct{}, 1), player: player{noVoice: !o.Voice},
		},
		cards: newCardSet(), lastCaption: -1,
	}
	c.uplink.ctx, c.uplink.fail = context.WithCancelCause(context.Background())
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
	notify(c.options.Events.Status, Status{Phase: Connected, Ready: c.ready})
	if c.ready.Personal {
		c.workbench.connected(c.ready.ServerInstanceID)
		// Their results are not waited for: any state that arrives is taken.
		_ = c.uplink.command(newID(), nova.PersonalCommand{ // there is room
			RequestID: newID(), Method: "presentation.set", Params: json.RawMessage(`{"mode":"` + string(workbench.ModeWorkbench) + `"}`),
		})
		_ = c.uplink.command(newID(), stateCommand()) // likewise
	}
	c.work.Go(c.uplink.run)
	c.work.Go(c.receive)
}

// Ready is what the host said first.
func (c *Conn) Ready() nova.Ready { return c.ready }

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

// Close ends the connection, which is also how a call is ended. It must not be
// called from Events.
func (c *Conn) Close() {
	c.uplink.fail(ErrClosed)
	c.work.Wait()
}

// receive takes messages until the connection is over.
func (c *Conn) receive() {
	var end *End
	for end == nil {
		// Without a deadline: the uplink closes the socket when all is over.
		kind, message, err := c.uplink.ws.Read(context.Background())
		if cause := context.Cause(c.uplink.ctx); errors.Is(cause, ErrClosed) {
			end = &End{Err: ErrClosed}
		} else if err != nil {
			end = endOf(err, cause)
		} else if err := c.handle(kind, message); err != nil {
			end = awaitClose(context.Background(), c.uplink.ws, err)
		}
	}
	c.uplink.fail(end)
	c.mu.Lock()
	c.end = end
	removed := c.cards.list()
	c.cards = newCardSet()
	c.mu.Unlock()
	close(c.over)
	for _, card := range removed {
		notify(c.options.Events.Removed, card)
	}
}
