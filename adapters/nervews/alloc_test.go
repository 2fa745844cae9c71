//go:build !race

package nervews

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/ask"
)

// serveLoopback starts a server on a real socket and upgrades one connection.
func serveLoopback(t testing.TB, host testHost) *wstest.Peer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(host, host, Config{Log: slog.New(slog.DiscardHandler)})
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ln); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		serving.Wait()
	})
	p, _, err := wstest.Dial(ln.Addr().String())
	if err != nil || p == nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// mallocs counts the allocations of the whole process while f runs.
func mallocs(f func()) uint64 {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestAllocs_PingOverARealWebSocket is the live check of the target "at most one
// allocation per frame": a million Pings, receive to reply, whole process.
func TestAllocs_PingOverARealWebSocket(t *testing.T) {
	const frames = 1_000_000
	p := serveLoopback(t, openHost{})
	const batch = 100
	request := bytes.Repeat(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: pingFrame(7)}), batch)
	reply := make([]byte, batch*22)
	round := func() {
		if _, err := p.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(p.Conn, reply); err != nil {
			t.Fatal(err)
		}
	}
	round()
	n := mallocs(func() {
		for range frames / batch {
			round()
		}
	})
	perFrame := float64(n) / float64(frames)
	t.Logf("%d Pings: %.4f allocations per frame", frames, perFrame)
	if perFrame > 0.05 {
		t.Errorf("%.4f allocations per Ping, want none to speak of", perFrame)
	}
}

// TestAllocs_TokensOverARealWebSocket: from the worker's Token to the wire.
func TestAllocs_TokensOverARealWebSocket(t *testing.T) {
	const tokens = 100_000
	start, done := make(chan struct{}), make(chan struct{})
	p := serveLoopback(t, openHost{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		defer close(done)
		<-start
		for i := range tokens {
			if err := sink.Token(ctx, "Hello", i == tokens-1); err != nil {
				t.Errorf("token %d: %v", i, err)
				return
			}
		}
	}})
	if err := p.Send(askFrame(t, 1)); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.CopyN(io.Discard, p.Conn, int64(tokens*(2+framing.HeaderSize+len(`{"t":"Hello"}`)))) })
	n := mallocs(func() { close(start); <-done; reading.Wait() })
	perFrame := float64(n) / tokens
	t.Logf("%d tokens: %.4f allocations per frame", tokens, perFrame)
	if perFrame > 1 {
		t.Errorf("%.4f allocations per token, want at most 1", perFrame)
	}
}
