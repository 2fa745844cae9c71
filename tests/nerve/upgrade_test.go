package nerve_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
	"plexus/ports"
	"plexus/usecases/ask"
	"plexus/usecases/browsers"
)

const (
	ourOrigin   = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
	otherOrigin = "moz-extension://1b4e28ba-2fa1-11d2-883f-0016d3cca427"
)

// keyOf gives the n-th of an endless row of extension keys.
func keyOf(n int) string {
	return admission.HashKey(string(rune('a'+n%26)) + strings.Repeat("k", n/26)).Hex()
}

func offer(key string) string     { return "Sec-WebSocket-Protocol: anvesha-v1." + key }
func from(origin string) string   { return "Origin: " + origin }
func hostIs(host string) string   { return "Host: " + host }
func wrongToken() string          { return strings.Repeat("0", admission.KeyLength) }
func tooLong(n int) string        { return "X-Padding: " + strings.Repeat("p", n) }
func status(answer string) string { return strings.TrimPrefix(answer, "HTTP/1.1 ")[:3] }

// upgrade tries a handshake with these header lines and gives the peer, or nil and
// the status of the refusal.
func (f *fixture) upgrade(t *testing.T, header ...string) (*wstest.Peer, *http.Response) {
	t.Helper()
	peer, response, err := wstest.Dial(f.addr, header...)
	if err != nil {
		t.Fatalf("upgrade: %v", err)
	}
	if peer != nil {
		prepare(t, peer)
	}
	return peer, response
}

// admits insists on 101, on the echo of entry, and on a connection that works.
func (f *fixture) admits(t *testing.T, entry string, header ...string) *wstest.Peer {
	t.Helper()
	peer, response := f.upgrade(t, header...)
	if peer == nil {
		t.Fatalf("answered %d, want 101", response.StatusCode)
	}
	if got := response.Header.Values("Sec-WebSocket-Protocol"); strings.Join(got, "|") != entry {
		t.Errorf("the echo is %q, want %q", got, entry)
	}
	send(t, peer, ping(77))
	expectEcho(t, peer, 77)
	return peer
}

// refuses insists on 403.
func (f *fixture) refuses(t *testing.T, header ...string) {
	t.Helper()
	if _, response := f.upgrade(t, header...); response.StatusCode != http.StatusForbidden {
		t.Errorf("answered %d, want 403", response.StatusCode)
	}
}

// refusedFor insists that the newest refusal that the owner sees has this cause.
func (f *fixture) refusedFor(t *testing.T, cause admission.Cause) {
	t.Helper()
	list := f.browsers.Refusals()
	if len(list) == 0 || list[0].Cause != cause {
		t.Errorf("the owner sees %+v, want %s first", list, cause)
	}
}

// row finds what the owner sees of an extension; key "" is the row by token.
func (f *fixture) row(t *testing.T, origin, key string) (admission.Extension, bool) {
	t.Helper()
	rows, err := f.browsers.Extensions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var hash admission.KeyHash
	if key != "" {
		hash = admission.HashKey(key)
	}
	for _, row := range rows {
		if row.Origin == origin && row.Key == hash {
			return row, true
		}
	}
	return admission.Extension{}, false
}

// inState insists on a row and its state.
func (f *fixture) inState(t *testing.T, origin, key string, want admission.State) admission.Extension {
	t.Helper()
	row, ok := f.row(t, origin, key)
	if !ok || row.State != want {
		t.Fatalf("the row of %s is %q (found: %v), want %q", origin, row.State, ok, want)
	}
	return row
}

func allow(t *testing.T, h *browsers.Registry, id int64) {
	t.Helper()
	if _, err := h.AllowExtension(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, h *browsers.Registry, id int64) {
	t.Helper()
	if _, err := h.RemoveExtension(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// requestText is the text of a request; lines come after the first one.
func requestText(first string, lines ...string) string {
	return first + "\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// upgradeLines are those of a proper upgrade, without Host.
func upgradeLines(more ...string) []string {
	return append([]string{
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	}, more...)
}

// exchange sends a request as it stands and gives all that comes back, up to the
// end of the connection or of a 101, without the Date line.
func exchange(t *testing.T, addr, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	prepare(t, conn)
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, conn)
}

func readAnswer(t *testing.T, conn io.Reader) string {
	t.Helper()
	r := bufio.NewReader(conn)
	var head strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the answer broke off after %q: %v", head.String(), err)
		}
		if !strings.HasPrefix(line, "Date: ") {
			head.WriteString(line)
		}
		if line == "\r\n" {
			break
		}
	}
	if strings.HasPrefix(head.String(), "HTTP/1.1 101") {
		return head.String()
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("the connection was not ended: %v", err)
	}
	return head.String() + string(body)
}

// dropped tells how long the host took to end conn, which must bring no upgrade.
func dropped(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	began := time.Now()
	answer, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("the connection was not ended: %v", err)
	}
	if bytes.Contains(answer, []byte(" 101 ")) {
		t.Errorf("it was upgraded: %q", answer)
	}
	return time.Since(began)
}

// forget empties the log, which a long test would otherwise count as its own memory.
func (l *lockedBuffer) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = bytes.Buffer{}
}

// endlessAnswer streams until nobody listens.
func endlessAnswer(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
	for sink.Token(ctx, "token", false) == nil {
	}
}
