package browser

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// fakeHost is a NERVE host that says what a test tells it to. It has its own few
// lines of codec, so that the extension meets a second reading of the document.
type fakeHost struct {
	t       *testing.T
	addr    string
	allowed atomic.Bool
	offered atomic.Value // string: the last Sec-WebSocket-Protocol
	page    atomic.Value // string: where the owner's page is, if the host tells
	token   atomic.Value // string: the one token that is right, if the host tells
	asked   chan question
	cancels chan uint64
	server  *http.Server
	running context.Context // ends with the host, as its connections do
	kill    context.CancelFunc
}

// question is one SearchQuery that has come in.
type question struct {
	host *fakeHost
	conn *websocket.Conn
	id   uint64
	body struct {
		V       int            `json:"v"`
		Query   string         `json:"query"`
		Context members        `json:"context"`
		Opts    map[string]any `json:"opts"`
	}
}

// members are those of a JSON object, numbers as they are written.
type members map[string]string

func (m *members) UnmarshalJSON(text []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*m = members{}
	for name, value := range raw {
		(*m)[name] = string(value)
		if value[0] != '"' {
			continue
		}
		var unquoted string
		if err := json.Unmarshal(value, &unquoted); err != nil {
			return err
		}
		(*m)[name] = unquoted
	}
	return nil
}

type found struct {
	URL     string  `json:"url"`
	Title   string  `json:"title"`
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"`
}

const (
	typePing   = 0x01
	typeQuery  = 0x02
	typeResult = 0x03
	typeToken  = 0x04
	typeCancel = 0x05
	flagStream = 0x01
	flagFinal  = 0x02
)

// startFakeHost listens on addr ("127.0.0.1:0" for any port) until the test ends
// or stop is called.
func startFakeHost(t *testing.T, addr string, allowed bool) *fakeHost {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	h := &fakeHost{t: t, addr: listener.Addr().String(), asked: make(chan question, 16), cancels: make(chan uint64, 16)}
	h.running, h.kill = context.WithCancel(context.Background())
	h.allowed.Store(allowed)
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = h.server.Serve(listener)
	}()
	t.Cleanup(func() {
		h.stop()
		<-served
	})
	return h
}

func (h *fakeHost) address() string { return "ws://" + h.addr }

// stop closes the listener and every connection, as a host that is killed.
func (h *fakeHost) stop() {
	_ = h.server.Close()
	h.kill() // a hijacked connection is no longer the server's
}

func (h *fakeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if r.Header.Get("Upgrade") == "" {
		if strings.HasPrefix(origin, "chrome-extension://") {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.WriteHeader(http.StatusUpgradeRequired)
			answer := map[string]any{"product": "plexus", "allowed": h.allowed.Load()}
			if page, told := h.page.Load().(string); told {
				answer["page"] = page
			}
			if token, told := h.token.Load().(string); told {
				offered, _ := io.ReadAll(io.LimitReader(r.Body, 100))
				answer["token"] = string(offered) == "anvesha-v1."+token
			}
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	}
	h.offered.Store(r.Header.Get("Sec-WebSocket-Protocol"))
	if !h.allowed.Load() {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		OriginPatterns: []string{"chrome-extension://" + extensionID},
		Subprotocols:   []string{r.Header.Get("Sec-WebSocket-Protocol")},
	})
	if err != nil {
		return
	}
	conn.SetReadLimit(1<<20 + 20) // one frame
	h.converse(h.running, conn)
}

func (h *fakeHost) converse(ctx context.Context, conn *websocket.Conn) {
	defer func() { _ = conn.CloseNow() }()
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil || len(frame) < 20 {
			return
		}
		id := binary.LittleEndian.Uint64(frame[8:])
		switch frame[6] {
		case typePing:
			_ = conn.Write(ctx, websocket.MessageBinary, frame)
		case typeQuery:
			q := question{host: h, conn: conn, id: id}
			if err := json.Unmarshal(frame[20:], &q.body); err != nil {
				h.t.Errorf("a query that is not JSON: %v", err)
			}
			h.asked <- q
		case typeCancel:
			h.cancels <- id
		default:
			h.t.Errorf("a frame of type %#x from the extension", frame[6])
		}
	}
}

// nextQuestion waits for the extension to ask.
func (h *fakeHost) nextQuestion() question {
	h.t.Helper()
	return receive(h.t, "a question", h.asked)
}

func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(waitAtMost):
		t.Fatalf("%s never came", what)
		panic("unreachable")
	}
}

func (q question) send(kind, flags byte, payload any) {
	q.host.t.Helper()
	body := []byte(asJSON(q.host.t, payload))
	frame := []byte{0x56, 0x52, 0x45, 0x4e, 1, 0, kind, flags}
	frame = binary.LittleEndian.AppendUint64(frame, q.id)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(body)))
	if err := q.conn.Write(q.host.t.Context(), websocket.MessageBinary, append(frame, body...)); err != nil {
		q.host.t.Errorf("send to the extension: %v", err)
	}
}

func (q question) results(took int, results ...found) {
	q.host.t.Helper()
	if results == nil {
		results = []found{}
	}
	q.send(typeResult, flagFinal, map[string]any{"results": results, "took_ms": took})
}

func (q question) token(text string) {
	q.host.t.Helper()
	q.send(typeToken, flagStream, map[string]string{"t": text})
}

func (q question) last(text string) {
	q.host.t.Helper()
	q.send(typeToken, flagFinal, map[string]string{"t": text})
}
