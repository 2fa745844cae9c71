package gate

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queueListener accepts what a test puts in: a connection, or an error.
type queueListener chan any

func (l queueListener) Accept() (net.Conn, error) {
	switch c := (<-l).(type) {
	case net.Conn:
		return c, nil
	case error:
		return nil, c
	}
	return nil, net.ErrClosed
}
func (queueListener) Close() error   { return nil }
func (queueListener) Addr() net.Addr { return &net.TCPAddr{} }

// stage is a gate with a listener that accepts what dial sends.
type stage struct {
	gate     *Gate
	queue    queueListener
	accepted chan net.Conn
	refused  int
	log      bytes.Buffer
	listener net.Listener
}

func onStage(t *testing.T, limits Limits, f func(t *testing.T, g *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &stage{queue: make(queueListener), accepted: make(chan net.Conn, 100)}
		g.gate = New("door", limits, slog.New(slog.NewTextHandler(&g.log, nil)), func() { g.refused++ })
		g.listener = g.gate.Listen(g.queue)
		go func() {
			for {
				c, err := g.listener.Accept()
				if err != nil {
					return
				}
				g.accepted <- c
			}
		}()
		f(t, g)
		synctest.Wait()
		_ = g.listener.Close()
		close(g.queue)
	})
}

// dial opens a connection. server is nil when it was not accepted.
func (g *stage) dial() (client, server net.Conn) {
	client, ours := net.Pipe()
	g.queue <- ours
	synctest.Wait()
	return client, g.next()
}

// next gives the next connection that was accepted; nil for none.
func (g *stage) next() net.Conn {
	synctest.Wait()
	select {
	case c := <-g.accepted:
		return c
	default:
		return nil
	}
}

// isClosed reports whether the other end of c is closed.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func (g *stage) expect(t *testing.T, idle, asking, held int) {
	t.Helper()
	if got := []int{g.gate.idle.Len(), g.gate.asking.Len(), g.gate.held}; !slices.Equal(got, []int{idle, asking, held}) {
		t.Errorf("%v are idle, asking, held; want %v", got, []int{idle, asking, held})
	}
}

func TestTheLongestIdleGivesWay(t *testing.T) {
	onStage(t, Limits{Connections: 2}, func(t *testing.T, g *stage) {
		first, answered := g.dial()
		second, _ := g.dial()
		// The first has been answered meanwhile, so it is not idle for longest.
		connState(answered, http.StateActive)
		connState(answered, http.StateIdle)
		third, c := g.dial()
		if c == nil || !isClosed(second) || isClosed(first) {
			t.Error("the newcomer did not get the place of the one that is idle for longest")
		}
		if _, c := g.dial(); c == nil || !isClosed(first) || isClosed(third) {
			t.Error("the next did not get the next place")
		}
		g.expect(t, 2, 0, 0)
		if got := strings.Count(g.log.String(), "level=WARN"); got != 1 {
			t.Errorf("%d lines in a minute, want 1:\n%s", got, &g.log)
		}
	})
}

// TestWhoAsksGivesWayAfterTheIdle and only when that takes too long.
func TestWhoAsksGivesWayAfterTheIdle(t *testing.T) {
	onStage(t, Limits{Connections: 2}, func(t *testing.T, g *stage) {
		first, one := g.dial()
		connState(one, http.StateActive)
		second, two := g.dial()
		if _, c := g.dial(); c == nil || isClosed(first) || !isClosed(second) {
			t.Fatal("who asked gave way before the idle one")
		}
		_, three := g.dial() // in place of the one before
		connState(three, http.StateActive)
		late, c := g.dial()
		if c != nil || isClosed(late) || isClosed(first) {
			t.Fatal("a newcomer did not wait while all are being answered")
		}
		time.Sleep(HeaderLimit)
		if g.next() == nil || !isClosed(first) {
			t.Error("who asks for too long did not give way")
		}
		_ = two.Close() // its place is another's by now
		g.expect(t, 1, 1, 0)
	})
}

