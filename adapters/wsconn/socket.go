package wsconn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// CloseLimit bounds a closing handshake. The library would wait for up to ten
// seconds and cannot be cut short except by closing the net.Conn below it.
const CloseLimit = time.Second

// writeBufferSize lets the frame header and a small frame leave in one write.
const writeBufferSize = 4 << 10

// Socket is one accepted WebSocket. One goroutine reads, one at a time writes;
// Close, CloseNow and Ping may be called by others.
type Socket struct {
	ws       *websocket.Conn
	watchdog *WatchdogConn
	reader   *bufio.Reader // the library's

	readLimit int64
	body      boundedBody // of the message that is being read

	inMessage atomic.Bool // set by the reader: the reading goroutine, or Close

	// Close reads too, until the peer's close frame: from then on the reading
	// goroutine may not touch reader and watchdog, and the end of a frame does not
	// matter any more.
	readMu sync.Mutex
	closed bool

	closing sync.Once
}

// UpgradeOptions shape one upgrade. Host, Origin and admission must have been
// decided before: Upgrade looks at none of them.
type UpgradeOptions struct {
	Subprotocol string // to echo, or ""
	ReadLimit   int64  // bytes of one message; beyond it the peer gets 1009
	Limits      Limits
}

// Upgrade answers 101 and takes over the connection. Compression is never
// negotiated. An error has been answered already.
func Upgrade(w http.ResponseWriter, r *http.Request, opts UpgradeOptions) (*Socket, error) {
	s := &Socket{}
	accept := &websocket.AcceptOptions{
		// The caller has compared Host and Origin with its own exact rules; the
		// library's would let a rebinding page in (same Host and Origin).
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { s.controlDone(); return true },
		OnPongReceived:     func(context.Context, []byte) { s.controlDone() },
	}
	if opts.Subprotocol != "" {
		accept.Subprotocols = []string{opts.Subprotocol}
		// The library compares without regard to case and could echo another offer.
		r.Header.Set("Sec-WebSocket-Protocol", opts.Subprotocol)
	}
	ws, err := websocket.Accept(&hijacker{ResponseWriter: w, socket: s, limits: opts.Limits}, r, accept)
	if err != nil {
		return nil, fmt.Errorf("upgrade: %w", err)
	}
	ws.SetReadLimit(opts.ReadLimit) // of a message that Close passes over; boundedBody comes before it
	s.ws, s.readLimit = ws, opts.ReadLimit
	return s, nil
}

// hijacker gives the library a WatchdogConn when it hijacks the connection.
type hijacker struct {
	http.ResponseWriter
	socket *Socket
	limits Limits
}

func (w *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	// What came together with the upgrade is the beginning of a frame.
	w.socket.watchdog = NewWatchdogConn(conn, w.limits, rw.Reader.Buffered() > 0)
	w.socket.reader = rw.Reader
	return w.socket.watchdog, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(w.socket.watchdog, writeBufferSize)), nil
}

// Next waits for the next message and gives its type and body. The body must be
// read to io.EOF, then MessageDone called.
func (s *Socket) Next() (binary bool, body io.Reader, err error) {
	typ, body, err := s.ws.Reader(context.Background())
	if err != nil {
		return false, nil, err
	}
	s.inMessage.Store(true)
	s.body = boundedBody{body, s.readLimit}
	return typ == websocket.MessageBinary, &s.body, nil
}

// errTooBig ends the reading of a message that is over the limit.
var errTooBig = errors.New("the message is over the limit")

// boundedBody ends a message that is over the limit before the library does, whose
// close frame would name one byte more than may be sent.
type boundedBody struct {
	r    io.Reader
	left int64 // less than 0: the limit is passed
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooBig
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n - 1, errTooBig
	}
	return n, err
}

// MessageDone says that the message was read to its end.
func (s *Socket) MessageDone() {
	s.inMessage.Store(false)
	s.frameDone()
}

