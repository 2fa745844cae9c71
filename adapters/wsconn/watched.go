// Package wsconn holds what every WebSocket room of Plexus shares: the upgrade,
// a socket with bounded reads, writes and teardown, pooled buffers, the outbox
// and the list of live connections. It knows no protocol above WebSocket.
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

// Watched is a net.Conn that enforces Limits at next to no cost: a frame that
// arrives in one piece sets no deadline at all. Read and FrameDone are serialized
// by the caller, and so are writes.
type Watched struct {
	net.Conn
	limits Limits
	read   atomic.Uint64 // bytes
	sent   atomic.Uint64 // bytes that the kernel has taken

	open  bool // bytes of an unfinished frame are in hand
	fresh bool // and its deadline is not set yet
	set   bool // a deadline is on the socket

	written time.Time // when the write deadline was last set
}

// NewWatched puts limits on c. begun says that the first bytes of a frame have
// arrived already.
func NewWatched(c net.Conn, limits Limits, begun bool) *Watched {
	return &Watched{Conn: c, limits: limits, open: begun, fresh: begun}
}

// Read reads, under a deadline only while a frame is unfinished.
func (w *Watched) Read(p []byte) (int, error) {
	switch {
	case w.open && w.fresh:
		w.setReadDeadline(time.Now().Add(w.limits.Frame))
		w.fresh, w.set = false, true
	case !w.open && w.set:
		w.setReadDeadline(time.Time{})
		w.set = false
	}
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.read.Add(uint64(n))
		if !w.open {
			w.open, w.fresh = true, true
		}
	}
	return n, err
}

// FrameDone says that a frame was read to its end. ahead bytes of the next one
// are buffered already: they must be counted now, since the next Read comes only
// after they have been taken.
func (w *Watched) FrameDone(ahead int) {
	w.open = ahead > 0
	w.fresh = w.open
}

// Write writes under the write limit, which counts progress: each piece that the
// kernel takes begins it anew, so that a slow reader of much is no dead one.
func (w *Watched) Write(p []byte) (n int, err error) {
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
func (w *Watched) BytesRead() uint64 { return w.read.Load() }

// BytesSent counts the bytes that the kernel has taken. How far they have come
// since, nobody on this side can tell.
func (w *Watched) BytesSent() uint64 { return w.sent.Load() }

// setReadDeadline drops the error: a socket that refuses a deadline is closed,
// and the read that follows says so.
func (w *Watched) setReadDeadline(t time.Time) { _ = w.Conn.SetReadDeadline(t) }
