package wsconn

import (
	"net"
	"sync/atomic"
	"time"
)

// Limits of one connection's silence.
type Limits struct {
	Frame time.Duration // from a frame's first byte to its last; between frames there is no limit
	Write time.Duration // without progress of a write; up to a second more
}

// DefaultLimits are the NERVE limits: ten seconds each.
func DefaultLimits() Limits { return Limits{Frame: 10 * time.Second, Write: 10 * time.Second} }

// writeSlack is how old a write deadline may be before it is set anew, so that a
// stream of small frames does not pay for one each.
const writeSlack = time.Second

// writePiece is how many bytes go out under one deadline.
const writePiece = 64 << 10

// WatchdogConn is a net.Conn that enforces Limits at next to no cost: a frame that
// arrives in one piece sets no deadline at all. Read and FrameDone are serialized
// by the caller, and so are writes.
type WatchdogConn struct {
	net.Conn
	limits Limits
	read   atomic.Uint64 // bytes
	sent   atomic.Uint64 // bytes that the kernel has taken

	midFrame    bool // bytes of an unfinished frame are in hand
	frameIsNew  bool // and its deadline is not set yet
	deadlineSet bool // a read deadline is on the socket

	written time.Time // when the write deadline was last set
}

// NewWatchdogConn puts limits on c. begun says that the first bytes of a frame have
// arrived already.
func NewWatchdogConn(c net.Conn, limits Limits, begun bool) *WatchdogConn {
	return &WatchdogConn{Conn: c, limits: limits, midFrame: begun, frameIsNew: begun}
}

// Read reads, under a deadline only while a frame is unfinished.
func (w *WatchdogConn) Read(p []byte) (int, error) {
	switch {
	case w.midFrame && w.frameIsNew:
		w.setReadDeadline(time.Now().Add(w.limits.Frame))
		w.frameIsNew, w.deadlineSet = false, true
	case !w.midFrame && w.deadlineSet:
		w.setReadDeadline(time.Time{})
		w.deadlineSet = false
	}
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.read.Add(uint64(n))
		if !w.midFrame {
			w.midFrame, w.frameIsNew = true, true
		}
	}
	return n, err
}

// FrameDone says that a frame was read to its end. ahead bytes of the next one
// are buffered already: they must be counted now, since the next Read comes only
// after they have been taken.
func (w *WatchdogConn) FrameDone(ahead int) {
	w.midFrame = ahead > 0
	w.frameIsNew = w.midFrame
}

// FrameWaited begins the time of the frame anew: it was not read meanwhile.
func (w *WatchdogConn) FrameWaited() { w.frameIsNew = w.midFrame }

// Write writes under the write limit, which counts progress: each piece that the
// kernel takes begins it anew, so that a slow reader of a long message is not
// closed.
func (w *WatchdogConn) Write(p []byte) (n int, err error) {
	for {
		piece := p[n:min(len(p), n+writePiece)]
		if now := time.Now(); now.Sub(w.written) >= writeSlack {
			w.written = now
			if err := w.Conn.SetWriteDeadline(now.Add(w.limits.Write + writeSlack)); err != nil {
				return n, err
			}
		}
		k, err := w.Conn.Write(piece)
		n += k
		w.sent.Add(uint64(k))
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// BytesRead counts the bytes that came.
func (w *WatchdogConn) BytesRead() uint64 { return w.read.Load() }

// BytesSent counts the bytes that the kernel has taken. How many have arrived
// cannot be known on this side.
func (w *WatchdogConn) BytesSent() uint64 { return w.sent.Load() }

// setReadDeadline drops the error: a socket that refuses a deadline is closed,
// and the read that follows says so.
func (w *WatchdogConn) setReadDeadline(t time.Time) { _ = w.Conn.SetReadDeadline(t) }
