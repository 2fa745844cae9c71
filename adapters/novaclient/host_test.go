package novaclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/workbench"
)

const (
	serverID     = "5b1d2a43-33f2-4e09-9a51-0b6a2a9f1c77"
	connectionID = "AbCdEf12-33f2-4e09-9a51-0b6a2a9f1c77" // its case must survive
	inputID      = "0d4f7f0e-33f2-4e09-9a51-0b6a2a9f1c77"
	ready        = `{"type":"client.ready","protocol_version":1,"server_instance_id":"` + serverID + `","connection_id":"` + connectionID + `",` +
		`"media":{"transport":"host_pcm_v1","path":"relay","audio_owner":"client","pipeline":"cascaded"},` +
		`"input_audio":{"encoding":"pcm_s16le","sample_rate":16000,"channels":1},` +
		`"output_audio":{"encoding":"pcm_s16le","sample_rate":24000,"channels":1},` +
		`"capabilities":["audio","captions","projects","executor","text_input","dictation"]}`
	desktop = `{"type":"desktop.capabilities","capabilities":["text_input","dictation"],"input_instance_id":"` + inputID + `"}`
)

// host is a Nova host that does what the test tells it, in fake time. It is its
// own listener: connections are pipes.
type host struct {
	t       *testing.T
	dialed  chan net.Conn
	opened  chan *link
	closed  chan struct{}
	closing sync.Once
	status  int // not 0: what the upgrade is answered with
	seen    eventLog
}

// link is one upgraded connection, from the host's side.
type link struct {
	t       *testing.T
	ws      *websocket.Conn
	request *http.Request
}

// eventLog is what the client said it saw.
type eventLog struct {
	mu        sync.Mutex
	statuses  []Status
	messages  []nova.Message
	cards     []string // "+ID" shown, "-ID" removed
	snapshots []workbench.MobileSnapshot
}

func (l *eventLog) events() Events {
	return Events{
		Status:   func(s Status) { l.add(func() { l.statuses = append(l.statuses, s) }) },
		Message:  func(m nova.Message) { l.add(func() { l.messages = append(l.messages, m) }) },
		Snapshot: func(s workbench.MobileSnapshot) { l.add(func() { l.snapshots = append(l.snapshots, s) }) },
		Card:     func(c Card) { l.add(func() { l.cards = append(l.cards, "+"+c.ID) }) },
		Removed:  func(c Card) { l.add(func() { l.cards = append(l.cards, "-"+c.ID) }) },
	}
}

func (l *eventLog) add(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (h *host) Accept() (net.Conn, error) {
	select {
	case c := <-h.dialed:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *host) Close() error {
	h.closing.Do(func() { close(h.closed) })
	return nil
}

func (h *host) Addr() net.Addr { return &net.TCPAddr{} }

func (h *host) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case h.dialed <- theirs:
		return ours, nil
	case <-h.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.status != 0 {
		w.WriteHeader(h.status)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		h.t.Errorf("the host upgrades: %v", err)
		return
	}
	ws.SetReadLimit(nova.MaxMessage)
	select {
	case h.opened <- &link{h.t, ws, r}:
	case <-h.closed:
		_ = ws.CloseNow()
	}
}

// inFakeTime runs f with a host.
func inFakeTime(t *testing.T, f func(t *testing.T, h *host)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &host{t: t, dialed: make(chan net.Conn), opened: make(chan *link), closed: make(chan struct{})}
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(h) })
		f(t, h)
		_ = h.Close()
		_ = server.Close()
		serving.Wait()
		synctest.Wait()
	})
}

func testServer() pairing.Server {
	s, err := pairing.ParseServer("wss://box.example.ts.net")
	if err != nil {
		panic(err)
	}
	return s
}

func testToken() pairing.DeviceToken {
	return pairing.DeviceToken{Text: secret.New(strings.Repeat("0a", 16))}
}

func (h *host) options(p Profile) Options {
	return Options{
		Server: testServer(), Token: testToken(), Profile: p, Voice: true,
		Dial: netip.MustParseAddrPort("127.0.0.1:18787"), DialContext: h.dial, Events: h.seen.events(),
	}
}

