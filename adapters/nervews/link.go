package nervews

import (
	"errors"
	"fmt"
	"io"

	"plexus/adapters/wsconn"
	"plexus/domain/framing"
	"plexus/domain/sessions"
)

// Link carries whole NERVE frames of one connection. ReadFrame is called by one
// goroutine, WriteFrame by one at a time; the rest may be called by anybody.
type Link interface {
	// ReadFrame gives the next frame's header and the whole frame, valid until
	// the next call. Between header and payload it calls admit, which may wait.
	// An error is a *LinkError.
	ReadFrame(admit Admit) (framing.Header, []byte, error)
	// WriteFrame writes one whole frame. An error is a *LinkError.
	WriteFrame(frame []byte) error
	// Close ends the connection as reason wants it and frees a blocked ReadFrame
	// and WriteFrame, within about a second.
	Close(reason sessions.CloseReason)
	// CloseNow ends the connection without a closing handshake, at once.
	CloseNow()
	// Peer is who has to be pinged; nil where the system tells by itself that the
	// peer is gone.
	Peer() wsconn.Peer
	// HalfOpen reports, after ReadFrame has met the end of the stream, whether
	// the peer still waits for answers.
	HalfOpen() bool
}

// Admit waits until there is room for the payload of a frame, and reports whether it
// had to. An error is a *LinkError.
type Admit func(h framing.Header) (waited bool, err error)

// LinkError is why a link can go on no longer.
type LinkError struct {
	Reason sessions.CloseReason
	Err    error // the cause, for the log; may be nil
}

func (e *LinkError) Error() string {
	if e.Err == nil {
		return "nerve link: " + e.Reason.String()
	}
	return fmt.Sprintf("nerve link: %v: %v", e.Reason, e.Err)
}

func (e *LinkError) Unwrap() error { return e.Err }

// FrameErrorReason maps an error of ParseHeader to its close reason.
func FrameErrorReason(err error) sessions.CloseReason {
	var frame *framing.FrameError
	if !errors.As(err, &frame) {
		return sessions.Internal
	}
	switch frame.Kind {
	case framing.InvalidMagic:
		return sessions.InvalidMagic
	case framing.UnsupportedVersion:
		return sessions.UnsupportedVersion
	case framing.UnknownMessageType:
		return sessions.UnknownMessageType
	case framing.PayloadTooLarge:
		return sessions.PayloadTooLarge
	case framing.MalformedFrame:
		return sessions.MalformedFrame
	}
	return sessions.Internal
}

// firstRead is how much of a payload is read before more memory is reserved: a
// promised megabyte costs nothing until it is sent. keepBuffer is the largest
// buffer a quiet connection keeps.
const (
	firstRead  = 4 << 10
	keepBuffer = 64<<10 + framing.HeaderSize
)

// FrameBuffer holds the frame that is being read; its memory grows as bytes
// arrive and is used again for the next frame.
type FrameBuffer struct {
	b []byte
	// Waited, if set, is called when a frame had to wait for room: that time is not
	// its sender's.
	Waited func()
}

// Trim lets go of a buffer that is too large to keep while nothing comes.
func (f *FrameBuffer) Trim() {
	if f.b == nil || cap(f.b) > keepBuffer {
		f.b = make([]byte, 128)
	}
}

// Read reads one frame from r: 20 bytes, then, only if they pass every check, the
// payload, for which admit, which may be nil, has made room. It does not read beyond
// the frame.
func (f *FrameBuffer) Read(r io.Reader, admit Admit) (framing.Header, []byte, error) {
	f.Trim()
	f.b = f.b[:cap(f.b)]
	n, err := io.ReadFull(r, f.b[:framing.HeaderSize])
	if err != nil && !isEnd(err) {
		return framing.Header{}, nil, err
	}
	if n == 0 && errors.Is(err, io.EOF) {
		return framing.Header{}, nil, io.EOF
	}
	h, err := framing.ParseHeader(f.b[:n])
	if err != nil {
		return framing.Header{}, nil, err
	}
	if admit != nil {
		waited, err := admit(h)
		if err != nil {
			return framing.Header{}, nil, err
		}
		if waited && f.Waited != nil {
			f.Waited()
		}
	}
	want := framing.HeaderSize + int(h.PayloadLength)
	for n < want {
		if n == len(f.b) { // twice as much each time, never more than the frame needs
			bigger := make([]byte, min(max(2*n, firstRead), want))
			copy(bigger, f.b)
			f.b = bigger
		}
		k, err := io.ReadFull(r, f.b[n:min(cap(f.b), want)])
		n += k
		if err != nil {
			if isEnd(err) {
				err = framing.ErrMalformedFrame
			}
			return framing.Header{}, nil, err
		}
	}
	return h, f.b[:want], nil
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// socketLink carries frames as binary WebSocket messages, exactly one each.
type socketLink struct {
	socket *wsconn.Socket
	buffer FrameBuffer
	after  [1]byte // what follows a frame in its message: nothing may
}

func (l *socketLink) ReadFrame(admit Admit) (framing.Header, []byte, error) {
	l.buffer.Trim()
	binary, body, err := l.socket.Next()
	if err != nil {
		return framing.Header{}, nil, readError(err)
	}
	if !binary {
		return framing.Header{}, nil, &LinkError{Reason: sessions.NotBinary}
	}
	h, frame, err := l.buffer.Read(body, admit)
	if err != nil {
		return framing.Header{}, nil, frameError(err)
	}
	// Exactly one frame is one message: whatever follows is a fault (decision D4).
	if n, err := body.Read(l.after[:]); n > 0 || !errors.Is(err, io.EOF) {
		if n > 0 || err == nil {
			return framing.Header{}, nil, &LinkError{Reason: sessions.MalformedFrame}
		}
		return framing.Header{}, nil, readError(err)
	}
	l.socket.MessageDone()
	return h, frame, nil
}

func (l *socketLink) WriteFrame(frame []byte) error {
	if err := l.socket.Write(frame, false); err != nil {
		return WriteError(err)
	}
	return nil
}

func (l *socketLink) Close(reason sessions.CloseReason) {
	l.socket.Close(closeCode(reason), wsconn.CloseLimit)
}

func (l *socketLink) CloseNow() { l.socket.CloseNow() }

func (l *socketLink) Peer() wsconn.Peer { return l.socket }

// HalfOpen is always false: a WebSocket has no half-close.
func (l *socketLink) HalfOpen() bool { return false }

// frameError sorts the error of reading one message as a frame. The library gives the
// loss of the connection inside a message as the message's end, so a client that
// vanished there may be logged as malformed.
func frameError(err error) *LinkError {
	var broken *framing.FrameError
	var end *LinkError
	switch {
	case errors.As(err, &end):
		return end
	case errors.Is(err, io.EOF): // an empty message
		return &LinkError{Reason: sessions.MalformedFrame}
	case errors.As(err, &broken):
		return &LinkError{Reason: FrameErrorReason(err)}
	}
	return readError(err)
}

// readError sorts a read error.
func readError(err error) *LinkError {
	end := &LinkError{Reason: wsconn.ReadFailed(err)}
	if end.Reason == sessions.BadWebSocket {
		end.Err = err
	}
	return end
}

// WriteError sorts a write error.
func WriteError(err error) *LinkError {
	if wsconn.FaultOf(err) == wsconn.TimedOut {
		return &LinkError{Reason: sessions.SlowReader}
	}
	return &LinkError{Reason: sessions.ClientGone}
}
