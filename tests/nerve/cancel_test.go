package nerve_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/ask"
)

func TestB15_CancelStopsTheWorkAndSaysNothing(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(1))
		<-begun
		send(t, w, cancel(1))
		<-ended
		send(t, w, ping(2))
		expectEcho(t, w, 2)     // no acknowledgement, no FINAL
		send(t, w, askFrame(1)) // the slot is free
		<-begun
		send(t, w, cancel(1))
		<-ended
	})
}

// TestB15_CancelDropsWhatIsQueued: a client that reads slowly cancels; almost
// all of what the host had queued must never come.
func TestB15_CancelDropsWhatIsQueued(t *testing.T) {
	piece := string(make([]byte, 4000))
	stuck, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := setup{answer: func(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
		defer close(ended)
		for {
			wait, stop := context.WithTimeout(ctx, 100*time.Millisecond)
			err := sink.Token(wait, piece, false)
			stop()
			if err != nil && ctx.Err() == nil {
				once.Do(func() { close(stuck) }) // outbox and socket are full
			} else if err != nil {
				return
			}
		}
	}}
	f := start(t, s)
	w := f.dialUnix(t)
	send(t, w, askFrame(1))
	<-stuck
	send(t, w, cancel(1), ping(2))
	<-ended // until then whatever is read makes room for more of it
	bytes := 0
	for _, g := range untilEcho(t, w, 2) {
		bytes += len(g.raw)
	}
	if bytes > 600<<10 { // what the kernel's buffers held already, and one frame
		t.Errorf("%d bytes of a cancelled request came", bytes)
	}
}

func TestB16_CancelOfAnUnknownIDIsNothing(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, cancel(999), askFrame(1))
		untilFinal(t, w, 1)
		send(t, w, cancel(1), ping(2)) // finished
		expectEcho(t, w, 2)
	})
}

func TestB17_CancelTwice(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(1))
		<-begun
		send(t, w, cancel(1), cancel(1), ping(2))
		<-ended
		expectEcho(t, w, 2)
	})
}

func TestB18_CancelTakesItsIDFromTheHeaderAlone(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, query(1, framing.SearchQuery{Query: "one", MaxResults: 1}), query(2, framing.SearchQuery{Query: "two", MaxResults: 1}))
		<-begun
		<-begun
		// The payload names request 2; the header names 1.
		send(t, w, frame(framing.Cancel, 0x81, 1, "\x02\x00\x00\x00\x00\x00\x00\x00"), ping(3))
		if got := <-ended; got != "one" {
			t.Errorf("request %q was cancelled", got)
		}
		expectEcho(t, w, 3)
		if len(ended) != 0 {
			t.Error("the other request was cancelled too")
		}
		send(t, w, cancel(2))
		<-ended
	})
}

func TestB19_CancelIsPerConnection(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		a, b := dial(t), dial(t)
		send(t, a, askFrame(777))
		<-begun
		send(t, b, cancel(777), ping(1))
		expectEcho(t, b, 1)
		send(t, a, ping(2))
		expectEcho(t, a, 2)
		if len(ended) != 0 {
			t.Error("another connection's Cancel ended the request")
		}
		send(t, a, cancel(777))
		<-ended
	})
}

// TestB20_CancelRacesTheLastFrame: either outcome is fine, nothing may follow
// the echo, and the connection lives.
func TestB20_CancelRacesTheLastFrame(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for i := range uint64(500) {
			id := 2 * i
			send(t, w, askFrame(id), cancel(id), ping(id+1))
			for _, g := range untilEcho(t, w, id+1) {
				if g.RequestID != id {
					t.Fatalf("round %d: a frame of %d after its echo", i, g.RequestID)
				}
			}
		}
	})
}

func TestB21_CancelBeforeItsQueryIsForgotten(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, cancel(1), askFrame(1))
		if got := text(t, untilFinal(t, w, 1)); got != "It opened in 1921." {
			t.Errorf("the answer reads %q", got)
		}
	})
}

func TestB40_AVanishedClientCancelsItsRequests(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for id := range uint64(3) {
			send(t, w, askFrame(id))
			<-begun
		}
		_ = w.Close() // no close frame
		for range 3 {
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatal("a request outlived its client")
			}
		}
		waitFor(t, "the connection's end", func() bool { return f.browsers.LiveConnections() == 0 })
	})
}

// TestB48_LifeCycle runs many requests with random ends on several connections.
func TestB48_LifeCycle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := setup{answer: func(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
		for range len(q.Query.Query) {
			if sink.Token(ctx, "x", false) != nil {
				return
			}
		}
		_ = sink.Token(ctx, "", true) // cancelled in between, perhaps
	}}
	onBoth(t, s, func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
		var clients sync.WaitGroup
		for c := range 4 {
			w := dial(t)
			random := rand.New(rand.NewPCG(seed, uint64(c)))
			clients.Go(func() {
				for id := range uint64(300) {
					q := framing.SearchQuery{Query: string(make([]byte, 1+random.IntN(60))), MaxResults: 1}
					frames := [][]byte{query(id, q)}
					if random.IntN(2) == 0 {
						frames = append(frames, cancel(id))
					}
					for _, b := range append(frames, ping(1<<40+id)) {
						if err := w.Send(b); err != nil {
							t.Errorf("send: %v", err)
							return
						}
					}
				}
			})
			clients.Go(func() { drainUntilEcho(t, w, 1<<40+299) })
		}
		clients.Wait()
	})
}

func drainUntilEcho(t *testing.T, w wire, id uint64) {
	for {
		raw, err := w.Receive()
		if err != nil {
			t.Errorf("receive: %v", err)
			return
		}
		if h, err := framing.ParseHeader(raw); err != nil || h.Type == framing.Ping && h.RequestID == id {
			return
		}
	}
}

// TestB49_NothingFollowsTheBarrier is the correctness pass of the cancel target:
// a source at full speed, Cancel, Ping; after the echo, no frame of the request.
func TestB49_NothingFollowsTheBarrier(t *testing.T) {
	rounds := uint64(10_000)
	if testing.Short() {
		rounds = 500
	}
	s := setup{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		for sink.Token(ctx, "token", false) == nil {
		}
	}}
	f := start(t, s)
	w := f.dialUnix(t)
	for i := range rounds {
		if err := w.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		id := 2*i + 1
		send(t, w, askFrame(id))
		receive(t, w) // at least one token: it runs
		send(t, w, cancel(id), ping(id+1))
		untilEcho(t, w, id+1)
		send(t, w, ping(0))
		if stray := untilEcho(t, w, 0); len(stray) != 0 {
			t.Fatalf("round %d: %s after the barrier", i, shape(stray))
		}
	}
}
