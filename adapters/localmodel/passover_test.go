package localmodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plexus/ports"
)

// chatServer is a server of several models. Each answers by what its row says.
type chatServer struct {
	*httptest.Server

	mu     sync.Mutex
	models []string
	rows   map[string]func(r reply, tokens int) // nil: it says its name; tokens is max_tokens
	asked  []string                             // model, and "?" for a try of one token
}

func startChats(t *testing.T, address string, rows map[string]func(reply, int), models ...string) *chatServer {
	t.Helper()
	s := &chatServer{models: models, rows: rows}
	s.Server = httptest.NewUnstartedServer(s)
	if address != "" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Listener.Close() // another takes its place
		s.Listener = listener
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.URL.Path == "/v1/models" {
		list := make([]map[string]string, 0, len(s.models))
		for _, m := range s.models {
			list = append(list, map[string]string{"id": m, "object": "model"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
		return
	}
	var call struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
	}
	_ = json.Unmarshal([]byte(drain(req)), &call)
	name := call.Model
	if call.MaxTokens == 1 {
		name += "?"
	}
	s.asked = append(s.asked, name)
	r := reply{nil, w}
	if row := s.rows[call.Model]; row != nil {
		row(r, call.MaxTokens)
		return
	}
	r.events(content(fmt.Sprintf("%q", call.Model)), "[DONE]")
}

func (s *chatServer) set(models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = models
}

// took gives what was asked since the last call.
func (s *chatServer) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.asked = nil }()
	return strings.Join(s.asked, " ")
}

func (s *chatServer) place() Candidate {
	return Candidate{Server: "Ollama", Port: s.Listener.Addr().(*net.TCPAddr).Port}
}

// fails answers everything in the same way.
func fails(status int, body string) func(reply, int) {
	return func(r reply, _ int) {
		r.w.WriteHeader(status)
		r.write(body)
	}
}

const noChat = `{"error":{"message":"\"all-minilm:latest\" does not support chat","type":"invalid_request_error","code":null}}`

// The names say nothing: what does not chat is seen by asking it, and the same question
// goes to the next.
func TestD20_TheSameQuestionGoesToTheNextModel(t *testing.T) {
	for name, refusal := range map[string]func(reply, int){
		"Ollama":        fails(400, noChat),
		"llama.cpp":     fails(501, `{"error":{"code":501,"message":"This server does not support chat completions.","type":"not_supported_error"}}`),
		"a route":       fails(404, "404 page not found"),
		"a method":      fails(405, ""),
		"vLLM":          fails(400, `{"object":"error","message":"The model does not support Chat Completions API","type":"BadRequestError","code":400}`),
		"nothing said":  fails(400, ""),
		"an image page": fails(404, `<html>no</html>`),
	} {
		t.Run(name, func(t *testing.T) {
			s := startChats(t, "", map[string]func(reply, int){"all-minilm:latest": refusal, "x/flux2:latest": refusal},
				"all-minilm:latest", "nomic-embed-text", "x/flux2:latest", "llama3.2:latest", "other")
			var log bytes.Buffer
			a := newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}, Log: slog.New(slog.NewTextHandler(&log, nil))})
			checkAnswer(t, a, "llama3.2:latest", complete)
			if got := s.took(); got != "all-minilm:latest all-minilm:latest? x/flux2:latest x/flux2:latest? llama3.2:latest" {
				t.Errorf("asked %s", got)
			}
			checkAnswer(t, a, "llama3.2:latest", complete)
			if got := s.took(); got != "llama3.2:latest" {
				t.Errorf("the next question asked %s", got)
			}
			passed := a.PassedOver()
			if len(passed) != 2 || passed[0].Name != "all-minilm:latest" || passed[1].Name != "x/flux2:latest" || !strings.HasPrefix(passed[0].Cause, "status ") {
				t.Errorf("passed over %+v", passed)
			}
			if found := a.Found(); len(found) != 1 || found[0].Name != "llama3.2:latest" {
				t.Errorf("found %+v", found)
			}
			if strings.Count(log.String(), "passed over") != 2 {
				t.Errorf("the log: %s", &log)
			}
		})
	}
}

