package localmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plexus/ports"
)

// localServer is a model server on a port of its own.
type localServer struct {
	*httptest.Server
	models   atomic.Value // string: the JSON of /v1/models
	header   string       // Server
	probes   atomic.Int32
	chats    atomic.Int32
	chat     func(reply)
	atProbes func()
}

func startServer(t *testing.T, models ...string) *localServer {
	t.Helper()
	s := &localServer{}
	s.list("", models...)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *localServer) list(owner string, models ...string) {
	rows := make([]map[string]string, 0, len(models))
	for _, m := range models {
		rows = append(rows, map[string]string{"id": m, "owned_by": owner})
	}
	list, err := json.Marshal(map[string]any{"object": "list", "data": rows})
	if err != nil {
		panic(err) // strings always encode
	}
	s.models.Store(string(list))
}

func (s *localServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if s.header != "" {
		w.Header().Set("Server", s.header)
	}
	if req.URL.Path == "/v1/models" {
		s.probes.Add(1)
		if s.atProbes != nil {
			s.atProbes()
		}
		_, _ = io.WriteString(w, s.models.Load().(string))
		return
	}
	s.chats.Add(1)
	drain(req)
	r := reply{nil, w}
	if s.chat != nil {
		s.chat(r)
		return
	}
	r.events(content(`"Hello"`), "[DONE]")
}

func (s *localServer) port() int {
	u, err := url.Parse(s.URL)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}

// clock is a time that tests set forward.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} }

func ours(int) (bool, error) { return true, nil }

func newAuto(t *testing.T, cfg AutoConfig) *Auto {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = newClock().now
	}
	if cfg.IsOurs == nil {
		cfg.IsOurs = ours
	}
	a, err := NewAuto(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func places(servers ...*localServer) []Candidate {
	var c []Candidate
	for i, s := range servers {
		c = append(c, Candidate{Server: fmt.Sprintf("server %d", i), Port: s.port()})
	}
	return c
}

// refusingPort is a port at which nobody listens. It is that of a client's end, so
// that no other program can get it while the test runs.
func refusingPort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().(*net.TCPAddr).Port
}

func TestD12_UsesTheFirstOfOurs(t *testing.T) {
	first, second := startServer(t, "nomic-embed-text", "llama3.2:latest", "other"), startServer(t, "second")
	nobody := Candidate{Server: "nobody", Port: refusingPort(t)}
	a := newAuto(t, AutoConfig{Candidates: append([]Candidate{nobody}, places(first, second)...)})
	checkAnswer(t, a, "Hello", complete)
	want := []Found{
		{Name: "llama3.2:latest", BaseURL: first.URL + "/v1", Server: "server 0", Ours: true, port: first.port()},
		{Name: "second", BaseURL: second.URL + "/v1", Server: "server 1", Ours: true, port: second.port()},
	}
	if got := a.Found(); !slices.Equal(got, want) {
		t.Errorf("found %+v; want %+v", got, want)
	}
	if first.chats.Load() != 1 || second.chats.Load() != 0 {
		t.Error("the wrong one was asked")
	}
}

func TestD12_AnotherUsersServerIsOnlyOffered(t *testing.T) {
	var log bytes.Buffer
	foreign, mine := startServer(t, "foreign"), startServer(t, "mine")
	isOurs := func(port int) (bool, error) { return port == mine.port(), nil }
	cfg := AutoConfig{Candidates: places(foreign), IsOurs: isOurs, Log: slog.New(slog.NewJSONHandler(&log, nil))}
	a := newAuto(t, cfg)
	checkAnswer(t, a, "", ports.ErrNoModel)
	if got := a.Found(); len(got) != 1 || got[0].Ours || got[0].Name != "foreign" {
		t.Errorf("found %+v", got)
	}
	if foreign.chats.Load() != 0 {
		t.Error("another user's server got a question")
	}
	if !strings.Contains(log.String(), "not used") || !strings.Contains(log.String(), `kind = \"openai\"`) {
		t.Errorf("the log does not offer it: %s", &log)
	}
	t.Run("and ours after it is used", func(t *testing.T) {
		cfg.Candidates = places(foreign, mine)
		checkAnswer(t, newAuto(t, cfg), "Hello", complete)
		if foreign.chats.Load() != 0 || mine.chats.Load() != 1 {
			t.Error("the wrong one was asked")
		}
	})
	t.Run("an owner who cannot be found out", func(t *testing.T) {
		cfg.IsOurs = func(int) (bool, error) { return true, errors.New("no table") }
		checkAnswer(t, newAuto(t, cfg), "", ports.ErrNoModel)
	})
}

