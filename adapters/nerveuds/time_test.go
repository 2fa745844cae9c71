package nerveuds

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/gate"
	"plexus/adapters/nervews"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/ask"
)

// openHost answers as told and lets everybody in.
type openHost struct {
	answer  func(ctx context.Context, q ask.Question, sink ports.AnswerSink)
	refused *int // connections
	removed bool // between accept and attach
}

func (d openHost) AnswerQuery(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
	d.answer(ctx, q, sink)
}
func (openHost) CountRefused() {}
func (d openHost) Attach(context.Context, admission.Verdict, ports.NerveLink) (func(), bool) {
	return func() {}, !d.removed
}
func (d openHost) Refuse(admission.Cause, string) { *d.refused++ }

// testHost is both of what a server needs.
type testHost interface {
	nervews.QueryService
	PeerAuth
}

// connect gives the peer's end of a new connection to s.
func connect(s *Server) net.Conn {
	peer, ours := net.Pipe()
	s.admit(ours)
	return peer
}

// inFakeTime runs f with one connection, in a bubble where time moves only when
// everybody waits. log holds the lines of the server.
func inFakeTime(t *testing.T, host testHost, f func(t *testing.T, s *Server, peer net.Conn)) (log string) {
	t.Helper()
	var lines bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := New(host, host, Config{Places: gate.Limits{Connections: 2}, Log: slog.New(slog.NewTextHandler(&lines, nil))})
		peer := connect(s)
		f(t, s, peer)
		_ = peer.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return lines.String()
}

// lifetime waits until every connection is gone, a minute at most.
func lifetime(s *Server) time.Duration {
	start := time.Now()
	for s.Connections() > 0 && time.Since(start) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(start)
}

func frame(t *testing.T, typ framing.MessageType, id uint64, payload []byte) []byte {
	t.Helper()
	b, err := framing.AppendFrame(nil, typ, framing.Final, id, payload)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func askFrame(t *testing.T, id uint64) []byte {
	t.Helper()
	return frame(t, framing.SearchQueryMsg, id, framing.AppendSearchQuery(nil, framing.SearchQuery{Query: "q", MaxResults: 1}))
}

func write(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

// late answers when most have given up.
func late(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
	time.Sleep(110 * time.Second)
	_ = sink.Token(ctx, "late", true) // seen by the peer, or not
}

// TestAPeerThatWaitsSilentlyGetsItsAnswer: a tool that has asked and waits gives
// no sign of life for as long as the answer takes.
func TestAPeerThatWaitsSilentlyGetsItsAnswer(t *testing.T) {
	inFakeTime(t, openHost{answer: late}, func(t *testing.T, s *Server, peer net.Conn) {
		write(t, peer, askFrame(t, 7))
		expect(t, peer, framing.AppendAiToken(nil, 7, "late", true))
	})
}

func TestAnIdleConnectionLives(t *testing.T) {
	inFakeTime(t, openHost{}, func(t *testing.T, s *Server, peer net.Conn) {
		for id := range uint64(3) {
			time.Sleep(time.Hour)
			ping := frame(t, framing.Ping, id, []byte("still there"))
			write(t, peer, ping)
			expect(t, peer, ping)
		}
	})
}

// TestB41_AStalledFrameIsCutOnAStream: ten seconds from a frame's first byte,
// also when that came together with the end of the frame before.
func TestB41_AStalledFrameIsCutOnAStream(t *testing.T) {
	ping := frame(t, framing.Ping, 1, []byte("payload"))
	for _, n := range []int{1, framing.HeaderSize, len(ping) - 1} {
		for _, before := range [][]byte{nil, ping} {
			log := inFakeTime(t, openHost{}, func(t *testing.T, s *Server, peer net.Conn) {
				go func() { _, _ = io.Copy(io.Discard, peer) }()
				time.Sleep(25 * time.Second)
				write(t, peer, append(bytes.Clone(before), ping[:n]...))
				if took := lifetime(s); took < 10*time.Second || took > 12*time.Second {
					t.Errorf("stalled at byte %d after %d: lived %v, want 10 s", n, len(before), took)
				}
			})
			if !strings.Contains(log, "reason=frame_stalled") {
				t.Errorf("the log does not name the reason:\n%s", log)
			}
		}
	}
}

// TestTeardown_IsBoundedForAPeerThatDoesNotRead: whoever is stuck in a write, the
// writer with a token or the reader with an echo, is freed.
func TestTeardown_IsBoundedForAPeerThatDoesNotRead(t *testing.T) {
	endless := openHost{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		for sink.Token(ctx, "more", false) == nil {
		}
	}}
	for what, first := range map[string][]byte{"a token": askFrame(t, 1), "an echo": frame(t, framing.Ping, 1, nil)} {
		for _, reason := range []sessions.CloseReason{sessions.Shutdown, sessions.ExtensionRemoved} {
			inFakeTime(t, endless, func(t *testing.T, s *Server, peer net.Conn) {
				write(t, peer, first)
				synctest.Wait() // stuck
				s.tracker.CloseAll(reason)
				if took := lifetime(s); took > 2100*time.Millisecond {
					t.Errorf("%v while %s was written: the teardown took %v", reason, what, took)
				}
			})
		}
	}
}

// pipes is a listener without a network.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error { close(p.closed); return nil }
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "nerve.sock", Net: "unix"} }

func (p pipes) dial() net.Conn {
	peer, ours := net.Pipe()
	p.made <- ours
	synctest.Wait()
	return peer
}

// TestOfToolsTheSilentGiveWay, never those that have sent a frame; when all have,
// the next is refused.
func TestOfToolsTheSilentGiveWay(t *testing.T) {
	refused := 0
	inFakeTime(t, openHost{refused: &refused}, func(t *testing.T, s *Server, _ net.Conn) {
		ln, served := pipes{make(chan net.Conn), make(chan struct{})}, make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		ping := frame(t, framing.Ping, 4, nil)
		speak := func(c net.Conn) {
			t.Helper()
			write(t, c, ping)
			expect(t, c, ping)
		}
		first := ln.dial()
		speak(first)
		time.Sleep(time.Hour)
		silent := ln.dial()
		second := ln.dial()
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || refused != 0 {
			t.Errorf("the silent one got %v, and %d were refused", err, refused)
		}
		speak(second)
		third := ln.dial()
		if _, err := third.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || refused != 1 {
			t.Errorf("one more than the cap got %v, and %d were refused", err, refused)
		}
		speak(first)
		_ = second.Close()
		synctest.Wait()
		fourth := ln.dial()
		speak(fourth)
		_, _ = first.Close(), fourth.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func TestAPeerRemovedMeanwhileIsClosed(t *testing.T) {
	log := inFakeTime(t, openHost{removed: true}, func(t *testing.T, s *Server, peer net.Conn) {
		if _, err := peer.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want the end", err)
		}
	})
	if !strings.Contains(log, "reason=extension_removed") {
		t.Errorf("the log does not name the reason:\n%s", log)
	}
}

func TestServe_AfterShutdownClosesItsListener(t *testing.T) {
	s := New(openHost{}, openHost{}, Config{Log: slog.New(slog.DiscardHandler)})
	for range 2 { // a second Shutdown is nothing
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(ln); err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open: %v", err)
	}
}
