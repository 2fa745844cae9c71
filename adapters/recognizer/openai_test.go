package recognizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/outbound"
	"plexus/domain/admission"
	"plexus/domain/pcm"
	"plexus/ports"
	"plexus/ports/portstest"
)

// stub is a service that answers with script.
func stub(t *testing.T, script func(w http.ResponseWriter, req *http.Request)) *OpenAI {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			if _, err := io.Copy(io.Discard, req.Body); err != nil && req.Context().Err() == nil {
				t.Error(err)
			}
		}
		script(w, req)
	}))
	t.Cleanup(srv.Close)
	return newOpenAI(t, Config{BaseURL: srv.URL + "/v1", Model: "whisper-1", Key: admission.NewSecret(testKey)})
}

func newOpenAI(t *testing.T, cfg Config) *OpenAI {
	t.Helper()
	o, err := NewOpenAI(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// answer writes a JSON body as services do.
func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may have seen enough
}

func spoken(said string) string {
	b, err := json.Marshal(map[string]string{"text": said})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

func TestOpenAI_Contract(t *testing.T) {
	portstest.Transcriber(t, func(t *testing.T, s portstest.TranscriberScript) ports.Transcriber {
		return stub(t, func(w http.ResponseWriter, req *http.Request) {
			switch {
			case s.Hang:
				<-req.Context().Done()
			case s.Fault:
				answer(w, 500, `{"error":{"message":"cannot hear `+s.Text+`","code":"zeppelin"}}`)
			default:
				answer(w, 200, spoken(s.Text))
			}
		})
	})
}

func TestOpenAI_SendsOneWAVFile(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost || req.URL.Path != "/v1/audio/transcriptions" || req.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("got %s %s, %v", req.Method, req.URL.Path, req.Header)
		}
		file, header, err := req.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		wav, err := io.ReadAll(file)
		if err != nil {
			t.Error(err)
		}
		if samples, err := pcm.ParseWAV(wav); err != nil || !bytes.Equal(samples, tone()) || header.Filename != "speech.wav" {
			t.Errorf("%s: %d bytes, %v", header.Filename, len(samples), err)
		}
		if got := fmt.Sprint(req.MultipartForm.Value); got != "map[model:[whisper-1] response_format:[json]]" {
			t.Errorf("sent %s", got)
		}
		answer(w, 200, spoken("yes"))
	}))
	defer srv.Close()
	o := newOpenAI(t, Config{BaseURL: srv.URL + "/v1/", Model: "whisper-1", Key: admission.NewSecret(testKey)})
	if got, err := o.Transcribe(t.Context(), tone()); got != "yes" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOpenAI_SendsNoEmptyKeyAndNoEmptySpeech(t *testing.T) {
	var calls atomic.Int32
	o := stub(t, func(w http.ResponseWriter, req *http.Request) {
		calls.Add(1)
		if _, there := req.Header["Authorization"]; there {
			t.Error("an empty key was sent")
		}
		answer(w, 200, spoken("yes"))
	})
	o.sign = newOpenAI(t, Config{BaseURL: "http://127.0.0.1:1", Model: "m"}).sign
	if got, err := o.Transcribe(t.Context(), tone()); got != "yes" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := o.Transcribe(t.Context(), nil); got != "" || err != nil {
		t.Errorf("of no speech: %q, %v", got, err)
	}
	for _, bad := range [][]byte{make([]byte, 3), make([]byte, pcm.MaxSpeech+2)} {
		if _, err := o.Transcribe(t.Context(), bad); !errors.Is(err, ports.ErrTranscriberUnavailable) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls; want 1", n)
	}
}