func TestANewcomerGetsThePlaceOfWhoIsDone(t *testing.T) {
	onStage(t, Limits{Connections: 1}, func(t *testing.T, g *stage) {
		_, one := g.dial()
		connState(one, http.StateActive)
		if _, c := g.dial(); c != nil {
			t.Fatal("two in one place")
		}
		_ = one.Close()
		if g.next() == nil {
			t.Error("the place was not given on")
		}
		g.expect(t, 1, 0, 0)
	})
}

func TestTheHeldAreNotThrownOut(t *testing.T) {
	onStage(t, Limits{Connections: 3, Spare: 1}, func(t *testing.T, g *stage) {
		upgraded, one := g.dial()
		connState(one, http.StateActive)
		connState(one, http.StateHijacked)
		known, two := g.dial()
		connState(two, http.StateActive)
		two.(*conn).enter(held)
		spoken, three := g.dial()
		Hold(three)
		g.expect(t, 0, 0, 3)
		var last net.Conn
		for range 100 { // all in the one spare place
			client, c := g.dial()
			if c == nil || last != nil && !isClosed(last) {
				t.Fatal("a newcomer was not heard")
			}
			last = client
		}
		for _, c := range []net.Conn{upgraded, known, spoken} {
			if isClosed(c) {
				t.Fatal("a held one was thrown out")
			}
		}
		g.expect(t, 1, 0, 3)
		for range 2 {
			_ = one.Close()
		}
		g.expect(t, 1, 0, 2)
	})
}

// TestWithoutASparePlaceNewcomersAreRefused, when every place is held.
func TestWithoutASparePlaceNewcomersAreRefused(t *testing.T) {
	onStage(t, Limits{Connections: 1}, func(t *testing.T, g *stage) {
		_, one := g.dial()
		Hold(one)
		client, c := g.dial()
		if c != nil || !isClosed(client) || g.refused != 1 {
			t.Errorf("accepted %v, refused %d", c != nil, g.refused)
		}
	})
}

// TestOpeningIsBoundedApart: as many as are admitted stay, and few are opening.
func TestOpeningIsBoundedApart(t *testing.T) {
	onStage(t, Limits{Connections: 10, Opening: 2}, func(t *testing.T, g *stage) {
		for range 8 {
			_, c := g.dial()
			connState(c, http.StateHijacked)
		}
		var silent []net.Conn
		for range 5 {
			c, _ := g.dial()
			silent = append(silent, c)
		}
		g.expect(t, 2, 0, 8)
		for i, c := range silent {
			if isClosed(c) != (i < 3) {
				t.Errorf("silent %d: closed %v", i, !(i < 3))
			}
		}
	})
}

// TestAcceptGoesOn: while descriptors are lacking it tries again, says so once a
// minute, and ends with the listener.
func TestAcceptGoesOn(t *testing.T) {
	lacking := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	onStage(t, Limits{Connections: 9}, func(t *testing.T, g *stage) {
		began, tries := time.Now(), 0
		for time.Since(began) < 2*time.Minute+30*time.Second {
			g.queue <- lacking
			tries++
		}
		if tries > 200 {
			t.Errorf("%d tries in two minutes and a half: it spins", tries)
		}
		if got := strings.Count(g.log.String(), "too many open files. "); got != 3 {
			t.Errorf("%d lines in two minutes and a half, want 3:\n%s", got, &g.log)
		}
		if _, c := g.dial(); c == nil {
			t.Error("nothing was accepted afterwards")
		}
		g.queue <- lacking
		synctest.Wait()
		_ = g.listener.Close() // frees the wait
	})
	onStage(t, Limits{Connections: 9}, func(t *testing.T, g *stage) {
		g.queue <- errors.New("broken") // Accept gives it, and the stage stops accepting
		synctest.Wait()
		if g.log.Len() > 0 {
			t.Errorf("logged %s", &g.log)
		}
	})
}

func TestStopClosesTheIdleAndEveryNewcomer(t *testing.T) {
	onStage(t, Limits{Connections: 3}, func(t *testing.T, g *stage) {
		silent, _ := g.dial()
		asks, one := g.dial()
		connState(one, http.StateActive)
		for range 2 {
			g.gate.Stop()
		}
		late, c := g.dial()
		if !isClosed(silent) || isClosed(asks) || c != nil || !isClosed(late) {
			t.Errorf("closed: silent %v, asking %v, late %v", isClosed(silent), isClosed(asks), isClosed(late))
		}
	})
}

