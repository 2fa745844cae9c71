package novaclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// keep runs a client; the result waits for its end.
func keep(ctx context.Context, h *host, p Profile) (result chan error) {
	result = make(chan error, 1)
	go func() { result <- New(h.options(p)).Run(ctx) }()
	return result
}

// close ends a connection from the host's side.
func (l *link) close(code websocket.StatusCode) {
	_ = l.ws.Close(code, "")
	_ = l.ws.CloseNow()
}

// gaps are the waits between connections.
type gaps struct {
	last time.Time
	all  []time.Duration
}

func (g *gaps) opened() { g.all = append(g.all, time.Since(g.last)) }
func (g *gaps) ended()  { g.last = time.Now() }

func TestN89_RetriesAfterOneTwoAndFourSecondsThenNone(t *testing.T) {
	for _, code := range []websocket.StatusCode{4008, 1002, 1001, 1011, 4001} {
		inFakeTime(t, func(t *testing.T, h *host) {
			result := keep(t.Context(), h, Flutter)
			var g gaps
			for n := range 4 {
				l := h.greet(ready)
				if n > 0 {
					g.opened()
				}
				synctest.Wait()
				g.ended()
				l.close(code)
			}
			var end *End
			if err := <-result; !errors.As(err, &end) || end.Code != int(code) || end.Terminal() {
				t.Errorf("after the last of them: %v", err)
			}
			want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
			if !slices.Equal(g.all, want) {
				t.Errorf("close %d: it came back after %v, want %v", code, g.all, want)
			}
			expectPhases(t, h, "C R W1s C R W2s C R W4s C R O")
		})
	}
}

func expectPhases(t *testing.T, h *host, want string) {
	t.Helper()
	got := ""
	h.seen.add(func() {
		for _, s := range h.seen.statuses {
			word := map[Phase]string{Connecting: "C", Connected: "R", Over: "O"}[s.Phase]
			if s.Phase == Waiting {
				word = fmt.Sprint("W", s.Retry)
			}
			if (s.End == nil) != (s.Phase == Connecting || s.Phase == Connected) {
				t.Errorf("a %s with the end %v", word, s.End)
			}
			got += " " + word
		}
	})
	if got != " "+want {
		t.Errorf("the phases were%s, want %s", got, want)
	}
}

func TestN89_AHostThatCannotBeReachedIsTriedFourTimes(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		h.status = http.StatusServiceUnavailable
		begun := time.Now()
		var refused *RefusedError
		if err := <-keep(t.Context(), h, IOS); !errors.As(err, &refused) || time.Since(begun) != 7*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

func TestN89_ThirtySecondsRefillTheBudget(t *testing.T) {
	for _, c := range []struct {
		up   time.Duration
		last time.Duration // the fourth wait, or none
	}{{healthyAfter, time.Second}, {healthyAfter - time.Millisecond, 0}} {
		inFakeTime(t, func(t *testing.T, h *host) {
			result := keep(t.Context(), h, Flutter)
			for range 3 {
				h.greet(ready).close(4008)
			}
			l := h.greet(ready)
			synctest.Wait()
			timer := time.NewTimer(c.up)
			<-timer.C
			ended := time.Now()
			l.close(4008)
			if c.last == 0 {
				if err := <-result; err == nil {
					t.Error("there was no budget left, and yet it came back")
				}
				return
			}
			l = h.greet(ready)
			if waited := time.Since(ended); waited != c.last {
				t.Errorf("it came back after %v, want %v", waited, c.last)
			}
			l.close(CodeBusy)
			<-result
		})
	}
}

func TestN89_ReadyAndThenGarbageRefillsNothing(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		result := keep(t.Context(), h, IOS)
		for range 4 {
			l := h.greet(ready, "garbage")
			_ = l.next() // until it drops
			_ = l.ws.CloseNow()
		}
		var fault *Fault
		if err := <-result; !errors.As(err, &fault) {
			t.Errorf("in the end: %v", err)
		}
	})
}

func TestN89_SomeCodesAreFinal(t *testing.T) {
	for _, code := range []int{CodeRejected, CodeIncompatible, CodeBusy} {
		inFakeTime(t, func(t *testing.T, h *host) {
			result := keep(t.Context(), h, Flutter)
			h.greet(ready).close(websocket.StatusCode(code))
			var end *End
			if err := <-result; !errors.As(err, &end) || end.Code != code || !end.Terminal() {
				t.Errorf("close %d gave %v", code, err)
			}
			expectPhases(t, h, "C R O")
		})
	}
}

// TestN89_ACloseCodeWinsOverAParseError: in the first message as in a later one,
// when it comes within a tenth of a second.
func TestN89_ACloseCodeWinsOverAParseError(t *testing.T) {
	for _, code := range []int{CodeRejected, CodeIncompatible, 4008, CodeBusy} {
		for _, said := range [][]string{{"garbage"}, {ready, "garbage"}, {ready, "garbage", "more of it"}} {
			for late, wins := range map[time.Duration]bool{closeWins - time.Millisecond: true, closeWins + time.Millisecond: false} {
				inFakeTime(t, func(t *testing.T, h *host) {
					ctx, stop := context.WithCancel(t.Context())
					result := keep(ctx, h, Flutter)
					l := h.greet(said...)
					timer := time.NewTimer(late)
					<-timer.C
					l.close(websocket.StatusCode(code))
					synctest.Wait()
					end := h.seen.lastEnd()
					if end == nil || (end.Code == code) != wins {
						t.Errorf("%q and after %v the close %d: it ended with %v", said, late, code, end)
					}
					stop()
					<-result
				})
			}
		}
	}
}

// lastEnd is how the last connection ended, as the client told it.
func (l *eventLog) lastEnd() (end *End) {
	l.add(func() { end = l.statuses[len(l.statuses)-1].End })
	return end
}

func TestRun_EndsWithItsContext(t *testing.T) {
	for name, until := range map[string]func(*host){
		"connecting": func(h *host) { <-h.opened },
		"connected":  func(h *host) { go h.greet(ready).next() },
		"waiting":    func(h *host) { h.greet(ready).close(4008) },
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			ctx, stop := context.WithCancel(t.Context())
			result := keep(ctx, h, Flutter)
			until(h)
			synctest.Wait()
			stop()
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}

func TestClient_GivesTheConnectionThereIs(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c := New(h.options(Flutter))
		result := make(chan error, 1)
		go func() { result <- c.Run(t.Context()) }()
		if _, err := c.Conn(); !errors.Is(err, ErrNotConnected) {
			t.Errorf("before: %v", err)
		}
		l := h.greet(ready)
		synctest.Wait()
		conn, err := c.Conn()
		if err != nil {
			t.Fatal(err)
		}
		l.close(CodeBusy)
		<-result
		if _, err := c.Conn(); !errors.Is(err, ErrNotConnected) || conn.Wait().Code != CodeBusy {
			t.Errorf("afterwards: %v", err)
		}
	})
}