// controlDone keeps a lone ping or pong from counting as an unfinished frame.
func (s *Socket) controlDone() {
	if !s.inMessage.Load() {
		s.frameDone()
	}
}

func (s *Socket) frameDone() {
	s.readMu.Lock()
	defer s.readMu.Unlock()
	if !s.closed {
		s.watchdog.FrameDone(s.reader.Buffered())
	}
}

// FrameWaited says that the rest of a message was not read for a while by our own
// decision: its time begins anew.
func (s *Socket) FrameWaited() {
	s.readMu.Lock()
	defer s.readMu.Unlock()
	if !s.closed {
		s.watchdog.FrameWaited()
	}
}

// textPiece is the longest text that goes out as one frame, in bytes. On a link
// that takes a minute for a long one, pings and pongs must get in between.
const textPiece = 16 << 10

// Write writes one message: a binary one and a short text as one frame, a longer
// text in pieces of textPiece. Text must be valid UTF-8. After an error nothing
// more can be written.
func (s *Socket) Write(p []byte, text bool) error {
	if !text {
		return s.ws.Write(context.Background(), websocket.MessageBinary, p)
	}
	if len(p) <= textPiece {
		return s.ws.Write(context.Background(), websocket.MessageText, p)
	}
	w, err := s.ws.Writer(context.Background(), websocket.MessageText)
	if err != nil {
		return err
	}
	for piece := range slices.Chunk(p, textPiece) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return w.Close()
}

// Ping sends a WebSocket ping and waits for its pong, or for ctx.
func (s *Socket) Ping(ctx context.Context) error { return s.ws.Ping(ctx) }

// BytesRead counts the bytes that came.
func (s *Socket) BytesRead() uint64 { return s.watchdog.BytesRead() }

// BytesSent counts the bytes that left, as far as can be told from here.
func (s *Socket) BytesSent() uint64 { return s.watchdog.BytesSent() }

// Close ends the socket with a closing handshake, within that time, whatever the
// peer does. Only the first Close or CloseNow has an effect; all return when the
// socket is gone.
func (s *Socket) Close(code CloseCode, within time.Duration) {
	if code.Code == 0 {
		s.CloseNow()
		return
	}
	s.closing.Do(func() {
		s.readMu.Lock()
		s.closed = true
		s.readMu.Unlock()
		limit := time.AfterFunc(within, func() { _ = s.watchdog.Conn.Close() })
		defer limit.Stop()
		if code.Code == int(websocket.StatusMessageTooBig) && code.Reason == "" {
			code.Reason = fmt.Sprintf("a message has at most %d bytes", s.readLimit)
		}
		_ = s.ws.Close(websocket.StatusCode(code.Code), code.Reason) // the peer may be gone already, which is what Close is for
	})
}

// CloseNow ends the socket without a close frame; the peer sees 1006.
func (s *Socket) CloseNow() {
	_ = s.watchdog.Conn.Close()
	s.closing.Do(func() { _ = s.ws.CloseNow() })
}

// Fault sorts the error of a read or write.
type Fault uint8

const (
	PeerGone          Fault = iota + 1 // closed, reset, or we closed it ourselves
	TimedOut                           // one of Limits ran out
	PongNotTaken                       // the peer pings and does not take the pong
	TooBig                             // over ReadLimit
	ProtocolViolation                  // the peer broke RFC 6455; the library may have told it so, in its own words
)

// FaultOf sorts err, which must not be nil.
func FaultOf(err error) Fault {
	var broken *net.OpError
	switch {
	case errors.Is(err, errTooBig), errors.Is(err, websocket.ErrMessageTooBig):
		return TooBig
	case errors.Is(err, os.ErrDeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.DeadlineExceeded): // the library's own limit for control frames
		return PongNotTaken
	case websocket.CloseStatus(err) != -1, errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken):
		return PeerGone
	}
	return ProtocolViolation
}