func TestOpenAI_HostileAnswers(t *testing.T) {
	typed := func(kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}
	}
	const json = "application/json"
	for _, tt := range []struct {
		name   string
		script func(http.ResponseWriter, *http.Request)
		want   error
	}{
		{"500 with what was said", func(w http.ResponseWriter, _ *http.Request) { answer(w, 500, spoken(secretWords)) }, errStatus},
		{"401 with the key", func(w http.ResponseWriter, _ *http.Request) { answer(w, 401, "bad key "+testKey) }, errStatus},
		{"204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, errStatus},
		{"206", func(w http.ResponseWriter, _ *http.Request) { answer(w, 206, spoken(secretWords)) }, errStatus},
		{"a page", typed("text/html", "<p>"+secretWords), errReply},
		{"JSON called a page", typed("text/html", spoken(secretWords)), errReply},
		{"a bad type", typed("a/b/c;;", spoken(secretWords)), errReply},
		{"garbage", typed(json, "\x00\xff\x1b[2J"+secretWords), errReply},
		{"nothing", typed(json, ""), errReply},
		{"half", typed(json, `{"text":"`+secretWords), errReply},
		{"two", typed(json, spoken("a")+spoken(secretWords)), errReply},
		{"a list", typed(json, `["`+secretWords+`"]`), errReply},
		{"a number", typed(json, `{"text":7}`), errReply},
		{"null", typed(json, `{"text":null}`), errReply},
		{"no text", typed(json, `{"error":"`+secretWords+`"}`), errReply},
		{"deep", typed(json, strings.Repeat("[", 100_000)), errReply},
		{"huge", typed(json, `{"text":"`+strings.Repeat(secretWords, 100_000)+`"}`), errReplyTooBig},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", json)
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
		}, errReplyTooBig},
		{"gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			typed(json, "\x1f\x8b")(w, nil)
		}, errEncoding},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", json)
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"text":`)
		}, outbound.ErrCutOff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := stub(t, tt.script).Transcribe(t.Context(), tone())
			if got != "" || !errors.Is(err, ports.ErrTranscriberUnavailable) || !errors.Is(err, tt.want) {
				t.Errorf("got %q, %v; want %v", got, err, tt.want)
			}
			keepsSecrets(t, err)
		})
	}
}

// What is not HTTP must not end up, as the peer wrote it, in an error.
func TestOpenAI_NotHTTP(t *testing.T) {
	for name, raw := range map[string]string{
		"banner":           "SSH-2.0-zeppelin\r\n",
		"malformed header": "HTTP/1.1 200 OK\r\nzeppelin\r\n\r\n",
		"endless header":   "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("zeppelin", 64<<10),
		"closed at once":   "",
	} {
		t.Run(name, func(t *testing.T) {
			o := stub(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, raw) // the client may have seen enough
			})
			_, err := o.Transcribe(t.Context(), tone())
			if !errors.Is(err, ports.ErrTranscriberUnavailable) {
				t.Errorf("got %v", err)
			}
			keepsSecrets(t, err)
		})
	}
}

func TestOpenAI_FollowsNoRedirect(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		o := stub(t, func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+"/v1/audio/transcriptions?"+testKey, status)
		})
		_, err := o.Transcribe(t.Context(), tone())
		if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("status %d", status)) {
			t.Errorf("got %v", err)
		}
		if err := o.Check(t.Context()); err == nil {
			t.Error("a look at the service followed")
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

// A service that falls silent is left at once, whatever it has sent, and the
// call at its end is gone there too.
func TestOpenAI_CancelEndsTheUpstreamCall(t *testing.T) {
	for name, sent := range map[string]func(w http.ResponseWriter){
		"before the headers": nil, // a flush would send them
		"after the headers":  func(w http.ResponseWriter) { answer(w, 200, "") },
		"within the body":    func(w http.ResponseWriter) { answer(w, 200, `{"text":"`+secretWords) },
	} {
		t.Run(name, func(t *testing.T) {
			arrived, ended := make(chan struct{}), make(chan struct{})
			o := stub(t, func(w http.ResponseWriter, req *http.Request) {
				if sent != nil {
					sent(w)
					_ = http.NewResponseController(w).Flush() // the client may be gone
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
			if got, err := o.Transcribe(ctx, tone()); got != "" || !errors.Is(err, context.Canceled) || errors.Is(err, ports.ErrTranscriberUnavailable) {
				t.Errorf("got %q, %v; want context.Canceled", got, err)
			}
			<-ended // for ever, if the call were left running
		})
	}
}

func TestOpenAI_HasALimitOfItsOwn(t *testing.T) {
	o := stub(t, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	o.limit = 50 * time.Millisecond
	if _, err := o.Transcribe(t.Context(), tone()); !errors.Is(err, ports.ErrTranscriberUnavailable) || !errors.Is(err, errTooSlow) {
		t.Errorf("got %v", err)
	}
}

func TestOpenAI_Check(t *testing.T) {
	o := stub(t, func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet || req.URL.Path != "/v1/models" || req.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("got %s %s, %v", req.Method, req.URL.Path, req.Header)
		}
		answer(w, 200, `{"data":[]}`)
	})
	if err := o.Check(t.Context()); err != nil {
		t.Error(err)
	}
	bad := stub(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 401, testKey) })
	if err := bad.Check(t.Context()); !errors.Is(err, errStatus) || !strings.Contains(err.Error(), "401") {
		t.Errorf("a refused key: %v", err)
	}
	silent := stub(t, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := silent.Check(ctx); !errors.Is(err, errTooSlow) {
		t.Errorf("a silent service: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Nobody listens at a client's end, and no other program can while it is open.
	away := newOpenAI(t, Config{BaseURL: "http://" + conn.LocalAddr().String(), Model: "m"})
	if err := away.Check(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := away.Transcribe(t.Context(), tone()); !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, ports.ErrTranscriberUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestNewOpenAI(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  Config
		want []string // in the error; none: accepted
	}{
		"loopback":         {Config{BaseURL: "http://127.0.0.1:8000/v1", Model: "m"}, nil},
		"hosted":           {Config{BaseURL: "https://api.example.org/v1", Model: "m", Key: admission.NewSecret(testKey)}, nil},
		"plain, allowed":   {Config{BaseURL: "http://192.0.2.1/v1", Model: "m", AllowPlainHTTP: true}, nil},
		"plain":            {Config{BaseURL: "http://192.0.2.1/v1", Model: "m"}, []string{"allow_plain_http"}},
		"everything wrong": {Config{BaseURL: "ftp://x", Model: " ", Key: admission.NewSecret("a b\n")}, []string{"https://", "name", "key"}},
		"empty":            {Config{}, []string{"no URL", "name"}},
		"user":             {Config{BaseURL: "https://u:hunter2@x/v1", Model: "m"}, []string{"no user"}},
		"query":            {Config{BaseURL: "https://x/v1?key=hunter2", Model: "m"}, []string{"query"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewOpenAI(tt.cfg)
			if (err != nil) != (len(tt.want) > 0) {
				t.Fatalf("got %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%q does not hold %q, or holds a secret", err, part)
				}
			}
		})
	}
	o := newOpenAI(t, Config{BaseURL: "https://x/v1", Model: "m", Key: admission.NewSecret(testKey)})
	if text := fmt.Sprintf("%v %+v %#v", o, *o, o); strings.Contains(text, testKey) {
		t.Errorf("the key is printed: %s", text)
	}
}
