package nerve_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/ask"
	"plexus/usecases/syncx"
)

// bigQuery has a payload of a good 3 KiB.
func bigQuery(id uint64) []byte {
	return query(id, framing.SearchQuery{Query: "what", Context: framing.PageContext{Extract: strings.Repeat("x", 3<<10)}, MaxResults: 1})
}

// TestG17_AQueryWithoutRoomIsNotRead: beyond the bytes that the process may have in
// flight a connection waits, whatever stands behind its query; all others go on, and so
// does it once there is room.
func TestG17_AQueryWithoutRoomIsNotRead(t *testing.T) {
	release := make(chan struct{})
	s := setup{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		_ = sink.Token(ctx, "", true)
	}}
	s.config.Payloads = syncx.NewBudget(8 << 10) // one origin may have half
	onBoth(t, s, func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
		release = make(chan struct{})
		first, second, third := dial(t), dial(t), dial(t)
		send(t, first, bigQuery(1), ping(2))
		expectEcho(t, first, 2) // the query is in flight
		send(t, second, bigQuery(3), ping(4))
		send(t, third, ping(5))
		expectEcho(t, third, 5)
		if err := second.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if raw, err := second.Receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("without room it was read: %q, %v", raw, err)
		}
		prepare(t, second)
		close(release)
		if g := receive(t, first); g.RequestID != 1 {
			t.Errorf("the first got frame %d", g.RequestID)
		}
		seen := map[uint64]bool{}
		for range 2 {
			seen[receive(t, second).RequestID] = true
		}
		if !seen[3] || !seen[4] {
			t.Errorf("the second got %v", seen)
		}
	})
}
