package localmodel

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestHostileReplies(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(z, events(content(`"Hello"`), "[DONE]")); err != nil || z.Close() != nil {
		t.Fatal("cannot compress")
	}
	tests := []struct {
		name   string
		script func(r reply, req *http.Request)
		end    error
		cause  error
	}{
		{"a page", func(r reply, _ *http.Request) { r.write("<!doctype html><p>secret</p>\n") }, unavailable, errNoEnd},
		{"bytes", func(r reply, _ *http.Request) { r.write("\x00\xff\xfe\r\xed\xa0\x80:\n\n\x1b[2J") }, unavailable, errNoEnd},
		{"gzip said", func(r reply, _ *http.Request) {
			r.w.Header().Set("Content-Encoding", "gzip")
			r.write(zipped.String())
		}, unavailable, errEncoding},
		{"gzip not said", func(r reply, _ *http.Request) { r.write(zipped.String()) }, unavailable, errNoEnd},
		{"endless line", pour("x"), unavailable, errEventTooLong},
		{"endless data line", func(r reply, req *http.Request) {
			r.write("data: ")
			pour("x")(r, req)
		}, unavailable, errEventTooLong},
		{"endless blanks", pour(" "), unavailable, errReplyTooBig},
		{"endless comments", pour(": ping\n"), unavailable, errReplyTooBig},
		{"endless JSON", func(r reply, req *http.Request) { r.write("{"); pour(" ")(r, req) }, unavailable, errReplyTooBig},
		{"deep JSON", func(r reply, _ *http.Request) { r.events(strings.Repeat("[", 100_000)) }, unavailable, errNotJSON},
		{"wrong kinds", func(r reply, _ *http.Request) { r.events(`{"choices":"Hello"}`) }, unavailable, errNotJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := checkAnswer(t, stubModel(t, tt.script), "", tt.end); !errors.Is(err, tt.cause) {
				t.Errorf("%v does not name %v", err, tt.cause)
			}
		})
	}
}

// pour writes text until the client has had enough.
func pour(text string) func(reply, *http.Request) {
	block := []byte(strings.Repeat(text, 1+(64<<10)/len(text)))
	return func(r reply, _ *http.Request) {
		for {
			if _, err := r.w.Write(block); err != nil {
				return
			}
		}
	}
}

func TestEndlessAnswerIsBounded(t *testing.T) {
	piece := events(content(`"` + strings.Repeat("x", 60<<10) + `"`))
	g := stubModel(t, pour(piece))
	got, err := ask(t, t.Context(), g)
	if len(got) > MaxAnswer || len(got) < MaxAnswer-64<<10 || !errors.Is(err, interrupted) || !errors.Is(err, errReplyTooBig) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// What is not HTTP at all must not end up, as the peer wrote it, in an error.
func TestNotHTTP(t *testing.T) {
	for name, raw := range map[string]string{
		"banner":            "SSH-2.0-secret\r\n",
		"malformed status":  "HTTP/1.1 secret\r\n\r\n",
		"malformed header":  "HTTP/1.1 200 OK\r\nsecret\r\n\r\n",
		"endless header":    "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("secret", 64<<10),
		"malformed length":  "HTTP/1.1 200 OK\r\nContent-Length: secret\r\n\r\n",
		"closed at once":    "",
		"switched protocol": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: secret\r\nConnection: Upgrade\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			checkAnswer(t, rawModel(t, raw, func() bool { return false }), "", unavailable)
		})
	}
}