// With nothing left there is no model; a new one is seen a minute later, and one that
// went away and came back has another chance.
func TestD20_NothingLeft(t *testing.T) {
	time := newClock()
	refuse := fails(400, noChat)
	rows := map[string]func(reply, int){"all-minilm": refuse, "bge-m3": refuse}
	s := startChats(t, "", rows, "all-minilm", "bge-m3")
	a := newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}, Now: time.now})
	checkAnswer(t, a, "", ports.ErrNoModel)
	if a.Usable(t.Context()) || len(a.Found()) != 0 || len(a.PassedOver()) != 2 {
		t.Errorf("usable, found %v, passed over %v", a.Found(), a.PassedOver())
	}
	s.took()
	time.forward(seconds(60))
	checkAnswer(t, a, "", ports.ErrNoModel)
	if got := s.took(); got != "" {
		t.Errorf("what is known was asked again: %s", got)
	}
	s.set("all-minilm", "bge-m3", "llama3.2")
	time.forward(seconds(60))
	checkAnswer(t, a, "llama3.2", complete)

	s.set("all-minilm") // removed, and asked once more
	s.mu.Lock()
	rows["llama3.2"], rows["bge-m3"] = fails(404, ""), nil
	s.mu.Unlock()
	checkAnswer(t, a, "", ports.ErrNoModel)
	time.forward(seconds(60))
	checkAnswer(t, a, "", ports.ErrNoModel)
	s.set("all-minilm", "bge-m3")
	time.forward(seconds(60))
	checkAnswer(t, a, "bge-m3", complete)
}

// A model that chats and fails is not passed over, whatever it fails for.
func TestD20_AModelThatChatsStays(t *testing.T) {
	thisQuestion := func(status int, body string) func(reply, int) {
		return func(r reply, tokens int) {
			if tokens == 1 {
				r.events(content(`"H"`), "[DONE]")
				return
			}
			fails(status, body)(r, tokens)
		}
	}
	for name, row := range map[string]func(reply, int){
		"an error":             fails(500, `{"error":"boom"}`),
		"busy":                 fails(503, ""),
		"too many":             fails(429, ""),
		"no key":               fails(401, ""),
		"context too long":     fails(400, `{"error":{"code":400,"message":"request (4390 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}`),
		"this question":        thisQuestion(400, `{"error":{"message":"roles must alternate"}}`),
		"this question as 404": thisQuestion(404, ""),
		"not sure":             func(r reply, tokens int) { fails(map[bool]int{true: 503, false: 400}[tokens == 1], "")(r, tokens) },
	} {
		t.Run(name, func(t *testing.T) {
			s := startChats(t, "", map[string]func(reply, int){"m": row}, "m", "other")
			a := newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}})
			for range 3 {
				checkAnswer(t, a, "", unavailable)
			}
			if found := a.Found(); len(found) != 1 || found[0].Name != "m" || len(a.PassedOver()) != 0 || !a.Usable(t.Context()) {
				t.Errorf("found %v, passed over %v", found, a.PassedOver())
			}
		})
	}
}

// Whoever wants to know whether there is a model finds out by one token, once.
func TestD20_Usable(t *testing.T) {
	s := startChats(t, "", map[string]func(reply, int){"all-minilm": fails(400, noChat)}, "all-minilm", "m")
	a := newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}})
	for range 3 {
		if !a.Usable(t.Context()) {
			t.Error("not usable")
		}
	}
	if got := s.took(); got != "all-minilm? m?" {
		t.Errorf("asked %s", got)
	}
	s = startChats(t, "", nil, "m")
	a = newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}})
	checkAnswer(t, a, "m", complete)
	if got := s.took(); !a.Usable(t.Context()) || got != "m" || s.took() != "" {
		t.Error("a model that has answered was tried")
	}
	a = newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}, IsOurs: func(int) (bool, error) { return false, nil }})
	if a.Usable(t.Context()) || s.took() != "" {
		t.Error("another user's model was tried, or counts")
	}
}

// A model that is slow to load is not refused for that, and not asked again and again.
func TestD20_UsableWhileItLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asks atomic.Int32
		dial := pipeServer(t, func(req *http.Request, body string) string {
			if req.Method == http.MethodGet {
				return `{"data":[{"id":"m"}]}`
			}
			asks.Add(1)
			return "" // nothing, until the client goes
		})
		a := newAuto(t, AutoConfig{Candidates: []Candidate{{Server: "Ollama", Port: 1}}, Dial: dial, Now: time.Now})
		for range 3 {
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
			if !a.Usable(ctx) {
				t.Error("not usable")
			}
			stop()
		}
		if n := asks.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// However many models refuse, a question has the time of one answer.
