// Package nerve_test holds the behaviors of a NERVE connection, over both
// transports, against the real listeners and the real host with scripted
// adapters.
package nerve_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/memory"
	"plexus/adapters/nerveuds"
	"plexus/adapters/nervews"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/ports"
	"plexus/usecases/ask"
	"plexus/usecases/browsers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// token is the host token of every test.
const token = "deadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef"

// patience bounds every wait of a test: a fault shows as a failure, not as a hang.
const patience = 20 * time.Second

// fixture is one running host with both listeners.
type fixture struct {
	browsers  *browsers.Registry
	websocket *nervews.Server
	unix      *nerveuds.Server
	addr      string // of the WebSocket listener
	path      string // of the Unix socket
	log       *lockedBuffer
	registry  *memory.Extensions
	stop      func()
}

type setup struct {
	search  ports.SearchProvider
	model   ports.Generator
	answer  func(ctx context.Context, q ask.Question, sink ports.AnswerSink)
	origins []string
	config  nervews.Config
}

// queryService is the host's with a replaceable answer.
type queryService struct {
	*ask.Service
	answer func(ctx context.Context, q ask.Question, sink ports.AnswerSink)
}

func (d queryService) AnswerQuery(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
	if d.answer != nil {
		d.answer(ctx, q, sink)
		return
	}
	d.Service.AnswerQuery(ctx, q, sink)
}

type keeper struct{}

func (keeper) RotateToken() (admission.KeyHash, error) {
	return admission.HashKey(strings.Repeat("e", 64)), nil
}

