package nerveclient

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" // the protocol asks for it
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/framing"
)

// host is the other end of a stream, played by the test.
type host struct {
	t *testing.T
	net.Conn
}

func (h host) read() (framing.Header, []byte) {
	h.t.Helper()
	b := make([]byte, framing.HeaderSize)
	if _, err := io.ReadFull(h, b); err != nil {
		h.t.Errorf("the host reads: %v", err)
		return framing.Header{}, nil
	}
	header, err := framing.ParseHeader(b)
	if err != nil {
		h.t.Errorf("the host reads: %v", err)
		return framing.Header{}, nil
	}
	payload := make([]byte, header.PayloadLength)
	if _, err := io.ReadFull(h, payload); err != nil {
		h.t.Errorf("the host reads: %v", err)
	}
	return header, payload
}

func (h host) write(b []byte) {
	h.t.Helper()
	if _, err := h.Write(b); err != nil {
		h.t.Errorf("the host writes: %v", err)
	}
}

func token(id uint64, text string, final bool) []byte {
	return framing.AppendAiToken(nil, id, text, final)
}

func question(text string) framing.SearchQuery {
	return framing.SearchQuery{Query: text, MaxResults: 1}
}

// inFakeTime runs f with a client on a stream.
func inFakeTime(t *testing.T, f func(t *testing.T, c *Client, h host)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := newClient(&streamLink{conn: ours, reader: bufio.NewReader(ours)})
		f(t, c, host{t, theirs})
		_ = theirs.Close()
		_ = c.Close()
		synctest.Wait()
	})
}

// asking runs one Ask beside the test.
type asking struct {
	tokens []string
	finals int
	result chan error
}

func ask(ctx context.Context, c *Client, text string) *asking {
	a := &asking{result: make(chan error, 1)}
	go func() {
		a.result <- c.Ask(ctx, question(text), Receiver{Token: func(text string, final bool) {
			a.tokens = append(a.tokens, text)
			if final {
				a.finals++
			}
		}})
	}()
	return a
}

func (a *asking) expect(t *testing.T, want error, tokens ...string) {
	t.Helper()
	if err := <-a.result; !errors.Is(err, want) {
		t.Errorf("Ask gave %v, want %v", err, want)
	}
	if strings.Join(a.tokens, "|") != strings.Join(tokens, "|") {
		t.Errorf("got tokens %q, want %q", a.tokens, tokens)
	}
}

func TestAsk_GetsItsAnswerAndIgnoresStrangers(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		var found framing.SearchResult
		result := make(chan error, 1)
		var text strings.Builder
		go func() {
			result <- c.Ask(t.Context(), question("what"), Receiver{
				Results: func(r framing.SearchResult) { found = r },
				Token:   func(t string, _ bool) { text.WriteString(t) },
			})
		}()
		head, payload := h.read()
		q, err := framing.DecodeSearchQuery(payload)
		if err != nil || head.Type != framing.SearchQueryMsg || q.Query != "what" {
			t.Fatalf("the host got %v with %q (%v)", head.Type, payload, err)
		}
		h.write(token(99, "of nobody", true))
		results, _ := framing.AppendSearchResult(nil, head.RequestID, framing.SearchResult{Results: []framing.Result{{URL: "https://a.test/"}}})
		h.write(results)
		h.write(framing.AppendHeader(nil, framing.Header{Type: framing.AgentTaskDone, RequestID: head.RequestID})) // no part of an answer
		h.write(token(head.RequestID, "so", false))
		h.write(token(0, "of nobody", true))
		h.write(token(head.RequestID, "!", true))
		h.write(token(head.RequestID, "too late", false))
		if err := <-result; err != nil || text.String() != "so!" || len(found.Results) != 1 {
			t.Errorf("got %q and %d results (%v)", text.String(), len(found.Results), err)
		}
	})
}

func TestAsk_Concurrently(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		const asks = 50
		all := make(map[string]*asking)
		for n := range asks {
			text := fmt.Sprint("question ", n)
			all[text] = ask(t.Context(), c, text)
		}
		var answers [][]byte
		for range asks {
			head, payload := h.read()
			q, err := framing.DecodeSearchQuery(payload)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, token(head.RequestID, q.Query, true))
		}
		rand.Shuffle(asks, func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
		h.write(bytes.Join(answers, nil))
		for text, a := range all {
			a.expect(t, nil, text)
		}
		if len(c.waiting) != 0 {
			t.Errorf("%d are still waited for", len(c.waiting))
		}
	})
}

