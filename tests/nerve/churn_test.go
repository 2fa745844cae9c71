package nerve_test

import (
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"plexus/adapters/wsconn/wstest"
)

// usage is what a host that serves nobody holds on to.
type usage struct {
	goroutines, descriptors int
	heap                    uint64
}

// slack is what a heap may differ by for reasons of the runtime's own.
const slack = 256 << 10

// measure waits until nobody is connected and takes stock.
func measure(t *testing.T, f *fixture) usage {
	t.Helper()
	waitFor(t, "the end of every connection", func() bool {
		return f.websocket.Connections() == 0 && f.unix.Connections() == 0 && f.browsers.LiveConnections() == 0
	})
	f.log.forget()
	runtime.GC()
	runtime.GC() // the first only ages what the pools hold
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{goroutines: runtime.NumGoroutine(), descriptors: descriptors(), heap: m.HeapAlloc}
}

// descriptors counts the open ones; 0 where the system does not list them.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// compare insists that nothing has grown since u was taken.
func (u usage) compare(t *testing.T, f *fixture) {
	t.Helper()
	var now usage
	waitFor(t, "goroutines and descriptors of the start", func() bool {
		now = measure(t, f)
		return now.goroutines <= u.goroutines && now.descriptors <= u.descriptors
	})
	if limit := u.heap + u.heap/5 + slack; now.heap > limit {
		t.Errorf("the heap holds %d KiB, %d KiB at the start", now.heap>>10, u.heap>>10)
	}
	t.Logf("goroutines %d → %d, descriptors %d → %d, heap %d → %d KiB",
		u.goroutines, now.goroutines, u.descriptors, now.descriptors, u.heap>>10, now.heap>>10)
}

// churner opens connections without leaving a trace in the test itself.
type churner struct {
	t    *testing.T
	f    *fixture
	unix bool
}

func (c churner) dial() net.Conn {
	network, addr := "tcp", c.f.addr
	if c.unix {
		network, addr = "unix", c.f.path
	}
	conn, err := net.Dial(network, addr)
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(patience))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return conn
}

func (c churner) open() wire {
	conn := c.dial()
	if c.unix {
		return stream{conn}
	}
	peer, response, err := wstest.Handshake(conn, hostIs(c.f.addr), offer(token))
	if err != nil || peer == nil {
		c.t.Fatalf("handshake: %v, %v", response, err)
	}
	return peer
}

// cycle is one connection's life; n says how it ends.
func (c churner) cycle(n int) {
	switch n % 4 {
	case 0: // with a close frame
		w := c.open()
		send(c.t, w, ping(1))
		expectEcho(c.t, w, 1)
		if peer, ok := w.(*wstest.Peer); ok {
			_, _ = peer.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Close, Payload: []byte{3, 232}}))
			_, _ = peer.Receive() // the answer to it
		}
		_ = w.Close()
	case 1: // with a reset
		w := c.open()
		send(c.t, w, ping(1))
		expectEcho(c.t, w, 1)
		c.cut(w)
	case 2: // while tokens flow
		w := c.open()
		send(c.t, w, askFrame(1))
		receive(c.t, w)
		c.cut(w)
	case 3: // before it has begun
		conn := c.dial()
		half := "GET / HTTP/1.1\r\nHost: "
		if c.unix {
			half = string(ping(1)[:9])
		}
		if _, err := io.WriteString(conn, half); err != nil {
			c.t.Fatal(err)
		}
		_ = conn.Close()
	}
}

// cut closes without the kernel's FIN, where there is one.
func (c churner) cut(w wire) {
	var conn any = w
	if peer, ok := w.(*wstest.Peer); ok {
		conn = peer.Conn
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a close follows in any case
	}
	_ = w.Close()
}

// TestCR50_MemoryFollowsConnectionsDown: an extension comes back every half
// minute, all day; whatever stays behind of one connection adds up.
func TestCR50_MemoryFollowsConnectionsDown(t *testing.T) {
	const cycles = 2000
	for name, unix := range map[string]bool{"websocket": false, "unix": true} {
		t.Run(name, func(t *testing.T) {
			f := start(t, setup{answer: endlessAnswer})
			c := churner{t: t, f: f, unix: unix}
			for n := range 100 {
				c.cycle(n)
			}
			before := measure(t, f)
			for n := range cycles {
				c.cycle(n)
			}
			before.compare(t, f)
		})
	}
}
