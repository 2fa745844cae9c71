package nervews

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/ask"
)

// openHost lets everybody in and answers as told.
type openHost struct {
	answer func(ctx context.Context, q ask.Question, sink ports.AnswerSink)
}

func (d openHost) AnswerQuery(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
	d.answer(ctx, q, sink)
}
func (openHost) CountRefused() {}
func (openHost) Admit(context.Context, admission.HandshakeRequest) admission.Verdict {
	return admission.Verdict{Admitted: true}
}
func (openHost) Attach(context.Context, admission.Verdict, ports.NerveLink) (func(), bool) {
	return func() {}, true
}
func (openHost) OriginAllowed(context.Context, string) bool { return true }
func (openHost) IsToken(admission.KeyHash) bool             { return true }
func (openHost) Refuse(admission.Cause, string)             {}

// testHost is both of what a server needs.
type testHost interface {
	QueryService
	PeerAuth
}

// inFakeTime runs f with a client on an in-memory connection, in a bubble where
// time moves only when everybody waits. early bytes come with the upgrade; log
// holds the lines of the server.
func inFakeTime(t *testing.T, host testHost, f func(t *testing.T, s *Server, p *wstest.Peer), early ...byte) (log string) {
	t.Helper()
	var lines bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := New(host, host, Config{Log: slog.New(slog.NewTextHandler(&lines, nil))})
		s.hosts.Store(httpguard.Hosts("x"))
		p, response := wstest.Pipe(s, wstest.UpgradeRequest("x", "/"), early...)
		if p == nil {
			t.Fatalf("the upgrade was answered %d", response.StatusCode)
		}
		f(t, s, p)
		_ = p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return lines.String()
}

// lifetime waits until every connection of s is gone, a minute at most.
func lifetime(s *Server) time.Duration {
	start := time.Now()
	for s.Connections() > 0 && time.Since(start) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(start)
}

func pingFrame(id uint64) []byte {
	return framing.AppendHeader(nil, framing.Header{Type: framing.Ping, Flags: framing.Final, RequestID: id})
}

func askFrame(t *testing.T, id uint64) []byte {
	t.Helper()
	b, err := framing.AppendFrame(nil, framing.SearchQueryMsg, framing.Final, id,
		framing.AppendSearchQuery(nil, framing.SearchQuery{Query: "q", MaxResults: 1}))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestB5_TheHostNeverSendsNervePings: an idle connection is kept up by WebSocket
// pings alone, and lives as long as they are answered.
func TestB5_TheHostNeverSendsNervePings(t *testing.T) {
	inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
		start, pings := time.Now(), 0
		for time.Since(start) < time.Hour {
			f, err := p.ReadFrame()
			if err != nil {
				t.Fatalf("after %v: %v", time.Since(start), err)
			}
			if f.Opcode != wstest.Ping {
				t.Fatalf("after %v: an unasked frame, opcode %d", time.Since(start), f.Opcode)
			}
			pings++
			if _, err := p.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Pong, Payload: f.Payload})); err != nil {
				t.Fatal(err)
			}
		}
		if pings < 150 {
			t.Errorf("%d pings in an hour, want one every 20 s", pings)
		}
	})
}

// TestKeepAlive_ASilentPeerIsClosed: a peer that takes everything and answers nothing is cut
// once it has been silent for a minute, give or take a look.
func TestKeepAlive_ASilentPeerIsClosed(t *testing.T) {
	inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
		start := time.Now()
		_, err := io.Copy(io.Discard, p.Conn)
		if lived := time.Since(start); err != nil || lived < 55*time.Second || lived > 85*time.Second {
			t.Errorf("the silent peer lived %v (%v), want about a minute", lived, err)
		}
	})
}

// TestB41_AStalledFrameIsCut: ten seconds from the first byte of a frame to its
// last, wherever it stalls, and none between frames; also when the first byte
// came together with the frame before.
func TestB41_AStalledFrameIsCut(t *testing.T) {
	whole := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: pingFrame(1)})
	for _, n := range []int{1, 2, 6, 7, len(whole) - 1} {
		for _, before := range [][]byte{nil, whole} {
			log := inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
				go answerPings(p)
				idle := 25 * time.Second // between frames there is no limit
				time.Sleep(idle)
				if _, err := p.Write(append(bytes.Clone(before), whole[:n]...)); err != nil {
					t.Fatal(err)
				}
				if took := lifetime(s); took < 10*time.Second || took > 12*time.Second {
					t.Errorf("cut inside byte %d after %d: the connection lived %v, want 10 s and a goodbye", n, len(before), took)
				}
			})
			if !strings.Contains(log, "reason=frame_stalled") {
				t.Errorf("the log does not name the reason:\n%s", log)
			}
		}
	}
}