func TestAsk_CanceledTellsTheHost(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		ctx, cancel := context.WithCancel(t.Context())
		a := ask(ctx, c, "what")
		asked, _ := h.read()
		h.write(token(asked.RequestID, "so", false))
		synctest.Wait()
		cancel()
		head, payload := h.read()
		if head.Type != framing.Cancel || head.RequestID != asked.RequestID || len(payload) != 0 {
			t.Errorf("the host got %v of %d, want Cancel of %d", head.Type, head.RequestID, asked.RequestID)
		}
		a.expect(t, context.Canceled, "so")
		for range 100 { // what is under way for it blocks nobody
			h.write(token(asked.RequestID, "late", false))
		}
		next := ask(t.Context(), c, "more")
		head, _ = h.read()
		if head.RequestID == asked.RequestID {
			t.Error("an ID was used twice")
		}
		h.write(token(head.RequestID, "yes", true))
		next.expect(t, nil, "yes")
	})
}

// TestAsk_CanceledWithMuchUnderWay: what nobody takes any more must not stop
// the frames of others.
func TestAsk_CanceledWithMuchUnderWay(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		ctx, cancel := context.WithCancel(t.Context())
		goOn := make(chan struct{})
		result := make(chan error, 1)
		go func() {
			result <- c.Ask(ctx, question("what"), Receiver{Token: func(string, bool) { <-goOn }})
		}()
		asked, _ := h.read()
		var peer sync.WaitGroup
		peer.Go(func() {
			for range 1000 {
				h.write(token(asked.RequestID, "more", false))
			}
		})
		synctest.Wait() // nothing more fits between host and Receiver
		cancel()
		go h.read() // the Cancel
		close(goOn)
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("Ask gave %v", err)
		}
		peer.Wait()
		next := ask(t.Context(), c, "more")
		head, _ := h.read()
		h.write(token(head.RequestID, "yes", true))
		next.expect(t, nil, "yes")
	})
}

func TestPing(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		go func() {
			head, payload := h.read()
			h.write(append(framing.AppendHeader(nil, head), payload...))
		}()
		if err := c.Ping(t.Context(), []byte("hello")); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go h.read() // and no echo
		if err := c.Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a Ping without an echo gave %v", err)
		}
	})
}

// TestBrokenFramesEndTheConnection: everybody who waits is told why, and whoever
// comes later as well.
func TestBrokenFramesEndTheConnection(t *testing.T) {
	whole := token(1, "text", false)
	badMagic := append([]byte("HTTP"), whole[4:]...)
	for _, tc := range []struct {
		name string
		sent []byte
		want error
	}{
		{"wrong magic", badMagic, &framing.FrameError{Kind: framing.InvalidMagic}},
		{"cut inside a header", whole[:10], io.ErrUnexpectedEOF},
		{"cut inside a payload", whole[:len(whole)-1], io.ErrUnexpectedEOF},
		{"cut before a payload", whole[:framing.HeaderSize], ErrClosed},
		{"cut between frames", nil, ErrClosed},
	} {
		inFakeTime(t, func(t *testing.T, c *Client, h host) {
			first, second := ask(t.Context(), c, "one"), ask(t.Context(), c, "two")
			h.read()
			h.read()
			h.write(tc.sent)
			_ = h.Close()
			synctest.Wait()
			for _, a := range []*asking{first, second, ask(t.Context(), c, "three")} {
				err := <-a.result
				if !errors.Is(err, ErrClosed) || !errors.Is(err, tc.want) {
					t.Errorf("%s: got %v, want it to be %v", tc.name, err, tc.want)
				}
			}
			if err := c.Ping(t.Context(), nil); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: a Ping afterwards gave %v", tc.name, err)
			}
		})
	}
}

