package nervews

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/ask"
)

// bigAsk is a query whose payload has size bytes.
func bigAsk(t *testing.T, id uint64, size int) []byte {
	t.Helper()
	payload := framing.AppendSearchQuery(nil, framing.SearchQuery{Query: "slow", MaxResults: 1})
	payload = append(payload, bytes.Repeat([]byte(" "), size-len(payload))...) // white space after JSON is JSON
	b, err := framing.AppendFrame(nil, framing.SearchQueryMsg, framing.Final, id, payload)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exchange sends a frame and insists on the answer.
func exchange(t *testing.T, p *wstest.Peer, frame, want []byte) {
	t.Helper()
	if err := p.Send(frame); err != nil {
		t.Fatal(err)
	}
	receive(t, p, want)
}

func receive(t *testing.T, p *wstest.Peer, want []byte) {
	t.Helper()
	if got, err := p.Receive(); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("got %q (%v), want %q", got, err, want)
	}
}

// slowHost answers every question at once but those of bigAsk, which it keeps
// until letGo is closed, even when they are cancelled.
func slowHost(letGo *chan struct{}) openHost {
	return openHost{answer: func(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
		if q.Query.Query == "slow" {
			<-*letGo
		}
		_ = sink.Token(ctx, "done", true) // fails for a cancelled one
	}}
}

func sentinel(id uint64) []byte { return framing.AppendAiToken(nil, id, "", true) }
func done(id uint64) []byte     { return framing.AppendAiToken(nil, id, "done", true) }

// fill takes all the room for payloads that one connection has.
func fill(t *testing.T, p *wstest.Peer) (queries uint64) {
	t.Helper()
	for queries*framing.MaxPayloadSize < maxPayloads {
		if err := p.Send(bigAsk(t, queries, framing.MaxPayloadSize)); err != nil {
			t.Fatal(err)
		}
		queries++
	}
	return queries
}

// TestPayloadsInWaitingAreBounded: eight megabytes of queries may wait on one
// connection; one more is refused with the sentinel, nobody else notices, and
// room comes back with the answers.
func TestPayloadsInWaitingAreBounded(t *testing.T) {
	var letGo chan struct{} // made in the bubble
	inFakeTime(t, slowHost(&letGo), func(t *testing.T, s *Server, p *wstest.Peer) {
		letGo = make(chan struct{})
		queries := fill(t, p)
		exchange(t, p, askFrame(t, 100), sentinel(100))
		exchange(t, p, pingFrame(7), pingFrame(7)) // the connection lives

		other, _ := wstest.Pipe(s, wstest.UpgradeRequest("x", "/"))
		exchange(t, other, askFrame(t, 1), done(1))
		_ = other.Close()

		close(letGo)
		ended := map[uint64]bool{}
		for range queries {
			got, err := p.Receive()
			if err != nil {
				t.Fatal(err)
			}
			h, err := framing.ParseHeader(got)
			if err != nil || !bytes.Equal(got, done(h.RequestID)) || ended[h.RequestID] {
				t.Fatalf("got %q (%v), want one answer for each query", got, err)
			}
			ended[h.RequestID] = true
		}
		for id := range queries {
			synctest.Wait() // the workers before have gone
			exchange(t, p, bigAsk(t, id, framing.MaxPayloadSize), done(id))
		}
	})
}

// TestACanceledQueryHoldsItsRoomUntilItsWorkEnds: else a peer that cancels at
// once could have any amount of memory in work.
func TestACanceledQueryHoldsItsRoomUntilItsWorkEnds(t *testing.T) {
	var letGo chan struct{} // made in the bubble
	inFakeTime(t, slowHost(&letGo), func(t *testing.T, s *Server, p *wstest.Peer) {
		letGo = make(chan struct{})
		for id := range fill(t, p) {
			cancel := framing.AppendHeader(nil, framing.Header{Type: framing.Cancel, Flags: framing.Final, RequestID: id})
			if err := p.Send(cancel); err != nil {
				t.Fatal(err)
			}
		}
		exchange(t, p, askFrame(t, 100), sentinel(100))
		close(letGo)
		synctest.Wait()
		exchange(t, p, askFrame(t, 101), done(101))
	})
}

// TestBadQueriesDoNotFloodTheLog: the 1st, 10th, 100th … alone are warnings.
func TestBadQueriesDoNotFloodTheLog(t *testing.T) {
	const queries = 10_000
	bad, err := framing.AppendFrame(nil, framing.SearchQueryMsg, framing.Final, 1, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	log := inFakeTime(t, openHost{}, func(t *testing.T, s *Server, p *wstest.Peer) {
		var sending sync.WaitGroup
		sending.Go(func() {
			for range queries {
				if err := p.Send(bad); err != nil {
					t.Error(err)
					return
				}
			}
		})
		for range queries {
			receive(t, p, sentinel(1))
		}
		sending.Wait()
	})
	if got := strings.Count(log, "level=WARN"); got != 5 {
		t.Errorf("%d warnings about %d bad queries, want 5", got, queries)
	}
	if !strings.Contains(log, "refused=10000") {
		t.Errorf("the closing line does not count them:\n%s", log)
	}
}
