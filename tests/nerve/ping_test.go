package nerve_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/ask"
)

// holdingAnswer blocks until the request is cancelled and reports both.
func holdingAnswer() (answer func(context.Context, ask.Question, ports.AnswerSink), begun, ended chan string) {
	begun, ended = make(chan string, 2048), make(chan string, 2048)
	return func(ctx context.Context, q ask.Question, _ ports.AnswerSink) {
		begun <- q.Query.Query
		<-ctx.Done()
		ended <- q.Query.Query
	}, begun, ended
}

func TestB1_PingIsEchoedIdentically(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for _, id := range []uint64{0, 1, 42, 1<<32 - 1, 1<<53 + 1, 1 << 63, 1<<64 - 1} {
			send(t, w, ping(id))
			expectEcho(t, w, id)
		}
	})
}

// TestB1_EchoPassesQueuedTokens fills the connection with tokens that the client
// does not take; the echo must come before those that were still queued.
func TestB1_EchoPassesQueuedTokens(t *testing.T) {
	accepted, calls := 0, atomic.Int32{}
	full, pinged := make(chan struct{}), make(chan struct{})
	f := start(t, setup{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		if calls.Add(1) == 2 { // frames are looked at in order, so the Ping before it has been
			close(pinged)
			return
		}
		text := string(bytes.Repeat([]byte("x"), 4000))
		for refusals := 0; refusals < 3; { // then the outbox and the socket are full
			wait, stop := context.WithTimeout(ctx, 100*time.Millisecond)
			if sink.Token(wait, text, false) == nil {
				accepted, refusals = accepted+1, 0
			} else {
				refusals++
			}
			stop()
		}
		close(full)
	}})
	w := f.dialWebSocket(t)
	send(t, w, askFrame(1))
	<-full
	send(t, w, ping(2), askFrame(3))
	<-pinged
	before := untilEcho(t, w, 2)
	if queued := accepted - len(before); queued < 128 { // of the 256 frames that a connection may queue
		t.Errorf("%d of %d tokens came before the echo", len(before), accepted)
	}
}

func TestB2_PingPayloadIsEchoed(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for _, n := range []int{1, 12, 4095, 4096, 65536, framing.MaxPayloadSize} {
			want := frame(framing.Ping, framing.Final, uint64(n), string(bytes.Repeat([]byte{0xfe}, n)))
			go func() { _ = w.Send(want) }() // a megabyte may not fit the socket at once
			if g := receive(t, w); !bytes.Equal(g.raw, want) {
				t.Fatalf("a payload of %d bytes came back as %d bytes", n, len(g.payload))
			}
		}
	})
}

func TestB3_EchoAlwaysHasFinalAlone(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for _, flags := range []framing.Flags{0, 1, 2, 3, 0x04, 0x80, 0xff} {
			send(t, w, frame(framing.Ping, flags, 9, "p"))
			if g := receive(t, w); g.Flags != framing.Final {
				t.Errorf("flags %#02x were echoed as %#02x, want 0x02", flags, g.Flags)
			}
		}
	})
}

func TestB4_PingWithTheIDOfARunningQuery(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(5))
		<-begun
		send(t, w, ping(5))
		expectEcho(t, w, 5)
		select {
		case <-ended:
			t.Fatal("the Ping ended the query")
		default:
		}
		send(t, w, cancel(5))
		<-ended
	})
}

func TestB22_FramesOfTheWrongDirectionAreIgnored(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w,
			frame(framing.SearchResultMsg, framing.Final, 1, `{"results":[],"took_ms":0}`),
			frame(framing.AiTokenMsg, framing.Final, 1, `{"t":""}`), ping(2))
		expectEcho(t, w, 2)
	})
}

// agentFrame checks that a reserved type is accepted, answered by nothing, and
// cannot disturb the running query of the same ID.
func agentFrame(t *testing.T, typ framing.MessageType) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(200))
		<-begun
		for i := range 1500 { // more than the table of requests could hold
			send(t, w, frame(typ, framing.Flags(i%4), uint64(200+i), "{}"))
		}
		send(t, w, ping(201))
		expectEcho(t, w, 201)
		select {
		case <-ended:
			t.Fatalf("%v ended a query", typ)
		default:
		}
		send(t, w, cancel(200))
		<-ended
	})
}

func TestB23_AgentTaskStartHoldsNoState(t *testing.T)      { agentFrame(t, framing.AgentTaskStart) }
func TestB24_AgentTaskEventIsIgnored(t *testing.T)         { agentFrame(t, framing.AgentTaskEvent) }
func TestB25_AgentTaskDoneLeavesASearchAlone(t *testing.T) { agentFrame(t, framing.AgentTaskDone) }

func TestB45_OtherClientsNoticeNothing(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		good := dial(t)
		for i, bad := range [][]byte{
			bytes.Repeat([]byte{0xff}, 100), header(framing.Magic, 9, 1, 2, 1, 0),
			header(framing.Magic, 1, 0x77, 2, 1, 0), header(framing.Magic, 1, 1, 2, 1, framing.MaxPayloadSize+1),
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				w := dial(t)
				send(t, w, bad)
				expectEnd(t, w, 1002)
				send(t, good, ping(uint64(i)))
				expectEcho(t, good, uint64(i))
			})
		}
	})
}
