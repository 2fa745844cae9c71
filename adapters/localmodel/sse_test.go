package localmodel

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"plexus/domain/answers"
)

// readAll gives the data of all events, a failed one with a ! before it.
func readAll(r io.Reader) (got []string, err error) {
	events := &eventReader{in: bufio.NewReaderSize(r, 16)}
	for {
		ev, err := events.next()
		if err != nil {
			return got, err
		}
		mark := ""
		if ev.failed {
			mark = "!"
		}
		got = append(got, mark+string(ev.data))
	}
}

func TestEventReader(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []string{"a"}},
		{"no blank after the colon", "data:a\n\n", []string{"a"}},
		{"only one blank is taken", "data:  a\n\n", []string{" a"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
		{"CRLF within an event", "data: a\r\ndata: b\r\n\r\n", []string{"a\nb"}},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r", []string{"a", "b"}},
		{"comments", ": ping\n\n:\ndata: a\n: ping\n\n", []string{"a"}},
		{"data lines are joined", "data: a\ndata\ndata: b\n\n", []string{"a\n\nb"}},
		{"other fields", "id: 7\nretry: 10\nevent: message\ndata: a\nfoo\n\n", []string{"a"}},
		{"no final line end", "data: a\n\ndata: b", []string{"a", "b"}},
		{"no final empty line", "data: a\n\ndata: b\n", []string{"a", "b"}},
		{"many empty lines", "\n\n\ndata: a\n\n\n\n", []string{"a"}},
		{"mark at the begin", "\ufeffdata: a\n\n", []string{"a"}},
		{"error event", "event: error\ndata: a\n\ndata: b\n\n", []string{"!a", "b"}},
		{"error event without data is no more", "event: error\n\ndata: b\n\n", []string{"b"}},
		{"error field", "error: a\n\n", []string{"!a"}},
		{"long line", "data: " + long + "\n\n", []string{long}},
		{"empty data", "data:\n\n", []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in)), iotest.DataErrReader(strings.NewReader(tt.in))} {
				got, err := readAll(r)
				if !errors.Is(err, io.EOF) || !slices.Equal(got, tt.want) {
					t.Errorf("got %.80q, %v; want %.80q", got, err, tt.want)
				}
			}
		})
	}
}

func TestEventReader_Bounds(t *testing.T) {
	fits := "data:" + strings.Repeat("x", MaxEvent-len("data:")) + "\n\n"
	if got, err := readAll(strings.NewReader(fits)); len(got) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("a line of exactly MaxEvent: %d events, %v", len(got), err)
	}
	half := "data: " + strings.Repeat("x", MaxEvent/2) + "\n"
	for name, in := range map[string]io.Reader{
		"line":         strings.NewReader("data:" + fits),
		"endless line": endless("x"),
		"joined lines": strings.NewReader(half + half + "\n"),
		"data lines":   endless("data: x\n"),
	} {
		if got, err := readAll(in); len(got) != 0 || !errors.Is(err, errEventTooLong) {
			t.Errorf("%s: %d events, %v; want the limit's error", name, len(got), err)
		}
	}
}

// A line that a fault cuts is no event: only an orderly end makes it one.
func TestEventReader_CutLine(t *testing.T) {
	reset := errors.New("reset")
	in := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(reset))
	got, err := readAll(in)
	if !errors.Is(err, reset) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// endless repeats text for ever.
func endless(text string) io.Reader { return &repeat{text: text} }

type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

// FuzzSSE: however the bytes are cut, the same events come out, and the answer
// made of them is valid UTF-8 or none.
func FuzzSSE(f *testing.F) {
	for _, seed := range []string{
		"data: a\r\n\r\n: c\ndata:b\ndata: c\n\n",
		"\ufeffevent: error\rdata: {\"error\":{\"code\":\"x\"}}\r\r",
		"data: " + content(`"\ud83c"`) + "\n\ndata: " + content(`"\udf0d\u0000\n"`) + "\n\ndata: [DONE]",
		"data: " + content("\"\xe4\xbd\"") + "\n\ndata: " + content("\"\xa0\xed\xa0\x80\"") + "\n\n",
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"stop"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, errWhole := readAll(bytes.NewReader(in))
		cut, errCut := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if !slices.Equal(whole, cut) || !errors.Is(errCut, errWhole) {
			t.Fatalf("whole %q, %v; cut %q, %v", whole, errWhole, cut, errCut)
		}
		var texts [2]string
		for i, r := range []io.Reader{bytes.NewReader(in), iotest.OneByteReader(bytes.NewReader(in))} {
			ctx, watch := startWatchdog(t.Context(), Limits{FirstWord: time.Minute, Idle: time.Minute, Total: time.Minute})
			defer watch.stop()
			a := &answer{watch: watch, emit: func(text string) error {
				if text == "" || !bytes.Equal([]byte(text), bytes.ToValidUTF8([]byte(text), nil)) {
					t.Fatalf("piece %q is empty or no UTF-8", text)
				}
				texts[i] += text
				return nil
			}}
			if err := a.read(ctx, r); err == nil && answers.Spoken(texts[i]) == "" {
				t.Fatal("a complete answer without text")
			}
		}
		if answers.Spoken(texts[0]) != answers.Spoken(texts[1]) { // what is here together is judged together
			t.Fatalf("whole %q, cut %q", texts[0], texts[1])
		}
	})
}
