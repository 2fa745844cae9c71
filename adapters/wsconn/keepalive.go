package wsconn

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// KeepAliveInterval is the usual time between two pings (decision K3).
const KeepAliveInterval = 20 * time.Second

// maxMissedPings is how many intervals in a row may pass without a byte from the
// peer; with the usual interval that is 60 s.
const maxMissedPings = 3

// SlowestLink is the rate, in bytes a second, below which a link over networks
// counts as broken. What was sent may still be on its way, in the buffers of this
// machine and of a proxy, and a ping waits behind it: 900 KiB at this rate need
// almost two minutes.
const SlowestLink = 8 << 10

// ErrPeerTimeout: the peer has answered no ping for maxMissedPings intervals.
var ErrPeerTimeout = errors.New("no sign of life from the peer")

// Peer is who a KeepAlive pings: a *Socket.
type Peer interface {
	// Ping sends a ping and waits for its answer, or for ctx.
	Ping(ctx context.Context) error
	// BytesRead counts what came from the peer, any byte of which shows that it is
	// alive, and BytesSent what the kernel has taken for it.
	BytesRead() uint64
	BytesSent() uint64
}

// KeepAlive pings a peer at every interval and finds out when it is gone. The
// connection's Writer drives it and does not while it writes: a write has a limit
// of its own. A nil KeepAlive does nothing.
type KeepAlive struct {
	ctx      context.Context
	peer     Peer
	interval time.Duration
	arrives  uint64 // bytes that reach the peer in an interval
	timer    *time.Timer
	pings    sync.WaitGroup
	silence  silence
}

// NewKeepAlive pings peer every interval until ctx ends. slowestLink is a rate in
// bytes a second: what was sent counts as on its way for as long as that takes, and
// meanwhile silence is no sign and no ping is sent. With 0 it counts as arrived.
func NewKeepAlive(ctx context.Context, peer Peer, interval time.Duration, slowestLink int) *KeepAlive {
	k := &KeepAlive{ctx: ctx, peer: peer, interval: interval, arrives: math.MaxUint64}
	if slowestLink > 0 {
		k.arrives = uint64(slowestLink) * uint64(interval) / uint64(time.Second)
	}
	return k
}

// Ping pings the peer beside the caller, gives up after limit, and then calls
// done, which may be nil.
func (k *KeepAlive) Ping(limit time.Duration, done func()) {
	k.pings.Go(func() {
		ctx, cancel := context.WithTimeout(k.ctx, limit)
		defer cancel()
		_ = k.peer.Ping(ctx) // whatever comes back is counted as bytes
		if done != nil {
			done()
		}
	})
}

// start begins the first interval and gives the channel that signals the end of
// each.
func (k *KeepAlive) start() <-chan time.Time {
	if k == nil {
		return nil
	}
	k.timer = time.NewTimer(k.interval)
	return k.timer.C
}

// intervalOver looks for bytes that came, and sends the next ping.
func (k *KeepAlive) intervalOver() error {
	if k.silence.tooLong(k.peer.BytesRead(), k.peer.BytesSent(), k.arrives) {
		return ErrPeerTimeout
	}
	if k.silence.backlog == 0 { // else a ping would wait behind it, and be given up
		k.Ping(k.interval, nil)
	}
	k.timer.Reset(k.interval)
	return nil
}

// stop waits for the pings that are out: ctx must have ended, or be about to.
func (k *KeepAlive) stop() {
	if k != nil {
		k.timer.Stop()
		k.pings.Wait()
	}
}

// silence counts the intervals in which nothing came, those aside in which the peer
// may not have received all that was sent.
type silence struct {
	read    uint64
	sent    uint64
	backlog uint64 // bytes that may not have arrived
	missed  int
}

// tooLong is asked once an interval, with the bytes so far and with how many of
// them reach the peer in an interval.
func (s *silence) tooLong(read, sent, arrives uint64) bool {
	s.backlog += sent - s.sent
	s.backlog -= min(s.backlog, arrives)
	heard := read != s.read
	s.read, s.sent = read, sent
	switch {
	case heard:
		s.missed = 0
	case s.backlog == 0:
		s.missed++
	}
	return s.missed >= maxMissedPings
}