// TestAServerTellsItsGate: what net/http calls a new, an active and an idle
// connection, over a real server.
func TestAServerTellsItsGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := make(queueListener)
		g := New("door", Limits{Connections: 9}, slog.New(slog.DiscardHandler), nil)
		counts := func() (idle, asking, held int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.idle.Len(), g.asking.Len(), g.held
		}
		expect := func(when string, wants ...int) {
			t.Helper()
			synctest.Wait()
			if idle, asking, held := counts(); !slices.Equal([]int{idle, asking, held}, wants) {
				t.Errorf("%s: %d idle, %d asking, %d held, want %v", when, idle, asking, held, wants)
			}
		}
		answer := make(chan bool) // true: for somebody who is known
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/up":
				if _, _, err := http.NewResponseController(w).Hijack(); err != nil {
					t.Error(err)
				}
				return
			case <-answer:
				release := HoldRequest(r)
				<-answer
				release()
				<-answer
			}
			_, _ = io.WriteString(w, "ok")
		})}
		g.Guard(server)
		served := make(chan error)
		go func() { served <- server.Serve(g.Listen(queue)) }()
		client, ours := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		queue <- ours
		expect("silent", 1, 0, 0)
		_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\n")
		expect("in the header", 1, 0, 0)
		_, _ = io.WriteString(client, "\r\n")
		expect("asking", 0, 1, 0)
		answer <- true
		expect("held", 0, 0, 1)
		answer <- true
		expect("released", 0, 1, 0)
		answer <- true
		expect("answered", 1, 0, 0)
		_, _ = io.WriteString(client, "GET /up HTTP/1.1\r\nHost: a\r\n\r\n")
		expect("upgraded", 0, 0, 1)
		_ = client.Close()

		slow, ours := net.Pipe()
		began := time.Now()
		queue <- ours
		_, _ = io.WriteString(slow, "GET / HT")
		_, _ = io.Copy(io.Discard, slow)
		if took := time.Since(began); took != HeaderLimit {
			t.Errorf("a slow header was cut off after %v", took)
		}
		g.Stop()
		close(queue)
		_ = server.Close()
		<-served
	})
}

func TestSharesLeaveRoomForEverythingElse(t *testing.T) {
	for _, c := range []struct {
		openFiles   int
		wants, gets []int
	}{
		{Unlimited, []int{72, 1032}, []int{72, 1032}},
		{65536, []int{72, 1032, 1024}, []int{72, 1032, 1024}},
		{1024, []int{72, 72, 72, 1032, 1024}, []int{72, 72, 72, 276, 276}},
		{1024, []int{1032, 72, 1024, 72, 72}, []int{276, 72, 276, 72, 72}},
		{256, []int{72, 72, 72, 1032, 1024}, []int{25, 25, 26, 26, 26}},
		{16, []int{72, 72}, []int{4, 4}},
		{1024, nil, nil},
	} {
		if got := Shares(c.openFiles, c.wants...); !slices.Equal(got, c.gets) {
			t.Errorf("of %d files %v get %v, want %v", c.openFiles, c.wants, got, c.gets)
		}
	}
}

func TestLimitsFitAShare(t *testing.T) {
	whole := Limits{Connections: 1024, Opening: 64, Spare: 8}
	for share, want := range map[int]Limits{
		1032: whole, 5000: whole,
		276: {268, 64, 8}, 25: {19, 9, 6}, 4: {3, 1, 1}, 1: {1, 1, 0}, 0: {1, 1, 0},
	} {
		if got := whole.Within(share); got != want {
			t.Errorf("within %d: %+v, want %+v", share, got, want)
		}
		if got := whole.Within(share).Total(); share > 0 && got > max(share, whole.Total()*min(share/1032, 1)) {
			t.Errorf("within %d: %d descriptors", share, got)
		}
	}
	if got := (Limits{Connections: 64}).Within(10); got.Opening != 0 {
		t.Errorf("an unset bound became %+v", got)
	}
	if n := OpenFiles(); n < 64 {
		t.Errorf("this process may have %d files open", n)
	}
}
