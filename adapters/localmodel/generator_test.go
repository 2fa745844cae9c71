package localmodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"plexus/domain/admission"
	"plexus/ports"
	"plexus/ports/portstest"
)

func TestGeneratorContract(t *testing.T) {
	portstest.Generator(t, func(t *testing.T, s portstest.ModelScript) ports.Generator {
		return stubModel(t, func(r reply, req *http.Request) {
			drain(req)
			for _, piece := range s.Pieces {
				literal, err := json.Marshal(piece)
				if err != nil {
					t.Error(err)
				}
				r.events(content(string(literal)))
			}
			switch {
			case s.Break:
				panic(http.ErrAbortHandler)
			case s.Hang:
				<-req.Context().Done()
			default:
				r.events("[DONE]")
			}
		})
	})
}

func TestRequest(t *testing.T) {
	var got struct {
		Model    string
		Stream   bool
		Messages []struct{ Role, Content string }
	}
	g := stubModel(t, func(r reply, req *http.Request) {
		if err := json.Unmarshal([]byte(drain(req)), &got); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer " + testKey, "Content-Type": "application/json", "Accept-Encoding": "",
		} {
			if have := req.Header.Get(name); have != want {
				t.Errorf("%s: %q; want %q", name, have, want)
			}
		}
		r.events(content(`"Hello"`), "[DONE]")
	})
	checkAnswer(t, g, "Hello", complete)
	if got.Model != "m" || !got.Stream || fmt.Sprint(got.Messages) != "[{system Answer briefly.} {user secret question}]" {
		t.Errorf("sent %+v", got)
	}
}

