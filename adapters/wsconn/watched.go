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
	Write time.Duration // for one write to make the kernel take it; up to a second more
}

// DefaultLimits are the NERVE limits: ten seconds each.
func DefaultLimits() Limits { return Limits{Frame: 10 * time.Second, Write: 10 * time.Second} }

// writeSlack is how old a write deadline may be before it is set anew, so that a
// stream of small frames does not pay for one each.
const writeSlack = time.Second

// Watched is a net.Conn that enforces Limits at next to no cost: a frame that
// arrives in one piece sets no deadline at all. Reads and writes are serialized
// by the caller, each for itself; FrameDone may be called by anybody.
type Watched struct {
	net.Conn
	limits Limits
	reads  atomic.Uint64 // reads that brought bytes, a sign of life
	done   atomic.Bool   // a frame has been read to its end since the last Read

	// Read alone touches these.
	ahead func() int // bytes that have been read and not yet taken
	open  bool       // bytes of an unfinished frame are in hand
	fresh bool       // and its deadline is not set yet
	set   bool       // a deadline is on the socket

	written time.Time // when the write deadline was last set
}

// NewWatched puts limits on c. begun says that the first bytes of a frame have
// arrived already. SetAhead must follow before the first Read.
func NewWatched(c net.Conn, limits Limits, begun bool) *Watched {
	return &Watched{Conn: c, limits: limits, open: begun, fresh: begun}
}

// SetAhead tells how to find the bytes that a reader above has buffered.
func (w *Watched) SetAhead(ahead func() int) { w.ahead = ahead }

// Read reads, under a deadline only while a frame is unfinished.
func (w *Watched) Read(p []byte) (int, error) {
	if w.done.Swap(false) {
		w.open = w.ahead() > 0
		w.fresh = w.open
	}
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
		w.reads.Add(1)
		if !w.open {
			w.open, w.fresh = true, true
		}
	}
	return n, err
}

// FrameDone says that a frame was read to its end.
func (w *Watched) FrameDone() { w.done.Store(true) }

// Write writes under the write limit.
func (w *Watched) Write(p []byte) (int, error) {
	if now := time.Now(); now.Sub(w.written) >= writeSlack {
		w.written = now
		if err := w.Conn.SetWriteDeadline(now.Add(w.limits.Write + writeSlack)); err != nil {
			return 0, err
		}
	}
	return w.Conn.Write(p)
}

// Reads counts the reads that brought bytes.
func (w *Watched) Reads() uint64 { return w.reads.Load() }

// setReadDeadline drops the error: a socket that refuses a deadline is closed,
// and the read that follows says so.
func (w *Watched) setReadDeadline(t time.Time) { _ = w.Conn.SetReadDeadline(t) }