// Between probe and question another user may have taken the port.
func TestD12_OwnerIsCheckedForEveryQuestion(t *testing.T) {
	var foreign atomic.Bool
	s := startServer(t, "m")
	a := newAuto(t, AutoConfig{Candidates: places(s), IsOurs: func(int) (bool, error) { return !foreign.Load(), nil }})
	checkAnswer(t, a, "Hello", complete)
	foreign.Store(true)
	checkAnswer(t, a, "", ports.ErrNoModel)
	if s.chats.Load() != 1 || len(a.Found()) != 0 {
		t.Errorf("%d questions, found %v", s.chats.Load(), a.Found())
	}
}

func TestD12_WhichModel(t *testing.T) {
	tests := []struct {
		name   string
		models []string
		want   string
	}{
		{"first", []string{"a", "b"}, "a"},
		{"no embedding", []string{"text-EMBEDding-3", "b"}, "b"},
		{"no reranker", []string{"bge-Reranker", "b"}, "b"},
		{"not in a cloud", []string{"gpt-oss:120b-cloud", "b"}, "b"},
		{"nothing to chat with", []string{"all-embed", "x-cloud"}, ""},
		{"none", nil, ""},
		{"names that mislead", []string{"", " ", "a\u202eb", "a\x1b[2J", strings.Repeat("x", 201), "b"}, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuto(t, AutoConfig{Candidates: places(startServer(t, tt.models...))})
			if err := a.Probe(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := ""
			if found := a.Found(); len(found) > 0 {
				got = found[0].Name
			}
			if got != tt.want {
				t.Errorf("got %q; want %q", got, tt.want)
			}
		})
	}
}

// Port 8080 belongs to anybody: there a server must say what it is.
func TestD12_MarkOfLlamaCpp(t *testing.T) {
	tests := []struct {
		name, header, owner string
		want                int
	}{
		{"Server header", "llama.cpp", "", 1},
		{"owner of the model", "", "llamacpp", 1},
		{"another program", "nginx", "me", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := startServer(t)
			s.header = tt.header
			s.list(tt.owner, "m")
			a := newAuto(t, AutoConfig{Candidates: []Candidate{{Server: "llama.cpp", Port: s.port(), Mark: "llama.cpp"}}})
			if err := a.Probe(t.Context()); err != nil || len(a.Found()) != tt.want {
				t.Errorf("found %v, %v; want %d", a.Found(), err, tt.want)
			}
		})
	}
}

