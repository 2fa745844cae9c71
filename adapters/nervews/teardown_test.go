package nervews

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/ask"
)

// endless answers with tokens until nobody takes them.
func endless(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
	for sink.Token(ctx, "more", false) == nil {
	}
}

// TestTeardown_IsBoundedForAPeerThatDoesNotRead: whoever is stuck in a write, the
// writer with a token, the reader with an echo or the library with a pong, is
// freed in time.
func TestTeardown_IsBoundedForAPeerThatDoesNotRead(t *testing.T) {
	message := func(payload []byte) []byte {
		return wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: payload})
	}
	for what, first := range map[string][]byte{
		"a token": message(askFrame(t, 1)),
		"an echo": message(pingFrame(1)),
		"a pong":  wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Ping}),
	} {
		for _, reason := range []sessions.CloseReason{sessions.Shutdown, sessions.ExtensionRemoved} {
			inFakeTime(t, openHost{answer: endless}, func(t *testing.T, s *Server, p *wstest.Peer) {
				if _, err := p.Write(first); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // stuck
				s.Tracker.CloseAll(reason)
				if took := lifetime(s); took > 2100*time.Millisecond {
					t.Errorf("%v while %s was written: the teardown took %v", reason, what, took)
				}
			})
		}
	}
}

// TestSlowReader_OfPongs: a peer that pings and takes no pong breaks no rule.
func TestSlowReader_OfPongs(t *testing.T) {
	log := inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
		ping := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Ping})
		for {
			if _, err := p.Write(ping); err != nil {
				break
			}
		}
		if took := lifetime(s); took > 12*time.Second {
			t.Errorf("the connection lived %v more", took)
		}
	})
	if !strings.Contains(log, "reason=slow_reader") {
		t.Errorf("the log does not call it a slow reader:\n%s", log)
	}
}

// TestClose_WhileFramesArrive is for the race detector: the library reads in a
// Close that waits for the peer's, and the session's reader is still there.
func TestClose_WhileFramesArrive(t *testing.T) {
	flood := bytes.Repeat(append(
		wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: pingFrame(1)}),
		append(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Ping}), wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Pong})...)...), 5)
	for range 60 {
		inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
			var peer sync.WaitGroup
			begun, taken := make(chan struct{}), make(chan struct{})
			peer.Go(func() {
				close(begun)
				for range 40 {
					if _, err := p.Write(flood); err != nil {
						break
					}
				}
				<-taken
				_ = p.Close()
			})
			peer.Go(func() {
				defer close(taken)
				for {
					f, err := p.ReadFrame()
					if err != nil || f.Opcode == wstest.Close {
						return // unanswered: the library goes on reading
					}
				}
			})
			<-begun
			s.Tracker.CloseAll(sessions.Shutdown)
			peer.Wait()
			lifetime(s)
		})
	}
}

// scriptedLink gives frames without end and tells how many were taken.
type scriptedLink struct {
	frame  []byte
	reads  int
	onRead func(n int)
	closed chan struct{}
	once   sync.Once
}

func (l *scriptedLink) ReadFrame(Admit) (framing.Header, []byte, error) {
	l.reads++
	if l.onRead(l.reads); l.reads > 1000 {
		return framing.Header{}, nil, &LinkError{Reason: sessions.ClientGone}
	}
	frame := bytes.Clone(l.frame)
	h, err := framing.ParseHeader(frame)
	return h, frame, err
}
func (l *scriptedLink) WriteFrame([]byte) error    { return nil }
func (l *scriptedLink) Close(sessions.CloseReason) { l.CloseNow() }
func (l *scriptedLink) CloseNow()                  { l.once.Do(func() { close(l.closed) }) }
func (l *scriptedLink) Peer() wsconn.Peer          { return nil }
func (l *scriptedLink) HalfOpen() bool             { return false }

// TestFramesAfterTheEndAreNotDispatched: a peer that goes on sending while its
// connection is closed gets nothing done.
func TestFramesAfterTheEndAreNotDispatched(t *testing.T) {
	const last = 10
	for _, frame := range [][]byte{pingFrame(1), askFrame(t, 1)} {
		synctest.Test(t, func(t *testing.T) {
			link := &scriptedLink{frame: frame, closed: make(chan struct{})}
			host := openHost{answer: func(ctx context.Context, _ ask.Question, _ ports.AnswerSink) { <-ctx.Done() }}
			s := NewSession(link, host, admission.Peer{}, NewPayloads(), Timing{}, slog.New(slog.DiscardHandler))
			link.onRead = func(n int) {
				if n == last {
					s.Close(sessions.Shutdown)
				}
			}
			s.Run()
			if link.reads != last || s.counts.frames != last-1 {
				t.Errorf("%d frames were read and %d dispatched, want %d and %d", link.reads, s.counts.frames, last, last-1)
			}
		})
	}
}

// oneListener accepts what a test puts in, until it is closed.
type oneListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *oneListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *oneListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// TestShutdown_DoesNotWaitForAHandshake: neither for a connection that never
// sent a byte nor for one that has begun a request.
func TestShutdown_DoesNotWaitForAHandshake(t *testing.T) {
	for _, sent := range []string{"", "GET / HT", "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			ln := &oneListener{conns: make(chan net.Conn), closed: make(chan struct{})}
			s := New(openHost{}, openHost{}, Config{Log: slog.New(slog.DiscardHandler)})
			var serving sync.WaitGroup
			serving.Go(func() {
				if err := s.Serve(ln); err != nil {
					t.Errorf("serve: %v", err)
				}
			})
			client, server := net.Pipe()
			ln.conns <- server
			if _, err := io.WriteString(client, sent); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Shutdown(ctx); err != nil {
				t.Errorf("shutdown after %q: %v", sent, err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("shutdown after %q took %v", sent, took)
			}
			_, err := client.Read(make([]byte, 1))
			if took := time.Since(start); err == nil || took > 2*time.Second {
				t.Errorf("after %q: the connection ended with %v after %v", sent, err, took)
			}
			serving.Wait()
			_ = client.Close()
		})
	}
}

// slowClose is a link whose peer takes its time with the close.
type slowClose struct {
	scriptedLink
	cutShort bool
}

func (l *slowClose) Close(sessions.CloseReason) {
	select {
	case <-l.closed:
		l.cutShort = true
	case <-time.After(1500 * time.Millisecond):
	}
	l.CloseNow()
}

func (l *slowClose) ReadFrame(Admit) (framing.Header, []byte, error) {
	<-l.closed
	return framing.Header{}, nil, &LinkError{Reason: sessions.ClientGone}
}

// TestClose_HasALimitOfItsOwn: what the flush may take is not taken from it.
func TestClose_HasALimitOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := &slowClose{scriptedLink: scriptedLink{closed: make(chan struct{})}}
		s := NewSession(link, openHost{}, admission.Peer{}, NewPayloads(), Timing{}, slog.New(slog.DiscardHandler))
		var running sync.WaitGroup
		running.Go(s.Run)
		s.Close(sessions.Shutdown)
		running.Wait()
		if link.cutShort {
			t.Error("the session cut the close short")
		}
	})
}
