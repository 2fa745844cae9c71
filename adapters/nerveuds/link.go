package nerveuds

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"plexus/adapters/gate"
	"plexus/adapters/nervews"
	"plexus/adapters/wsconn"
	"plexus/domain/framing"
	"plexus/domain/sessions"
)

// streamLink carries frames back to back on a byte stream.
type streamLink struct {
	conn     net.Conn
	watchdog *wsconn.WatchdogConn
	reader   *bufio.Reader
	buffer   nervews.FrameBuffer
	spoken   bool        // a whole frame has come
	atEnd    atomic.Bool // the peer has closed its writing side
	closing  sync.Once
}

func (l *streamLink) ReadFrame(admit nervews.Admit) (framing.Header, []byte, error) {
	h, frame, err := l.buffer.Read(l.reader, admit)
	if err == nil {
		l.watchdog.FrameDone(l.reader.Buffered())
		if !l.spoken {
			l.spoken = true
			gate.Hold(l.conn)
		}
		return h, frame, nil
	}
	var broken *framing.FrameError
	var end *nervews.LinkError
	switch {
	case errors.As(err, &end):
		return h, nil, end
	case errors.Is(err, io.EOF): // between two frames: a clean end
		l.atEnd.Store(true)
		return h, nil, &nervews.LinkError{Reason: sessions.ClientGone}
	case errors.As(err, &broken):
		return h, nil, &nervews.LinkError{Reason: nervews.FrameErrorReason(err)}
	case wsconn.FaultOf(err) == wsconn.TimedOut:
		return h, nil, &nervews.LinkError{Reason: sessions.FrameStalled}
	}
	return h, nil, &nervews.LinkError{Reason: sessions.ClientGone}
}

func (l *streamLink) WriteFrame(frame []byte) error {
	if _, err := l.watchdog.Write(frame); err != nil {
		return nervews.WriteError(err)
	}
	return nil
}

// Close closes the stream: a byte stream has no closing handshake and NERVE sends
// no errors.
func (l *streamLink) Close(sessions.CloseReason) { l.CloseNow() }

func (l *streamLink) CloseNow() { l.closing.Do(func() { _ = l.conn.Close() }) }

// Peer is nil, so nobody is pinged: the kernel tells at once when a local peer is
// gone, and a silent one may wait.
func (l *streamLink) Peer() wsconn.Peer { return nil }

// HalfOpen tells a peer that has closed only its writing side, and waits, from
// one that is gone.
func (l *streamLink) HalfOpen() bool { return l.atEnd.Load() && !hungUp(gate.Unwrap(l.conn)) }