func TestD12_ProbesAtMostOnceAMinute(t *testing.T) {
	time := newClock()
	s := startServer(t) // no model yet
	a := newAuto(t, AutoConfig{Candidates: places(s), Now: time.now})
	if err := a.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	step := func(forward int, wantProbes int32, want string, end error) {
		t.Helper()
		time.forward(seconds(forward))
		checkAnswer(t, a, want, end)
		if got := s.probes.Load(); got != wantProbes {
			t.Errorf("%d probes; want %d", got, wantProbes)
		}
	}
	step(0, 1, "", ports.ErrNoModel)
	s.list("", "m")
	step(59, 1, "", ports.ErrNoModel)
	step(1, 2, "Hello", complete)
	step(3600, 2, "Hello", complete) // one is known: no need to look
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func TestD12_ServerGoesAwayAndComesBack(t *testing.T) {
	time := newClock()
	var down atomic.Bool
	s := startServer(t, "m")
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if down.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	a := newAuto(t, AutoConfig{Candidates: places(s), Now: time.now, Dial: dial})
	checkAnswer(t, a, "Hello", complete)
	down.Store(true)
	checkAnswer(t, a, "", ports.ErrNoModel)
	if found := a.Found(); len(found) != 0 {
		t.Errorf("still offers %v", found)
	}
	down.Store(false)
	checkAnswer(t, a, "", ports.ErrNoModel)
	time.forward(seconds(60))
	checkAnswer(t, a, "Hello", complete)
}

func TestD12_FaultsOfTheModelInUse(t *testing.T) {
	tests := []struct {
		name   string
		status int
		stays  int
		end    error
	}{{"removed", 404, 0, ports.ErrNoModel}, {"overloaded", 503, 1, unavailable}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := startServer(t, "m")
			s.chat = func(r reply) { r.w.WriteHeader(tt.status) }
			a := newAuto(t, AutoConfig{Candidates: places(s)})
			checkAnswer(t, a, "", tt.end)
			if got := len(a.Found()); got != tt.stays {
				t.Errorf("%d known; want %d", got, tt.stays)
			}
		})
	}
}

func TestD12_OneProbeInFlight(t *testing.T) {
	s := startServer(t, "m")
	begun, release := make(chan struct{}, 8), make(chan struct{})
	s.atProbes = func() {
		begun <- struct{}{}
		<-release
	}
	a := newAuto(t, AutoConfig{Candidates: places(s)})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := ask(t, t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	close(release)
	wg.Wait()
	if chats, probes := s.chats.Load(), s.probes.Load(); chats != 8 || probes != 1 {
		t.Errorf("%d questions and %d probes; want 8 and 1", chats, probes)
	}
}

// A cancelled question ends at once and is not the look of this minute.
func TestD12_CancelDuringTheProbe(t *testing.T) {
	s := startServer(t, "m")
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	var once sync.Once
	s.atProbes = func() { once.Do(func() { cancel(); <-release }) }
	a := newAuto(t, AutoConfig{Candidates: places(s)})
	if _, err := ask(t, ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	checkAnswer(t, a, "Hello", complete)
}

func TestD12_ProbeTakesASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, server) }()
			return client, nil
		}
		a := newAuto(t, AutoConfig{Dial: silent, Now: time.Now})
		begin := time.Now()
		checkAnswer(t, a, "", ports.ErrNoModel)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v; want 1 s for all three places", took)
		}
	})
}

func TestD12_WhatIsNoModelServer(t *testing.T) {
	for name, body := range map[string]string{"page": "<html>", "endless": strings.Repeat(" ", MaxEvent+1), "another shape": `{"data":{"id":"m"}}`} {
		s := startServer(t)
		s.models.Store(body)
		a := newAuto(t, AutoConfig{Candidates: places(s)})
		if err := a.Probe(t.Context()); err != nil || len(a.Found()) != 0 {
			t.Errorf("%s: found %v, %v", name, a.Found(), err)
		}
	}
}

func TestFound_ConfigLines(t *testing.T) {
	f := Found{Name: `a"b\c`, BaseURL: "http://127.0.0.1:1234/v1"}
	want := "[model]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1234/v1\"\nname = \"a\\\"b\\\\c\"\n"
	if got := f.ConfigLines(); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func TestNewAuto_NeedsAClock(t *testing.T) {
	if _, err := NewAuto(AutoConfig{}); err == nil {
		t.Error("accepted")
	}
	a := newAuto(t, AutoConfig{})
	if len(a.candidates) != 3 || a.candidates[0].Port != 11434 || a.candidates[1].Port != 1234 || a.candidates[2].Port != 8080 {
		t.Errorf("candidates %v", a.candidates)
	}
}