func TestRequest_HistoryStandsBetweenSystemAndMessage(t *testing.T) {
	var got struct {
		Messages []struct{ Role, Content string }
	}
	g := stubModel(t, func(r reply, req *http.Request) {
		if err := json.Unmarshal([]byte(drain(req)), &got); err != nil {
			t.Error(err)
		}
		r.events(content(`"Hello"`), "[DONE]")
	})
	prompt := ports.Prompt{System: "S", User: "u3", History: []ports.Exchange{{User: "u1", Assistant: "a1"}, {User: "u2", Assistant: "a2"}}}
	if err := g.Generate(t.Context(), prompt, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if want := "[{system S} {user u1} {assistant a1} {user u2} {assistant a2} {user u3}]"; fmt.Sprint(got.Messages) != want {
		t.Errorf("sent %v, want %s", got.Messages, want)
	}
}

func TestRequest_WithoutKeyOrSystem(t *testing.T) {
	g := stubModel(t, func(r reply, req *http.Request) {
		if _, there := req.Header["Authorization"]; there || strings.Contains(drain(req), "system") {
			t.Error("an empty key or instruction was sent")
		}
		r.events(content(`"Hello"`), "[DONE]")
	})
	g.key = func() string { return "" }
	if err := g.Generate(t.Context(), ports.Prompt{User: "q"}, func(string) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"key refused", 401, `{"error":{"message":"Incorrect key ` + testKey + `","code":"invalid_api_key"}}`, "status 401 (invalid_api_key): Incorrect key […]"},
		{"type in place of code", 429, `{"error":{"message":"secret","code":null,"type":"rate_limit"}}`, "status 429 (rate_limit)"},
		{"unwrapped", 400, `{"object":"error","code":40001,"message":"secret"}`, "status 400 (40001)"},
		{"message alone", 422, `{"error":"model secret not found"}`, "status 422: model […] not found"},
		{"the status as code", 400, `{"error":{"code":400,"message":"bad"}}`, "status 400: bad"},
		{"a detail", 422, `{"detail":"Not authenticated"}`, "status 422: Not authenticated"},
		{"a list of details", 422, `{"detail":[{"msg":"bad","input":"secret question"}]}`, "status 422"},
		{"a line", 502, "upstream\x1b[2J refused: secret question\n", `status 502: upstream\x1b[2J refused: […]`},
		{"what was asked as a code", 422, `{"error":{"code":"secret"}}`, "status 422"},
		{"a code that is no word", 500, `{"error":{"code":"Secret: briefly"}}`, "status 500"},
		{"a page", 502, `<html>secret</html>`, "status 502"},
		{"nothing", 503, ``, "status 503"},
		{"no content", 204, ``, "status 204"},
		{"endless", 500, strings.Repeat("x", 100<<10), "status 500"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := stubModel(t, func(r reply, _ *http.Request) {
				r.w.WriteHeader(tt.status)
				r.write(tt.body)
			})
			err := checkAnswer(t, g, "", unavailable)
			if !strings.HasSuffix(err.Error(), ": "+tt.want) {
				t.Errorf("got %q; want %q at its end", err, tt.want)
			}
		})
	}
	t.Run("a key echoed as code", func(t *testing.T) {
		g := stubModel(t, func(r reply, _ *http.Request) {
			r.w.WriteHeader(401)
			r.write(`{"error":{"code":"plainword"}}`)
		})
		g.key = func() string { return "plainword" }
		if err := checkAnswer(t, g, "", unavailable); strings.Contains(err.Error(), "plainword") {
			t.Error("the key is in the error")
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		g := stubModel(t, func(r reply, req *http.Request) {
			http.Redirect(r.w, req, other.URL+"/v1/chat/completions", status)
		})
		err := checkAnswer(t, g, "", unavailable)
		if !strings.Contains(err.Error(), fmt.Sprintf("status %d", status)) {
			t.Errorf("got %q", err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

func TestUnreachable(t *testing.T) {
	g := newGenerator(t, Config{BaseURL: fmt.Sprintf("http://127.0.0.1:%d/v1", refusingPort(t)), Model: "m"})
	if err := checkAnswer(t, g, "", unavailable); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v does not hold its cause", err)
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		want []string // in the error; none: accepted
	}{
		{"loopback", Config{BaseURL: "http://127.0.0.1:11434/v1", Model: "m"}, nil},
		{"slash at the end", Config{BaseURL: "http://localhost:11434/v1/", Model: "m"}, nil},
		{"hosted", Config{BaseURL: "https://api.example.org/v1", Model: "m", Key: admission.NewSecret(testKey)}, nil},
		{"plain and allowed", Config{BaseURL: "http://192.0.2.1/v1", Model: "m", AllowPlainHTTP: true}, nil},
		{"plain", Config{BaseURL: "http://192.0.2.1/v1", Model: "m"}, []string{"allow_plain_http"}},
		{"everything wrong", Config{BaseURL: "ftp://x", Model: " ", Key: admission.NewSecret("a b\n")}, []string{"https://", "name", "key"}},
		{"no URL", Config{BaseURL: "127.0.0.1:11434", Model: "m"}, []string{"no URL"}},
		{"empty", Config{}, []string{"no URL", "name"}},
		{"user", Config{BaseURL: "https://u:hunter2@x/v1", Model: "m"}, []string{"no user"}},
		{"query", Config{BaseURL: "https://x/v1?key=hunter2", Model: "m"}, []string{"query"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := New(tt.cfg)
			if (err != nil) != (len(tt.want) > 0) {
				t.Fatalf("got %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%q does not hold %q, or holds a secret", err, part)
				}
			}
			if g != nil && !strings.HasSuffix(g.base.JoinPath(chatPath).String(), "/v1/chat/completions") {
				t.Errorf("base %q", g.base)
			}
		})
	}
}

func TestKeyIsNeverPrinted(t *testing.T) {
	cfg := Config{Key: admission.NewSecret(testKey)}
	raw, err := json.Marshal(cfg.Key)
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(Config{BaseURL: "https://api.example.org/v1", Model: "m", Key: cfg.Key})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(cfg.Key), fmt.Sprintf("%+v %#v", g, g), fmt.Sprintf("%v %+v %#v %s %q %x", cfg, cfg, cfg, cfg.Key, cfg.Key, cfg.Key), string(raw)} {
		if strings.Contains(s, testKey) || strings.Contains(s, "736b2d") {
			t.Errorf("printed: %s", s)
		}
	}
}

func TestCR31_CancelEndsTheUpstreamCall(t *testing.T) {
	tests := []struct {
		name string
		sent []string // events before the cancel; nil: not even headers
	}{
		{"a before the headers", nil},
		{"a after the headers, before a byte", []string{}},
		{"b within the stream", []string{content(`"one "`), content(`"two "`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			arrived, ended := make(chan struct{}), make(chan struct{})
			g := stubModel(t, func(r reply, req *http.Request) {
				drain(req)
				if tt.sent != nil {
					r.write("")
					r.events(tt.sent...)
				}
				close(arrived)
				<-req.Context().Done()
				close(ended)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				<-arrived
				cancel()
			}()
			if _, err := ask(t, ctx, g); !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v; want context.Canceled", err)
			}
			<-ended // for ever, if the call were left running
		})
	}
}

// An emit that fails ends the call as well, and its error comes back.
func TestCR31_FailedEmitEndsTheUpstreamCall(t *testing.T) {
	ended := make(chan struct{})
	g := stubModel(t, func(r reply, req *http.Request) {
		drain(req)
		r.events(content(`"one"`), content(`"two"`))
		<-req.Context().Done()
		close(ended)
	})
	full := errors.New("full")
	if err := g.Generate(t.Context(), testPrompt, func(string) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	<-ended
}

// What has arrived but was not handed on when the cancel came stays here. Only the
// beginning of an answer is put together of what is here.
func TestCR31_NothingFollowsTheCancel(t *testing.T) {
	begun := make(chan struct{})
	g := stubModel(t, func(r reply, req *http.Request) {
		drain(req)
		r.events(content(`"one "`))
		<-begun
		r.write(events(content(`"two "`), content(`"three"`), "[DONE]"))
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text := ""
	err := g.Generate(ctx, testPrompt, func(s string) error {
		if text += s; text == "one " {
			close(begun)
		} else {
			cancel()
		}
		return nil
	})
	if text != "one two " || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v", text, err)
	}
}
