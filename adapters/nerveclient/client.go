// Package nerveclient is a NERVE V1 client over the Unix socket or a WebSocket.
// It is used by `plexus ask`, by `plexus bench` and as the tests' peer.
package nerveclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"plexus/domain/admission"
	"plexus/domain/framing"
)

// Client is one connection. Its methods may be called concurrently.
type Client struct {
	link link

	send sync.Mutex // one frame at a time
	read sync.WaitGroup

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]*waiter
	err     error // why the connection ended

	closed  chan struct{} // by Close
	closing sync.Once
}

// waiter receives the frames of one request ID.
type waiter struct {
	frames chan Frame
	done   chan struct{} // closed when the waiting call returns
}

// Frame is one received frame; its payload belongs to the receiver.
type Frame struct {
	framing.Header
	Payload []byte
}

// Receiver gets an answer as it comes. Both are optional.
type Receiver struct {
	Results func(framing.SearchResult)
	Token   func(text string, final bool)
}

// Options of a WebSocket connection.
type Options struct {
	Token  admission.Secret // host token or extension key; offered as the subprotocol
	Origin string           // "" sends none, as native tools do
}

// ErrClosed: the connection ended before the answer was complete, by the host, by
// Close, or because the host took nothing for ten seconds.
var ErrClosed = errors.New("the connection to the host ended")

// link moves whole frames.
type link interface {
	read() (framing.Header, []byte, error)
	write(frame []byte) error
	close() error
}

// DialUnix connects to the host's NERVE Unix socket.
func DialUnix(ctx context.Context, path string) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connect to the NERVE socket: %w", err)
	}
	return newClient(&streamLink{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}), nil
}

// DialWebSocket connects to url, for instance ws://127.0.0.1:9001.
func DialWebSocket(ctx context.Context, url string, o Options) (*Client, error) {
	opts := &websocket.DialOptions{HTTPHeader: http.Header{}, CompressionMode: websocket.CompressionDisabled}
	if !o.Token.Empty() {
		opts.Subprotocols = []string{admission.SubprotocolPrefix + o.Token.Reveal()}
	}
	if o.Origin != "" {
		opts.HTTPHeader.Set("Origin", o.Origin)
	}
	ws, resp, err := websocket.Dial(ctx, url, opts)
	if err != nil {
		if resp != nil {
			// The library's error may hold the offered subprotocol.
			return nil, fmt.Errorf("connect to the NERVE WebSocket: the host answered %d", resp.StatusCode)
		}
		return nil, fmt.Errorf("connect to the NERVE WebSocket: %w", err)
	}
	ws.SetReadLimit(framing.MaxFrameSize)
	return newClient(&socketLink{ws: ws}), nil
}

func newClient(l link) *Client {
	c := &Client{link: l, waiting: make(map[uint64]*waiter), closed: make(chan struct{})}
	c.read.Go(c.readLoop)
	return c
}

// Close ends the connection; every waiting call returns ErrClosed. It must not be
// called from a Receiver.
func (c *Client) Close() error {
	c.closing.Do(func() { close(c.closed) })
	err := c.link.close()
	c.read.Wait()
	return err
}

// Ask sends a query and hands its answer to r until the FINAL token. When ctx
// ends first it sends Cancel and returns ctx's error.
func (c *Client) Ask(ctx context.Context, q framing.SearchQuery, r Receiver) error {
	id, w, err := c.begin()
	if err != nil {
		return err
	}
	defer c.end(id, w)
	if err := c.sendFrame(framing.SearchQueryMsg, id, framing.AppendSearchQuery(nil, q)); err != nil {
		return err
	}
	for {
		select {
		case f, ok := <-w.frames:
			if !ok {
				return c.cause()
			}
			final, err := r.deliver(f)
			if err != nil || final {
				return err
			}
		case <-ctx.Done():
			_ = c.sendFrame(framing.Cancel, id, nil) // the connection may be gone, which cancels too
			return ctx.Err()
		}
	}
}

// deliver hands one frame on. final: it was the last of its request.
func (r Receiver) deliver(f Frame) (final bool, err error) {
	switch f.Type {
	case framing.SearchResultMsg:
		results, err := framing.DecodeSearchResult(f.Payload)
		if err != nil {
			return false, fmt.Errorf("read the results: %w", err)
		}
		if r.Results != nil {
			r.Results(results)
		}
		return false, nil // tokens follow, whatever the flags say
	case framing.AiTokenMsg:
		text, err := framing.DecodeAiToken(f.Payload)
		if err != nil {
			return false, fmt.Errorf("read a token: %w", err)
		}
		final := f.Flags.IsFinal()
		if r.Token != nil {
			r.Token(text, final)
		}
		return final, nil
	}
	return false, nil
}

// Ping sends a NERVE Ping and waits for its echo.
func (c *Client) Ping(ctx context.Context, payload []byte) error {
	id, w, err := c.begin()
	if err != nil {
		return err
	}
	defer c.end(id, w)
	if err := c.sendFrame(framing.Ping, id, payload); err != nil {
		return err
	}
	select {
	case _, ok := <-w.frames:
		if !ok {
			return c.cause()
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) sendFrame(t framing.MessageType, id uint64, payload []byte) error {
	frame, err := framing.AppendFrame(nil, t, framing.Final, id, payload)
	if err != nil {
		return fmt.Errorf("send %v: %w", t, err)
	}
	c.send.Lock()
	defer c.send.Unlock()
	if err := c.link.write(frame); err != nil {
		return fmt.Errorf("send %v: %w: %w", t, ErrClosed, err)
	}
	return nil
}

func (c *Client) begin() (uint64, *waiter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	c.next++
	w := &waiter{frames: make(chan Frame, 64), done: make(chan struct{})}
	c.waiting[c.next] = w
	return c.next, w, nil
}

func (c *Client) end(id uint64, w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
	close(w.done)
}

func (c *Client) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// readLoop passes each frame to the call that waits for its ID; frames of other IDs
// are ignored.
func (c *Client) readLoop() {
	for {
		h, payload, err := c.link.read()
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock()
		w := c.waiting[h.RequestID]
		c.mu.Unlock()
		if w == nil {
			continue
		}
		select {
		case w.frames <- Frame{Header: h, Payload: payload}:
		case <-w.done:
		case <-c.closed:
		}
	}
}

func (c *Client) fail(err error) {
	_ = c.link.close() // it is over either way
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = ErrClosed
	if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && websocket.CloseStatus(err) == -1 {
		c.err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	for id, w := range c.waiting {
		close(w.frames)
		delete(c.waiting, id)
	}
}
