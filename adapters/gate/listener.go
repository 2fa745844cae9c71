package gate

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// Pauses between two tries to accept while descriptors are lacking.
const (
	firstPause = 5 * time.Millisecond
	maxPause   = time.Second
)

// listener accepts as the gate allows.
type listener struct {
	net.Listener
	gate   *Gate
	closed chan struct{}
	once   sync.Once
}

// Listen gives a listener that accepts the connections of ln as the gate allows. It
// goes on accepting when the process or the system has no descriptor for a while.
func (g *Gate) Listen(ln net.Listener) net.Listener {
	return &listener{Listener: ln, gate: g, closed: make(chan struct{})}
}

// Close frees a waiting Accept.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Accept gives the next connection for which there is a place.
func (l *listener) Accept() (net.Conn, error) {
	pause := firstPause
	for {
		accepted, err := l.Listener.Accept()
		switch {
		case err == nil:
			pause = firstPause
			if c := l.letIn(accepted); c != nil {
				return c, nil
			}
		case !noDescriptors(err):
			return nil, err
		default:
			if l.gate.mayWarn(&l.gate.lacking, time.Now()) {
				l.gate.log.Warn("the "+l.gate.name+" cannot take connections for now and tries again: there are too many open files. The limit is raised with ulimit -n", "cause", err)
			}
			if !l.wait(pause, nil) {
				return nil, net.ErrClosed
			}
			pause = min(2*pause, maxPause)
		}
	}
}

// letIn waits until there is a place for a connection; nil: there is none, and it was
// closed.
func (l *listener) letIn(accepted net.Conn) net.Conn {
	g := l.gate
	c := &conn{Conn: accepted, gate: g}
	for {
		now := time.Now()
		ok, evicted, wait := g.admit(c, now)
		for _, gone := range evicted {
			_ = gone.Close() // it has lost its place
		}
		if len(evicted) > 0 && g.mayWarn(&g.crowded, now) {
			g.log.Warn("the "+g.name+" is crowded: connections that say nothing give way to new ones", "connections", g.limits.Connections)
		}
		switch {
		case ok:
			return c
		case wait > 0 && l.wait(wait, g.freed):
			continue
		}
		_ = accepted.Close() // nothing was said
		if g.onRefused != nil {
			g.onRefused()
		}
		return nil
	}
}

// wait waits for a time or for something earlier; false when accepting is over.
func (l *listener) wait(limit time.Duration, earlier <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-earlier:
	case <-l.closed:
		return false
	case <-l.gate.stopping:
		return false
	}
	return true
}

// noDescriptors reports whether accept failed for lack of what will be there again.
func noDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}