func TestD20_AllRefusalsShareOneLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []string
		for i := range 50 {
			list = append(list, fmt.Sprintf(`{"id":"m%d"}`, i))
		}
		dial := pipeServer(t, func(req *http.Request, body string) string {
			if req.Method == http.MethodGet {
				return `{"data":[` + strings.Join(list, ",") + `]}`
			}
			if !strings.Contains(body, "max_tokens") {
				time.Sleep(DefaultFirstWord - time.Second)
			}
			return "400"
		})
		a := newAuto(t, AutoConfig{Candidates: []Candidate{{Server: "Ollama", Port: 1}}, Dial: dial, Now: time.Now})
		begin := time.Now()
		err := checkAnswer(t, a, "", unavailable)
		if took := time.Since(begin); took != DefaultTotal {
			t.Errorf("took %v, ended with %v", took, err)
		}
	})
}

// pipeServer serves one request a connection, at 127.0.0.1 alone: 200 with a body, "400"
// for a refusal, "" for no answer at all.
func pipeServer(t *testing.T, answer func(req *http.Request, body string) string) func(context.Context, string, string) (net.Conn, error) {
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return func(_ context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
		}
		client, server := net.Pipe()
		serving.Go(func() {
			defer server.Close()
			in := bufio.NewReader(server)
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			switch text := answer(req, drain(req)); text {
			case "":
				_, _ = in.ReadByte() // until the client goes
			case "400":
				fmt.Fprint(server, "HTTP/1.1 400 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			default:
				fmt.Fprintf(server, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
			}
		})
		return client, nil
	}
}

// Questions that meet the same refusal at once pass it over once.
func TestD20_ManyQuestionsAtOnce(t *testing.T) {
	s := startChats(t, "", map[string]func(reply, int){"a": fails(400, noChat), "b": fails(501, "")}, "a", "b", "c")
	a := newAuto(t, AutoConfig{Candidates: []Candidate{s.place()}})
	var asking sync.WaitGroup
	for range 16 {
		asking.Go(func() { checkAnswer(t, a, "c", complete) })
	}
	asking.Wait()
	if passed := a.PassedOver(); len(passed) != 2 {
		t.Errorf("passed over %v", passed)
	}
}

// Servers listen on either loopback.
func TestD20_IPv6(t *testing.T) {
	six := startChats(t, "[::1]:0", nil, "six")
	place := six.place()
	t.Run("alone", func(t *testing.T) {
		a := newAuto(t, AutoConfig{Candidates: []Candidate{place}})
		checkAnswer(t, a, "six", complete)
		if found := a.Found(); len(found) != 1 || found[0].BaseURL != fmt.Sprintf("http://[::1]:%d/v1", place.Port) {
			t.Errorf("found %v", found)
		}
	})
	t.Run("another user's", func(t *testing.T) {
		six.took()
		a := newAuto(t, AutoConfig{Candidates: []Candidate{place}, IsOurs: func(port int) (bool, error) { return port != place.Port, nil }})
		checkAnswer(t, a, "", ports.ErrNoModel)
		if six.took() != "" || len(a.Found()) != 1 || a.Found()[0].Ours {
			t.Errorf("found %v, or it was asked", a.Found())
		}
	})
	t.Run("ours, by the kernel's table", func(t *testing.T) {
		a := newAuto(t, AutoConfig{Candidates: []Candidate{place}, IsOurs: ListenerIsOurs})
		if a.Usable(t.Context()) != (runtime.GOOS == "linux") {
			t.Errorf("found %v", a.Found())
		}
	})
	t.Run("beside another", func(t *testing.T) {
		four := startChats(t, fmt.Sprintf("127.0.0.1:%d", place.Port), map[string]func(reply, int){"four": fails(400, "")}, "four")
		a := newAuto(t, AutoConfig{Candidates: []Candidate{place}})
		checkAnswer(t, a, "six", complete)
		four.set("six") // as one server at both would list
		a = newAuto(t, AutoConfig{Candidates: []Candidate{place}})
		if err := a.Probe(t.Context()); err != nil || len(a.Found()) != 1 || !strings.Contains(a.Found()[0].BaseURL, "127.0.0.1") {
			t.Errorf("found %v", a.Found())
		}
	})
}

// A server that goes away in between leaves the question to another.
func TestD20_TheNextServer(t *testing.T) {
	first, second := startChats(t, "", nil, "first"), startChats(t, "", nil, "second")
	a := newAuto(t, AutoConfig{Candidates: []Candidate{first.place(), second.place()}})
	checkAnswer(t, a, "first", complete)
	first.Close()
	checkAnswer(t, a, "second", complete)
	if found := a.Found(); len(found) != 1 || !slices.ContainsFunc(found, func(f Found) bool { return f.Name == "second" }) {
		t.Errorf("found %v", found)
	}
}