func TestAnUnreadableAnswerFailsItsQuestionOnly(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		for _, typ := range []framing.MessageType{framing.AiTokenMsg, framing.SearchResultMsg} {
			a := ask(t.Context(), c, "what")
			head, _ := h.read()
			b, err := framing.AppendFrame(nil, typ, framing.Final, head.RequestID, []byte("no JSON"))
			if err != nil {
				t.Fatal(err)
			}
			h.write(b)
			if err := <-a.result; err == nil || errors.Is(err, ErrClosed) {
				t.Errorf("%v: got %v, want an error of this answer alone", typ, err)
			}
		}
		a := ask(t.Context(), c, "what")
		head, _ := h.read()
		h.write(token(head.RequestID, "fine", true))
		a.expect(t, nil, "fine")
	})
}

func TestAQueryThatIsTooLongIsNotSent(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		err := c.Ask(t.Context(), question(strings.Repeat("x", framing.MaxPayloadSize)), Receiver{})
		if !errors.Is(err, &framing.FrameError{Kind: framing.PayloadTooLarge}) {
			t.Errorf("got %v", err)
		}
		a := ask(t.Context(), c, "what")
		head, _ := h.read()
		h.write(token(head.RequestID, "fine", true))
		a.expect(t, nil, "fine")
	})
}

// TestClose_WhileAReceiverIsSlow: Close must not wait for a Receiver that does
// not come back.
func TestClose_WhileAReceiverIsSlow(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		goOn := make(chan struct{})
		result := make(chan error, 1)
		go func() {
			result <- c.Ask(t.Context(), question("what"), Receiver{Token: func(string, bool) { <-goOn }})
		}()
		head, _ := h.read()
		var peer sync.WaitGroup
		peer.Go(func() {
			for {
				if _, err := h.Write(token(head.RequestID, "more", false)); err != nil {
					return
				}
			}
		})
		synctest.Wait() // nothing more fits between host and Receiver
		closed := make(chan struct{})
		go func() { _ = c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
		default:
			t.Error("Close waits for the Receiver")
		}
		close(goOn)
		if err := <-result; !errors.Is(err, ErrClosed) {
			t.Errorf("Ask gave %v", err)
		}
		<-closed
		peer.Wait()
	})
}

func TestClose_EndsEveryCall(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		a := ask(t.Context(), c, "what")
		h.read()
		var closing sync.WaitGroup
		for range 3 {
			closing.Go(func() { _ = c.Close() })
		}
		closing.Wait()
		a.expect(t, ErrClosed)
	})
}

// TestWrite_EndsWhenTheHostTakesNothing: after ten seconds, and with it the
// connection, since half a frame may have gone out.
func TestWrite_EndsWhenTheHostTakesNothing(t *testing.T) {
	inFakeTime(t, func(t *testing.T, c *Client, h host) {
		expectWriteLimit(t, c)
	})
	synctest.Test(t, func(t *testing.T) {
		c := overWebSocket(t)
		expectWriteLimit(t, c)
		_ = c.Close()
	})
}

func expectWriteLimit(t *testing.T, c *Client) {
	t.Helper()
	start := time.Now()
	err := c.Ask(t.Context(), question("what"), Receiver{})
	timedOut := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	if took := time.Since(start); !timedOut || took != writeLimit {
		t.Errorf("Ask gave %v after %v, want the limit after %v", err, took, writeLimit)
	}
	start = time.Now()
	synctest.Wait()
	if err := c.Ping(t.Context(), nil); !errors.Is(err, ErrClosed) || time.Since(start) != 0 {
		t.Errorf("afterwards a Ping gave %v after %v, want %v at once", err, time.Since(start), ErrClosed)
	}
}

// overWebSocket gives a client whose host has answered the upgrade and takes
// nothing more.
func overWebSocket(t *testing.T) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		r, err := http.ReadRequest(bufio.NewReader(theirs))
		if err != nil {
			t.Errorf("the host reads the upgrade: %v", err)
			return
		}
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		_, _ = fmt.Fprintf(theirs, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
			base64.StdEncoding.EncodeToString(sum[:]))
	}()
	dial := func(context.Context, string, string) (net.Conn, error) { return ours, nil }
	ws, _, err := websocket.Dial(t.Context(), "ws://host.test/", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return newClient(&socketLink{ws: ws})
}
