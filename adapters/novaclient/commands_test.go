package novaclient

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/nova"
)

// do runs f beside the test.
func do(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

func TestCommands_HaveUpperCaseUUIDs(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$`)
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(IOS)
		seen := map[string]bool{}
		for range 20 {
			if err := c.Onset(); err != nil {
				t.Fatal(err)
			}
			id := l.hear("speech.onset").id
			if !uuid.MatchString(id) || seen[id] {
				t.Errorf("a command is called %q", id)
			}
			seen[id] = true
		}
		finish(c, l)
	})
}

func TestText_OfTheOldApp(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*link, heard)
		want   error
		took   time.Duration
	}{
		"applied":  {func(l *link, h heard) { l.receipt(h, nova.Applied) }, nil, 0},
		"rejected": {func(l *link, h heard) { l.receipt(h, nova.Rejected) }, ErrNotApplied, 0},
		"stale":    {func(l *link, h heard) { l.receipt(h, nova.Stale) }, ErrNotApplied, 0},
		"another's receipt": {func(l *link, h heard) {
			h.id = "other"
			l.receipt(h, nova.Applied)
		}, ErrNoReceipt, receiptWithin},
		"none": {func(*link, heard) {}, ErrNoReceipt, receiptWithin},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(IOS, desktop)
			begun := time.Now()
			sent := do(func() error { return conn.Text(t.Context(), "\ufeff  hello \n", "") })
			command := l.hear("input.text")
			if len(command.payload) != 2 || text(command.payload["text"]) != "hello" {
				t.Errorf("the client sent %s", command.payload)
			}
			c.answer(l, command)
			if err := <-sent; !errors.Is(err, c.want) || time.Since(begun) != c.took {
				t.Errorf("%s: got %v after %v, want %v", name, err, time.Since(begun), c.want)
			}
			finish(conn, l)
		})
	}
}

func TestText_OfTheNewAppWaitsForItsOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		result string // what input.text_result says beside the id
		want   nova.TextError
	}{
		"ok":              {`"ok":true`, ""},
		"failed":          {`"ok":false,"error":"submission_failed"`, nova.SubmissionFailed},
		"unknown outcome": {`"ok":false,"error":"outcome_unknown"`, nova.OutcomeUnknown},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(Flutter, desktop)
			sent := do(func() error { return conn.Text(t.Context(), "hello", "k") })
			command := l.hear("input.text")
			inner := text(command.payload["request_id"])
			if text(command.payload["input_instance_id"]) != inputID || inner == "" || inner == command.id || text(command.payload["conversation_id"]) != "k" {
				t.Errorf("the client sent %s", command.payload)
			}
			l.receipt(command, nova.Applied)
			l.say(`{"type":"input.text_result","request_id":"` + command.id + `","ok":true}`) // of nobody
			l.silent("the receipt alone is no outcome")
			select {
			case err := <-sent:
				t.Errorf("%s: it ended with %v before its outcome", name, err)
			default:
			}
			l.say(`{"type":"input.text_result","request_id":"` + inner + `",` + c.result + `}`)
			err := <-sent
			var refused *TextRefused
			if errors.As(err, &refused) != (c.want != "") || refused != nil && refused.Reason != c.want || refused == nil && err != nil {
				t.Errorf("%s: got %v", name, err)
			}
			finish(conn, l)
		})
	}
}

func TestText_ALostOutcomeIsAskedForAgain(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter, desktop)
		words, err := c.NewText(" hello ", "k")
		if err != nil || words.Text != "hello" || words.InputInstanceID != inputID || words.ConversationID != "k" {
			t.Fatalf("got %+v, %v", words, err)
		}
		sent := do(func() error { return c.SubmitText(t.Context(), words) })
		first := l.hear("input.text")
		l.receipt(first, nova.Applied)
		l.close(1001)
		var end *End
		if err := <-sent; !errors.As(err, &end) || end.Code != 1001 {
			t.Errorf("when the connection ended: %v", err)
		}
		c, l = h.connect(Flutter, desktop)
		sent = do(func() error { return c.SubmitText(t.Context(), words) })
		again := l.hear("input.text")
		if again.id == first.id || !maps.EqualFunc(again.payload, first.payload, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Errorf("first it sent %s in %q, then %s in %q", first.payload, first.id, again.payload, again.id)
		}
		l.receipt(again, nova.Applied)
		l.say(`{"type":"input.text_result","request_id":"` + words.RequestID + `","ok":true}`)
		if err := <-sent; err != nil {
			t.Error(err)
		}
		finish(c, l)
	})
}

func TestAwait_AnAnswerThatCameCounts(t *testing.T) {
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	over := &Conn{over: make(chan struct{}), end: &End{Err: ErrClosed}}
	close(over.over)
	for range 100 { // whichever of the ready cases is taken
		answer := make(chan nova.Status, 1)
		answer <- nova.Applied
		if status, err := await(given, over, answer); status != nova.Applied || err != nil {
			t.Fatalf("got %q, %v", status, err)
		}
	}
	if _, err := await(given, &Conn{over: make(chan struct{})}, make(chan nova.Status)); !errors.Is(err, context.Canceled) {
		t.Errorf("without an answer: %v", err)
	}
	var end *End
	if _, err := await(t.Context(), over, make(chan nova.Status)); !errors.As(err, &end) {
		t.Errorf("after the end: %v", err)
	}
}

func TestText_BoundsAndAbsence(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		for _, bad := range []string{"", " \ufeff\n", strings.Repeat("x", 4001), strings.Repeat("𝄞", 2001)} {
			if err := c.Text(t.Context(), bad, ""); !errors.Is(err, ErrText) {
				t.Errorf("%.5q gave %v", bad, err)
			}
		}
		if err := c.Text(t.Context(), "hello", ""); !errors.Is(err, ErrNoTextInput) || c.ShowsText() {
			t.Errorf("without desktop.capabilities: %v", err)
		}
		l.say(desktop)
		synctest.Wait()
		if !c.ShowsText() {
			t.Error("with them the text box is not shown")
		}
		sent := do(func() error { return c.Text(t.Context(), strings.Repeat("𝄞", 2000), "") })
		l.hear("input.text")
		l.close(4008)
		var end *End
		if err := <-sent; !errors.As(err, &end) || end.Code != 4008 {
			t.Errorf("when the connection ended: %v", err)
		}
		if err := c.Text(t.Context(), "hello", ""); err == nil {
			t.Error("a text was taken afterwards")
		}
		c.Close()
	})
}

func TestClockPings_AreAnswered(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(IOS)
		timer := time.NewTimer(1500 * time.Millisecond)
		<-timer.C
		l.say(`{"type":"clock.ping","ping_id":"ping-0"}`)
		pong := l.hear("clock.pong")
		if text(pong.payload["ping_id"]) != "ping-0" || string(pong.payload["t_render_ms"]) != "1500" {
			t.Errorf("the answer is %s", pong.payload)
		}
		finish(c, l)
	})
}

// TestUplink_TheQueueIsBounded fills it while the host reads nothing. One
// message more is under way.
func TestUplink_TheQueueIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ size, fit int }{"bytes": {32 << 10, 4}, "messages": {2, maxQueuedMessages}} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(Flutter)
			for n := range c.fit {
				if err := conn.Audio(make([]byte, c.size)); err != nil {
					t.Fatalf("%s: message %d was refused: %v", name, n+1, err)
				}
			}
			if err := conn.Audio(make([]byte, 2)); !errors.Is(err, ErrUplinkFull) {
				t.Errorf("%s: one more gave %v", name, err)
			}
			if end := conn.Wait(); !errors.Is(end, ErrUplinkFull) || end.Terminal() {
				t.Errorf("%s: the connection ended with %v", name, end)
			}
			_ = l.ws.CloseNow()
		})
	}
}

func TestUplink_AMessageThatIsNotTakenInTime(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		begun := time.Now()
		if err := c.Audio(make([]byte, nova.MaxPCM)); err != nil {
			t.Fatal(err)
		}
		if end := c.Wait(); !errors.Is(end, ErrSendTimeout) || time.Since(begun) != sendWithin {
			t.Errorf("after %v: %v", time.Since(begun), end)
		}
		_ = l.ws.CloseNow()
	})
}

func TestVoice(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		started := do(func() error { return c.StartVoice(t.Context(), "k") })
		command := l.hear("input.audio")
		if text(command.payload["conversation_id"]) != "k" {
			t.Errorf("the client sent %s", command.payload)
		}
		l.receipt(command, nova.Applied)
		if err := <-started; err != nil {
			t.Error(err)
		}
		for _, bad := range []int{0, 1, 3, nova.MaxPCM + 2} {
			if err := c.Audio(make([]byte, bad)); err == nil {
				t.Errorf("%d bytes were sent", bad)
			}
		}
		if err := c.Audio([]byte{1, 2}); err != nil {
			t.Error(err)
		}
		if h := l.hear("PCM"); string(h.binary) != "\x01\x02" {
			t.Errorf("the host got %v", h.binary)
		}
		finish(c, l)
	})
}

func TestDictation(t *testing.T) {
	for name, c := range map[string]struct {
		start  nova.Status
		result string // of input.transcription; "" is none
		want   string
		err    error
	}{
		"recognised":     {nova.Applied, `"text":"hello"`, "hello", nil},
		"not recognised": {nova.Applied, `"error":"recognition_failed"`, "", ErrNotRecognized},
		"no answer":      {nova.Applied, "", "", ErrNotRecognized},
		"not accepted":   {nova.Rejected, "", "", ErrNotApplied},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(IOS, desktop)
			var got string
			said := do(func() (err error) {
				got, err = conn.Dictate(t.Context(), "", func(yield func([]byte) bool) { yield(make([]byte, 640)) })
				return err
			})
			start := l.hear("input.dictation")
			l.hear("PCM") // it does not wait for the receipt
			l.receipt(start, c.start)
			id := text(start.payload["id"])
			if c.start == nova.Applied {
				l.receipt(l.hear("input.dictation"), nova.Applied)
				if c.result != "" {
					l.say(`{"type":"input.transcription","id":"` + id + `",` + c.result + `}`)
				}
			}
			cancel := l.hear("input.dictation")
			if text(cancel.payload["action"]) != "cancel" || text(cancel.payload["id"]) != id {
				t.Errorf("%s: in the end the client sent %s", name, cancel.payload)
			}
			l.receipt(cancel, nova.Applied)
			if err := <-said; !errors.Is(err, c.err) || got != c.want {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			finish(conn, l)
		})
	}
}

func TestDictation_StopsWhenItMayNotBegin(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter, desktop)
		pieces := 0
		said := do(func() error {
			_, err := c.Dictate(t.Context(), "k", func(yield func([]byte) bool) {
				pace := time.NewTicker(20 * time.Millisecond)
				defer pace.Stop()
				for pieces < 100 && yield(make([]byte, 640)) {
					pieces++
					<-pace.C
				}
			})
			return err
		})
		start := l.hear("input.dictation")
		l.hear("PCM")
		l.receipt(start, nova.Rejected)
		var last heard
		for last = l.next(); last.kind == "PCM"; {
			last = l.next()
		}
		if last.kind != "input.dictation" || text(last.payload["action"]) != "cancel" || pieces > 2 {
			t.Errorf("after %d pieces the client sent %q %s", pieces, last.kind, last.payload)
		}
		l.receipt(last, nova.Applied)
		if err := <-said; !errors.Is(err, ErrNotApplied) {
			t.Errorf("got %v", err)
		}
		finish(c, l)
	})
}

func TestClose_SaysGoodbyeAndDoesNotWaitLong(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		go c.Close()
		var last heard
		for last.err == nil {
			last = l.next()
		}
		if !strings.Contains(last.err.Error(), "StatusNormalClosure") {
			t.Errorf("the host saw %v", last.err)
		}
		c.Wait()
		c, l = h.connect(Flutter)
		begun := time.Now()
		c.Close() // and the host reads nothing
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if end := c.Wait(); !errors.Is(end, ErrClosed) || !end.Terminal() {
			t.Errorf("it ended with %v", end)
		}
		_ = l.ws.CloseNow()
	})
}
