package wsconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/coder/websocket"

	"plexus/adapters/wsconn/wstest"
)

func TestIsUpgrade(t *testing.T) {
	set := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del(name)
			for _, v := range values {
				r.Header.Add(name, v)
			}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*http.Request)
		want   bool
	}{
		{"as it should be", func(*http.Request) {}, true},
		{"keep-alive beside it", set("Connection", "keep-alive, Upgrade"), true},
		{"in a second line", set("Connection", "keep-alive", "upgrade"), true},
		{"any case", set("Upgrade", "WebSocket"), true},
		{"several protocols", set("Upgrade", "h2c, websocket"), true},
		{"HTTP/1.2", func(r *http.Request) { r.ProtoMinor = 2 }, true},
		{"POST", func(r *http.Request) { r.Method = http.MethodPost }, false},
		{"HEAD", func(r *http.Request) { r.Method = http.MethodHead }, false},
		{"HTTP/1.0", func(r *http.Request) { r.ProtoMinor = 0 }, false},
		{"HTTP/2", func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 2, 0 }, false},
		{"no Connection", set("Connection"), false},
		{"half a token", set("Connection", "upgrades"), false},
		{"two words in one token", set("Connection", "keep-alive upgrade"), false},
		{"no Upgrade", set("Upgrade"), false},
		{"another protocol", set("Upgrade", "websocket2"), false},
		{"no version", set("Sec-WebSocket-Version"), false},
		{"version 12", set("Sec-WebSocket-Version", "12"), false},
		{"version 013", set("Sec-WebSocket-Version", "013"), false},
		{"no key", set("Sec-WebSocket-Key"), false},
		{"two keys", set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="), false},
		{"short key", set("Sec-WebSocket-Key", "dGhlIHNhbXBsZQ=="), false},
		{"long key", set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZSE="), false},
		{"not base64", set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ"), false},
	} {
		r := wstest.UpgradeRequest("x", "/")
		tc.change(r)
		if got := IsUpgrade(r); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestFaultOf(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want Fault
	}{
		{io.EOF, PeerGone}, {io.ErrUnexpectedEOF, PeerGone}, {net.ErrClosed, PeerGone}, {io.ErrClosedPipe, PeerGone},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, PeerGone},
		{websocket.CloseError{Code: websocket.StatusGoingAway}, PeerGone},
		{&net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}, TimedOut},
		{os.ErrDeadlineExceeded, TimedOut},
		{context.DeadlineExceeded, PongNotTaken},
		{websocket.ErrMessageTooBig, TooBig}, {errTooBig, TooBig},
		{errors.New("a rule"), ProtocolViolation},
	} {
		if got := FaultOf(fmt.Errorf("reading: %w", tc.err)); got != tc.want {
			t.Errorf("%v is sorted as %d, want %d", tc.err, got, tc.want)
		}
	}
}

// TestSocket_ALongTextGoesInPieces: so that pings get in between; it arrives whole.
func TestSocket_ALongTextGoesInPieces(t *testing.T) {
	for size, frames := range map[int]int{1: 1, textPiece: 1, textPiece + 1: 3, 3 * textPiece: 4} {
		text := bytes.Repeat([]byte("x"), size)
		var s *Socket
		p, _ := wstest.Pipe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var err error
			if s, err = Upgrade(w, r, UpgradeOptions{ReadLimit: 1, Limits: DefaultLimits()}); err != nil {
				t.Error(err)
			}
		}), wstest.UpgradeRequest("x", "/"))
		written := make(chan error, 1)
		go func() { written <- s.Write(text, true) }()
		var whole []byte
		for i := range frames {
			f, err := p.ReadFrame()
			if last := i == frames-1; err != nil || f.Fin != last || (f.Opcode == wstest.Text) != (i == 0) {
				t.Fatalf("%d bytes, frame %d: %v, opcode %d, last: %v", size, i, err, f.Opcode, f.Fin)
			}
			whole = append(whole, f.Payload...)
		}
		if err := <-written; err != nil || !bytes.Equal(whole, text) {
			t.Errorf("%d bytes: %d arrived, %v", size, len(whole), err)
		}
		_ = p.Close()
		s.CloseNow()
	}
}