func start(t *testing.T, s setup) *fixture {
	t.Helper()
	f := &fixture{log: &lockedBuffer{}, registry: memory.NewExtensions()}
	log := slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	answerer, err := ask.New(ask.Deps{Search: s.search, Model: s.model, Now: time.Now, Log: log}, ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.browsers, err = browsers.New(
		browsers.Deps{Extensions: f.registry, Token: keeper{}, Now: time.Now, Log: log},
		browsers.Options{TokenHash: admission.HashKey(token), AllowedOrigins: s.origins})
	if err != nil {
		t.Fatal(err)
	}
	s.config.Log = log
	d := queryService{Service: answerer, answer: s.answer}
	f.websocket = nervews.New(d, f.browsers, s.config)
	f.unix = nerveuds.New(d, f.browsers, nerveuds.Config{Log: log, Payloads: s.config.Payloads, Timing: s.config.Timing, Limits: s.config.Limits})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = tcp.Addr().String()
	f.path = filepath.Join(t.TempDir(), "nerve.sock")
	uds, err := net.Listen("unix", f.path)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := f.websocket.Serve(tcp); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	serving.Go(func() {
		if err := f.unix.Serve(uds); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	f.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(f.websocket.Shutdown(ctx), f.unix.Shutdown(ctx)); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		serving.Wait()
	})
	t.Cleanup(f.stop)
	return f
}

// wire is a connection of either transport that moves NERVE frames.
type wire interface {
	net.Conn
	Send(frame []byte) error
	Receive() ([]byte, error)
}

type stream struct{ net.Conn }

func (s stream) Send(frame []byte) error {
	_, err := s.Write(frame)
	return err
}

func (s stream) Receive() ([]byte, error) {
	frame := make([]byte, framing.HeaderSize)
	if _, err := io.ReadFull(s, frame); err != nil {
		return nil, err
	}
	h, err := framing.ParseHeader(frame)
	if err != nil {
		return nil, err
	}
	frame = append(frame, make([]byte, h.PayloadLength)...)
	_, err = io.ReadFull(s, frame[framing.HeaderSize:])
	return frame, err
}

func (f *fixture) dialWebSocket(t *testing.T) *wstest.Peer {
	t.Helper()
	peer, response, err := wstest.Dial(f.addr, "Sec-WebSocket-Protocol: anvesha-v1."+token)
	if err != nil {
		t.Fatal(err)
	}
	if peer == nil {
		t.Fatalf("the upgrade was answered %d", response.StatusCode)
	}
	prepare(t, peer)
	return peer
}

func (f *fixture) dialUnix(t *testing.T) stream {
	t.Helper()
	conn, err := net.Dial("unix", f.path)
	if err != nil {
		t.Fatal(err)
	}
	prepare(t, conn)
	return stream{conn}
}

func prepare(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
}

// onBoth runs a behavior over WebSocket and over the Unix socket.
func onBoth(t *testing.T, s setup, run func(t *testing.T, f *fixture, dial func(*testing.T) wire)) {
	t.Helper()
	t.Run("websocket", func(t *testing.T) {
		f := start(t, s)
		run(t, f, func(t *testing.T) wire { return f.dialWebSocket(t) })
	})
	t.Run("unix", func(t *testing.T) {
		f := start(t, s)
		run(t, f, func(t *testing.T) wire { return f.dialUnix(t) })
	})
}

func frame(t framing.MessageType, flags framing.Flags, id uint64, payload string) []byte {
	b, err := framing.AppendFrame(nil, t, flags, id, []byte(payload))
	if err != nil {
		panic(err) // a test that builds an impossible frame
	}
	return b
}

func ping(id uint64) []byte   { return frame(framing.Ping, framing.Final, id, "") }
func cancel(id uint64) []byte { return frame(framing.Cancel, framing.Final, id, "") }

func query(id uint64, q framing.SearchQuery) []byte {
	return frame(framing.SearchQueryMsg, framing.Final, id, string(framing.AppendSearchQuery(nil, q)))
}

// askFrame is a plain question without search.
func askFrame(id uint64) []byte {
	return query(id, framing.SearchQuery{Query: "what", MaxResults: 10})
}

func send(t *testing.T, w wire, frames ...[]byte) {
	t.Helper()
	for _, f := range frames {
		if err := w.Send(f); err != nil {
			t.Fatalf("send: %v", err)
		}
	}
}

// got is one received frame.
type got struct {
	framing.Header
	payload string
	raw     []byte
}

func receive(t *testing.T, w wire) got {
	t.Helper()
	raw, err := w.Receive()
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	h, err := framing.ParseHeader(raw)
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return got{Header: h, payload: string(raw[framing.HeaderSize:]), raw: raw}
}

// expectEcho insists that the very next frame is the echo of ping id.
func expectEcho(t *testing.T, w wire, id uint64) {
	t.Helper()
	if g := receive(t, w); !bytes.Equal(g.raw, ping(id)) {
		t.Fatalf("got %v of %d, want the echo of Ping %d", g.Type, g.RequestID, id)
	}
}

// untilEcho reads until the echo of ping id and gives what came before it.
func untilEcho(t *testing.T, w wire, id uint64) []got {
	t.Helper()
	var before []got
	for {
		g := receive(t, w)
		if g.Type == framing.Ping && g.RequestID == id {
			return before
		}
		before = append(before, g)
	}
}

// untilFinal reads one request's frames up to its FINAL token.
func untilFinal(t *testing.T, w wire, id uint64) []got {
	t.Helper()
	var all []got
	for {
		g := receive(t, w)
		if g.RequestID != id {
			continue
		}
		all = append(all, g)
		if g.Type == framing.AiTokenMsg && g.Flags.IsFinal() {
			return all
		}
	}
}

// expectEnd insists that the host ends the connection: with this status over
// WebSocket, by closing over the Unix socket.
func expectEnd(t *testing.T, w wire, code int) {
	t.Helper()
	for {
		_, err := w.Receive()
		if err == nil {
			continue
		}
		var closed *wstest.CloseError
		if _, ok := w.(*wstest.Peer); ok {
			if !errors.As(err, &closed) || closed.Code != code || closed.Reason != "" {
				t.Errorf("the connection ended with %v, want status %d and no reason", err, code)
			}
			return
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("the connection ended with %v, want a close", err)
		}
		return
	}
}

func header(magic uint32, version uint16, typ, flags byte, id uint64, length uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, magic)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = append(b, typ, flags)
	b = binary.LittleEndian.AppendUint64(b, id)
	return binary.LittleEndian.AppendUint32(b, length)
}

// lockedBuffer is a log that a test may read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// waitFor waits until ok, which some other goroutine makes true.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		<-tick.C
	}
}
