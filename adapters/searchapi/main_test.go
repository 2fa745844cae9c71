package searchapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/searchapi"
	"plexus/domain/admission"
	"plexus/domain/framing"
	"plexus/ports"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-Marker-7f3a9"

// wire records every byte that a service received.
type wire struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *wire) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

type tapListener struct {
	net.Listener
	to *wire
}

func (l tapListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tapConn{conn, l.to}, nil
}

type tapConn struct {
	net.Conn
	to *wire
}

func (c tapConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	_, _ = c.to.Write(p[:n])
	return n, err
}

// serve starts a service and gives its address and what it received.
func serve(t *testing.T, h http.Handler) (address string, received *wire) {
	t.Helper()
	received = &wire{}
	s := httptest.NewUnstartedServer(h)
	s.Listener = tapListener{s.Listener, received}
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections() // lets handlers that wait for the client end
		s.Close()
	})
	return s.URL, received
}

// clock is a time that only tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// config is a working Config whose log goes to the wire.
func config(address string) (searchapi.Config, *wire) {
	logged := &wire{}
	return searchapi.Config{
		BaseURL: address,
		Key:     admission.NewSecret(testKey),
		Log:     slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:     newClock().now,
	}, logged
}

func closing(t *testing.T, p *searchapi.Service, err error) *searchapi.Service {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func newAnvesha(t *testing.T, cfg searchapi.Config) *searchapi.Service {
	t.Helper()
	p, err := searchapi.NewAnvesha(cfg)
	return closing(t, p, err)
}

func newSearXNG(t *testing.T, cfg searchapi.Config) *searchapi.Service {
	t.Helper()
	p, err := searchapi.NewSearXNG(cfg)
	return closing(t, p, err)
}

func newBrave(t *testing.T, cfg searchapi.Config) *searchapi.Service {
	t.Helper()
	p, err := searchapi.NewBrave(cfg)
	return closing(t, p, err)
}

// search asks for ten results.
func search(ctx context.Context, p ports.SearchProvider, query string) ([]framing.Result, error) {
	return p.Search(ctx, ports.SearchRequest{Query: query, Limit: 10})
}
