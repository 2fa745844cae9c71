package localmodel

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/ports"
)

// slowModel is a generator in a synctest bubble whose model runs script over a
// pipe, so that its pauses cost no time.
func slowModel(t *testing.T, script func(w io.ReadWriter)) *Generator {
	t.Helper()
	var stubs sync.WaitGroup
	t.Cleanup(stubs.Wait)
	return newGenerator(t, Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		stubs.Go(func() {
			defer server.Close()
			req, err := http.ReadRequest(bufio.NewReader(server))
			if err != nil {
				return
			}
			drain(req)
			script(server)
		})
		return client, nil
	}})
}

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// steps writes each text after a pause, then is silent.
func steps(texts []string, pause time.Duration) func(io.ReadWriter) {
	return func(w io.ReadWriter) {
		for _, text := range texts {
			time.Sleep(pause)
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, w) // until the client hangs up
	}
}

func TestG12_ModelTimeLimits(t *testing.T) {
	hello := okHead + events(content(`"Hello"`))
	const (
		role    = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
		thought = `{"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}`
		ended   = `{"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}`
	)
	late := func(pause time.Duration, first string, then ...string) func(io.ReadWriter) {
		return func(w io.ReadWriter) {
			if _, err := io.WriteString(w, okHead+strings.TrimPrefix(first, okHead)); err == nil {
				steps(then, pause)(w)
			}
		}
	}
	dots := strings.Split(strings.Repeat(": ping\n", 50), "\n")
	tests := []struct {
		name   string
		script func(io.ReadWriter)
		after  time.Duration
		want   string
		end    error
		cause  error
	}{
		{"no header", steps(nil, 0), 60 * time.Second, "", unavailable, errFirstWord},
		{"header, no body", steps([]string{okHead}, 50*time.Second), 60 * time.Second, "", unavailable, errFirstWord},
		{"first byte in time", steps([]string{okHead, events(content(`"Hello"`)), events("[DONE]")}, 29*time.Second), 87 * time.Second, "Hello", complete, nil},
		{"first byte at 59 s", steps([]string{hello + events("[DONE]")}, 59*time.Second), 59 * time.Second, "Hello", complete, nil},
		{"CR-32 7: silence in the stream", steps([]string{hello}, time.Second), 31 * time.Second, "Hello", interrupted, errIdle},
		{"a comment is no word", steps([]string{okHead + ": x\n"}, time.Second), 60 * time.Second, "", unavailable, errFirstWord},
		{"pings are no word", steps(append([]string{okHead}, dots...), 5*time.Second), 60 * time.Second, "", unavailable, errFirstWord},
		{"a role at once, the word at 59 s", late(59*time.Second, events(role, content(`""`)), events(content(`"Hello"`), "[DONE]")), 59 * time.Second, "Hello", complete, nil},
		{"white space, the word at 59 s", late(59*time.Second, events(content(`"\n"`)), events(content(`"Hello"`), "[DONE]")), 59 * time.Second, "\nHello", complete, nil},
		{"a role, and no word", late(61*time.Second, events(role), events(content(`"Hello"`), "[DONE]")), 60 * time.Second, "", unavailable, errFirstWord},
		{"reasoning is words", late(29*time.Second, events(thought), events(thought), events(thought), events(content(`"Hello"`), "[DONE]")), 87 * time.Second, "Hello", complete, nil},
		{"inline reasoning is words", late(29*time.Second, events(content(`"<think>a"`)), events(content(`"b"`)), events(content(`"c</think>Hello"`), "[DONE]")), 58 * time.Second, "Hello", complete, nil},
		{"silence after reasoning", late(31*time.Second, events(thought), events(thought)), 30 * time.Second, "", unavailable, errIdle},
		{"silence after an end reason", late(0, hello, events(finish("stop"))), 2 * time.Second, "Hello", complete, nil},
		{"silence after an end reason beside text", late(0, events(ended)), 30 * time.Second, "Hello", interrupted, errIdle},
		{"text after an end reason beside text", late(20*time.Second, events(ended), events(content(`" you"`), "[DONE]")), 20 * time.Second, "Hello you", complete, nil},
		{"silence in a line", steps([]string{hello, "data: "}, 10*time.Second), 50 * time.Second, "Hello", interrupted, errIdle},
		{"never silent, never done", steps(append([]string{hello}, dots...), 5*time.Second), 120 * time.Second, "Hello", interrupted, errTotal},
		{"silence in a refusal", steps([]string{"HTTP/1.1 500 Oops\r\n\r\n{"}, time.Second), 31 * time.Second, "", unavailable, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := slowModel(t, tt.script)
				begin := time.Now()
				err := checkAnswer(t, g, tt.want, tt.end)
				if after := time.Since(begin); after != tt.after {
					t.Errorf("ended after %v; want %v", after, tt.after)
				}
				if tt.cause != nil && !errors.Is(err, tt.cause) {
					t.Errorf("%v does not name %v", err, tt.cause)
				}
			})
		})
	}
}

// A reader of the answer who is slow does not make the model silent.
func TestG12_SlowEmitIsNotSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := slowModel(t, func(w io.ReadWriter) {
			_, _ = io.WriteString(w, okHead+events(content(`"a"`)))
			_, _ = io.WriteString(w, events(content(`"b"`), "[DONE]"))
		})
		text := ""
		err := g.Generate(t.Context(), ports.Prompt{User: "q"}, func(s string) error {
			time.Sleep(45 * time.Second)
			text += s
			return nil
		})
		if text != "ab" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// CR-31: cancel takes no time, whatever the model is doing.
func TestCR31_CancelIsImmediate(t *testing.T) {
	for name, script := range map[string]func(io.ReadWriter){
		"before the headers": steps(nil, 0),
		"before a byte":      steps([]string{okHead}, time.Second),
		"within the stream":  steps([]string{okHead + events(content(`"a"`))}, time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := slowModel(t, script)
				ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
				defer cancel()
				begin := time.Now()
				_, err := ask(t, ctx, g)
				if after := time.Since(begin); after != 7*time.Second || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("ended after %v with %v", after, err)
				}
			})
		})
	}
}
