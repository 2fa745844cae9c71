// Package gate bounds the connections of a listener from accept on, so that a crowd
// costs next to nothing, keeps nobody out for long and takes no file descriptor that
// another listener needs.
//
// A connection is idle while nothing of its own is being answered: it is silent, half
// open, or its header has not come to an end. It is asking from the end of a request's
// header on. It is held once somebody whom the listener knows is on it: a socket that
// was upgraded, a request of the owner's session, a tool that has sent a frame. When
// there is no place left, a newcomer gets that of the connection which is idle for
// longest. Where none is idle, whoever asks for longer than HeaderLimit gives way. A
// held one never does.
package gate

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"plexus/domain/loglimit"
)

// HeaderLimit is how long a request's header may take to come.
const HeaderLimit = 5 * time.Second

// Limits of one listener.
type Limits struct {
	// Connections that may be open at once.
	Connections int
	// Opening is how many of them may be idle or asking; 0 means as many as there
	// are.
	Opening int
	// Spare is how many more may be open, idle or asking, when nearly all places are
	// held, so that newcomers can be told so. With 0 they are closed unheard.
	Spare int
}

// Total is how many file descriptors the connections take at most.
func (l Limits) Total() int { return l.Connections + l.Spare }

// Gate counts the connections of one listener.
type Gate struct {
	name      string
	limits    Limits
	log       *slog.Logger
	onRefused func()

	mu       sync.Mutex
	idle     list.List // of *conn, the longest idle first
	asking   list.List // of *conn, the longest asking first
	held     int
	stopped  bool
	lacking  loglimit.OnceAMinute // descriptors
	crowded  loglimit.OnceAMinute // somebody had to give way
	freed    chan struct{}        // a place may have come free
	stopping chan struct{}
}

// New makes the gate of a listener; name is for the log. onRefused, which may be nil,
// is called for each connection that was closed unheard because every place is held.
func New(name string, limits Limits, log *slog.Logger, onRefused func()) *Gate {
	if limits.Opening == 0 {
		limits.Opening = limits.Connections
	}
	return &Gate{
		name: name, limits: limits, log: log, onRefused: onRefused,
		freed: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
}

// Guard makes server tell the gate what its connections do, and bounds its headers in
// time. It has to serve a listener of Listen.
func (g *Gate) Guard(server *http.Server) {
	server.ReadHeaderTimeout = HeaderLimit
	server.ConnState = connState
	before := server.ConnContext
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if before != nil {
			ctx = before(ctx, c)
		}
		return context.WithValue(ctx, connKey{}, c)
	}
}

type connKey struct{}

// ConnOf gives the connection of a request that a guarded server serves; nil for
// another one.
func ConnOf(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return c
}

// HoldRequest keeps the connection of a request from giving way until release is
// called or, if it is upgraded, until it is closed.
func HoldRequest(r *http.Request) (release func()) {
	c, ok := ConnOf(r).(*conn)
	if !ok {
		return func() {}
	}
	c.enter(held)
	return func() { c.enter(asking) }
}

// Hold keeps a connection that a listener of Listen has accepted from giving way
// until it is closed.
func Hold(c net.Conn) {
	if c, ok := c.(*conn); ok {
		c.enter(kept)
	}
}

// Unwrap gives the connection below one that a listener of Listen has accepted.
func Unwrap(c net.Conn) net.Conn {
	if c, ok := c.(*conn); ok {
		return c.Conn
	}
	return c
}

// Stop closes what is idle, and from now on every newcomer. http.Server.Shutdown
// would wait five seconds for connections that never sent anything, and browsers
// open some ahead.
func (g *Gate) Stop() {
	g.mu.Lock()
	if !g.stopped {
		g.stopped = true
		close(g.stopping)
	}
	var silent []*conn
	for e := g.idle.Front(); e != nil; e = e.Next() {
		silent = append(silent, e.Value.(*conn))
	}
	g.mu.Unlock()
	for _, c := range silent {
		_ = c.Close() // nothing was being said
	}
}

// admit gives c a place. evicted have lost theirs and are the caller's to close, also
// when the place is not enough yet. When there is none, wait says for how long to wait
// for Gate.freed; with 0 there will not be one soon.
func (g *Gate) admit(c *conn, now time.Time) (ok bool, evicted []*conn, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return false, nil, 0
	}
	places := max(min(g.limits.Opening, g.limits.Connections-g.held), g.limits.Spare)
	if places <= 0 {
		return false, nil, 0
	}
	for g.idle.Len()+g.asking.Len() >= places {
		oldest, older := g.idle.Front(), time.Duration(0)
		if oldest == nil {
			oldest = g.asking.Front()
			if older = HeaderLimit - now.Sub(oldest.Value.(*conn).since); older > 0 {
				return false, evicted, older
			}
		}
		gone := oldest.Value.(*conn)
		gone.move(out, now)
		evicted = append(evicted, gone)
	}
	c.move(idle, now)
	return true, evicted, 0
}

// mayWarn reports whether a line about one more event may be written.
func (g *Gate) mayWarn(limit *loglimit.OnceAMinute, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return limit.Note(now) > 0
}