// connect gives both ends of a connection on which ready has been said.
func (h *host) connect(p Profile, said ...string) (*Conn, *link) {
	h.t.Helper()
	return h.meet(p, append([]string{ready}, said...)...)
}

// meet is connect to a host that says all of it itself.
func (h *host) meet(p Profile, said ...string) (*Conn, *link) {
	h.t.Helper()
	conns := make(chan *Conn, 1)
	go func() {
		c, err := Dial(h.t.Context(), h.options(p))
		if err != nil {
			h.t.Errorf("Dial gave %v", err)
		}
		conns <- c
	}()
	l := h.greet(said...)
	c := <-conns
	if c == nil {
		h.t.FailNow()
	}
	synctest.Wait()
	return c, l
}

// greet takes a connection and its hello, and says what it is given.
func (h *host) greet(said ...string) *link {
	h.t.Helper()
	l := <-h.opened
	l.hear("hello")
	for _, text := range said {
		l.say(text)
	}
	return l
}

// say sends text, whatever becomes of it.
func (l *link) say(text string) {
	_ = l.ws.Write(context.Background(), websocket.MessageText, []byte(text))
}

func (l *link) sound(id string, epoch, sequence uint64, lasting time.Duration) {
	l.t.Helper()
	pcm := make([]byte, int(lasting*nova.DownlinkRate/time.Second)*2)
	header := nova.AudioHeader{Generation: nova.Generation{UtteranceID: id, Epoch: epoch}, Sequence: sequence}
	frame, err := nova.AppendAudioFrame(nil, header, pcm)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = l.ws.Write(context.Background(), websocket.MessageBinary, frame)
}

// heard is a message of the client; payload is set for commands.
type heard struct {
	binary  []byte
	members map[string]json.RawMessage
	payload map[string]json.RawMessage
	id      string // request_id of a command
	kind    string // of the payload, or of the message
	err     error
}

func (l *link) next() heard {
	kind, message, err := l.ws.Read(context.Background())
	if err != nil {
		return heard{err: err}
	}
	if kind == websocket.MessageBinary {
		return heard{binary: message, kind: "PCM"}
	}
	var h heard
	if err := json.Unmarshal(message, &h.members); err != nil {
		l.t.Errorf("the client said %q", message)
	}
	h.kind = text(h.members["type"])
	if h.kind == "client.command" {
		h.err = json.Unmarshal(h.members["payload"], &h.payload)
		h.id, h.kind = text(h.members["request_id"]), text(h.payload["type"])
		if id := text(h.members["connection_id"]); id != connectionID {
			l.t.Errorf("a command names connection %q, want %q", id, connectionID)
		}
	}
	return h
}

// hear wants a message of this kind next.
func (l *link) hear(kind string) heard {
	l.t.Helper()
	h := l.next()
	if h.kind != kind {
		l.t.Errorf("the client said %q (%v), want %q", h.kind, h.err, kind)
	}
	return h
}

// receipt answers a command.
func (l *link) receipt(h heard, status nova.Status) {
	l.say(`{"type":"client.command_result","request_id":"` + h.id + `","status":"` + string(status) + `"}`)
}

// silent wants the client to have sent nothing more: a marker comes back next.
func (l *link) silent(marker string) {
	l.t.Helper()
	l.say(`{"type":"clock.ping","ping_id":"` + marker + `"}`)
	if h := l.hear("clock.pong"); text(h.payload["ping_id"]) != marker {
		l.t.Errorf("the client answered ping %s, want %q", h.payload["ping_id"], marker)
	}
}

func text(raw json.RawMessage) string {
	s, _ := strconv.Unquote(string(bytes.TrimSpace(raw)))
	return s
}

// finish ends a connection from the client's side.
func finish(c *Conn, l *link) {
	go func() {
		for l.next().err == nil {
		}
	}()
	c.Close()
	_ = l.ws.CloseNow()
	synctest.Wait()
}

// parsed is an address, the zero one for "".
func parsed(s string) netip.AddrPort {
	a, _ := netip.ParseAddrPort(s)
	return a
}

// toListener dials address, whatever was asked for.
func toListener(address string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
}

// endIn gives the End in err, an empty one if there is none.
func endIn(err error) *End {
	end := &End{}
	_ = errors.As(err, &end) // or it stays
	return end
}