// TestB41_AFrameBegunWithTheUpgradeIsCut: the limit holds for bytes that came
// together with the request as well.
func TestB41_AFrameBegunWithTheUpgradeIsCut(t *testing.T) {
	whole := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: pingFrame(1)})
	for _, early := range [][]byte{whole[:1], whole[:len(whole)-1], append(bytes.Clone(whole), whole[:3]...)} {
		inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
			go func() { _, _ = io.Copy(io.Discard, p.Conn) }() // a pong would end the frame's silence
			if took := lifetime(s); took < 10*time.Second || took > 12*time.Second {
				t.Errorf("%d bytes with the upgrade: the connection lived %v, want 10 s", len(early), took)
			}
		}, early...)
	}
	inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) { // a whole frame is no beginning
		go answerPings(p)
		time.Sleep(time.Hour)
		if s.Connections() != 1 {
			t.Error("a connection whose first frame was whole was cut")
		}
	}, whole...)
}

// TestB41_ASteadyTrickleOfWholeFramesLives: the limit is per frame.
func TestB41_ASteadyTrickleOfWholeFramesLives(t *testing.T) {
	whole := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: pingFrame(1)})
	inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
		go func() { _, _ = io.Copy(io.Discard, p.Conn) }() // a pong would land inside a frame
		// Each write ends one frame and begins the next, so that no moment is idle.
		half := len(whole) / 2
		if _, err := p.Write(whole[:half]); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			time.Sleep(6 * time.Second)
			if _, err := p.Write(append(whole[half:], whole[:half]...)); err != nil {
				t.Fatalf("a live connection was cut: %v", err)
			}
		}
		if s.Connections() != 1 {
			t.Error("a live connection was cut")
		}
	})
}

// answerPings reads everything and answers WebSocket pings until the end.
func answerPings(p *wstest.Peer) {
	for {
		if _, err := p.Receive(); err != nil {
			return
		}
	}
}

// TestB42_AClientThatDoesNotReadIsDropped: the write limit, and no more memory
// than the outbox allows meanwhile; its requests are cancelled.
func TestB42_AClientThatDoesNotReadIsDropped(t *testing.T) {
	sent := 0
	var ended chan error // made in the bubble
	host := openHost{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		piece := string(make([]byte, 10_000))
		for {
			if err := sink.Token(ctx, piece, false); err != nil {
				ended <- err
				return
			}
			sent++
		}
	}}
	inFakeTime(t, host, func(t *testing.T, s *Server, p *wstest.Peer) {
		start := time.Now()
		ended = make(chan error, 1)
		if err := p.Send(askFrame(t, 1)); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, errGone) {
			t.Errorf("the answer ended with %v", err)
		}
		synctest.Wait()
		if took := time.Since(start); took < 10*time.Second || took > 13*time.Second {
			t.Errorf("the slow reader lived %v, want 10 to 11 s", took)
		}
		// Each NUL costs six bytes as JSON: a megabyte holds some 17 pieces.
		if sent > 20 {
			t.Errorf("%d pieces of 60 KB were taken in, more than the outbox holds", sent)
		}
		if s.Connections() != 0 {
			t.Error("the connection is still there")
		}
	})
}

// TestB42_FloodOfPingsWithoutReadingIsBounded: echoes wait for room, so reading
// stops, and the client is dropped.
func TestB42_FloodOfPingsWithoutReadingIsBounded(t *testing.T) {
	frame := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: pingFrame(1)})
	for range 50 {
		inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
			sent := 0
			for {
				if _, err := p.Write(frame); err != nil {
					break
				}
				sent++
			}
			if sent > 4096/len(frame)+2*256+64 {
				t.Errorf("%d Pings were taken in without an echo being read", sent)
			}
		})
	}
}

// TestShutdown_IsBoundedForADeadPeer: nobody answers the close.
func TestShutdown_IsBoundedForADeadPeer(t *testing.T) {
	inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
		s.Tracker.CloseAll(sessions.Shutdown)
		if took := lifetime(s); took > 2*time.Second {
			t.Errorf("the teardown took %v", took)
		}
	})
}
