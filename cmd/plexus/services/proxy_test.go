package services

import (
	"bufio"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/cmd/plexus/config"
	"plexus/ports"
)

// childOf is set for the process that askAll runs in: what the environment says of
// proxies is read once in the life of a process.
const childOf = "PLEXUS_TEST_SERVICES"

// askAll asks each service at a host and prints what came of it.
func askAll() int {
	base := os.Getenv(childOf)
	search := strings.Replace(base, "http://NAME", "https://NAME", 1) // which is never in the clear
	cfg := config.Config{
		Search:     config.Search{Kind: "anvesha", URL: strings.ReplaceAll(search, "NAME", "search")},
		Model:      config.Model{Kind: "openai", BaseURL: strings.ReplaceAll(base, "NAME", "api") + "/v1", Name: "m", PlainHTTP: true},
		Recognizer: config.Recognizer{Kind: "openai", BaseURL: strings.ReplaceAll(base, "NAME", "speech") + "/v1", Name: "w", PlainHTTP: true},
	}
	s, err := Build(cfg, slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		fmt.Println("build:", err)
		return 1
	}
	defer s.Close()
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	_, err = s.Search.Search(ctx, ports.SearchRequest{Query: "q", Limit: 1})
	fmt.Println("search:", err)
	fmt.Println("warm:", s.WarmSearch(ctx))
	fmt.Println("model:", s.Model.Generate(ctx, ports.Prompt{User: "q"}, func(string) error { return nil }))
	_, err = s.Recognizer.Transcribe(ctx, make([]byte, 3200))
	fmt.Println("speech:", err)
	fmt.Println("check speech:", s.CheckRecognizer(ctx))
	return 0
}

// house is a proxy that opens no way, or a service that is none, at some address. It
// notes who is asked for.
type house struct {
	net.Listener
	answer string // of every request

	mu    sync.Mutex
	asked map[string]bool // "CONNECT api.invalid:443"
	auth  map[string]bool // Proxy-Authorization
}

func openHouse(t *testing.T, address, answer string) *house {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{Listener: l, answer: answer, asked: map[string]bool{}, auth: map[string]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { h.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return h
}

func (h *house) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	h.mu.Lock()
	h.asked[req.Method+" "+req.Host] = true
	h.auth[req.Header.Get("Proxy-Authorization")] = true
	h.mu.Unlock()
	_, _ = io.WriteString(conn, h.answer)
}

func (h *house) port() int { return h.Addr().(*net.TCPAddr).Port }

// runAskAll runs askAll with nothing of this process's proxies.
func runAskAll(t *testing.T, base string, env ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run=^$")
	child.Env = []string{childOf + "=" + base}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(strings.ToUpper(e), "="); !strings.HasSuffix(name, "_PROXY") {
			child.Env = append(child.Env, e)
		}
	}
	child.Env = append(child.Env, env...)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

const refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// Everything that is elsewhere goes through the proxy of the environment, by one
// rule, and no password of it is told.
func TestServices_ElsewhereGoThroughTheProxy(t *testing.T) {
	all := []string{"CONNECT api.invalid:443", "CONNECT search.invalid:443", "CONNECT speech.invalid:443"}
	for name, c := range map[string]struct {
		env  string // of which %d is the proxy's port
		more string
		want []string
	}{
		"HTTPS_PROXY":               {"HTTPS_PROXY=http://anna:hunter2@127.0.0.1:%d", "", all},
		"https_proxy":               {"https_proxy=http://anna:hunter2@127.0.0.1:%d", "", all},
		"an address without http":   {"HTTPS_PROXY=anna:hunter2@127.0.0.1:%d", "", all},
		"NO_PROXY for one":          {"HTTPS_PROXY=http://anna:hunter2@127.0.0.1:%d", "NO_PROXY=api.invalid", all[1:]},
		"no_proxy for a domain":     {"HTTPS_PROXY=http://anna:hunter2@127.0.0.1:%d", "no_proxy=.invalid", nil},
		"HTTP_PROXY is not for TLS": {"HTTP_PROXY=http://anna:hunter2@127.0.0.1:%d", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := openHouse(t, "127.0.0.1:0", refusal)
			out := runAskAll(t, "https://NAME.invalid", fmt.Sprintf(c.env, proxy.port()), c.more)
			proxy.mu.Lock()
			defer proxy.mu.Unlock()
			if got := slices.Sorted(maps.Keys(proxy.asked)); !slices.Equal(got, c.want) {
				t.Errorf("the proxy was asked for %q; want %q\n%s", got, c.want, out)
			}
			if len(c.want) > 0 && (len(proxy.auth) != 1 || !proxy.auth["Basic YW5uYTpodW50ZXIy"]) {
				t.Errorf("with authorization %v", proxy.auth)
			}
			if got := strings.Count(out, "the proxy of the environment answers 407: it wants a user and a password"); got < len(c.want) {
				t.Errorf("%d services say why:\n%s", got, out)
			}
			if strings.Contains(out, "hunter2") || strings.Contains(out, "YW5uYTpodW50ZXIy") {
				t.Errorf("the password is told:\n%s", out)
			}
		})
	}
}

// What is allowed in the clear goes through the proxy for that, and not through the other.
func TestServices_PlainGoesThroughItsProxy(t *testing.T) {
	secured, plain := openHouse(t, "127.0.0.1:0", refusal), openHouse(t, "127.0.0.1:0", refusal)
	out := runAskAll(t, "http://NAME.invalid", fmt.Sprintf("HTTPS_PROXY=http://127.0.0.1:%d", secured.port()),
		fmt.Sprintf("http_proxy=http://anna:hunter2@127.0.0.1:%d", plain.port()))
	for h, want := range map[*house][]string{
		secured: {"CONNECT search.invalid:443"},
		plain:   {"GET speech.invalid", "POST api.invalid", "POST speech.invalid"},
	} {
		h.mu.Lock()
		if got := slices.Sorted(maps.Keys(h.asked)); !slices.Equal(got, want) {
			t.Errorf("asked for %q; want %q\n%s", got, want, out)
		}
		h.mu.Unlock()
	}
	if strings.Contains(out, "hunter2") || strings.Count(out, "status 407") != 3 {
		t.Errorf("it says\n%s", out)
	}
}

// A proxy that is away is named as the cause.
func TestServices_AProxyThatCannotBeUsedIsNamed(t *testing.T) {
	away := openHouse(t, "127.0.0.1:0", "")
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{
		fmt.Sprintf("HTTPS_PROXY=http://anna:hunter2@127.0.0.1:%d", away.port()): "the proxy of the environment cannot be reached: ",
		"HTTPS_PROXY=http://anna:hunter2@proxy.invalid:3128":                     "the proxy of the environment cannot be reached: ",
	} {
		out := runAskAll(t, "https://NAME.invalid", env)
		if strings.Count(out, want) != 5 || strings.Contains(out, "hunter2") {
			t.Errorf("%s: want %q of each service and no password:\n%s", env, want, out)
		}
	}
}

// A proxy whose address cannot be read is passed over by the library. Nothing goes out
// past it, and the cause is told without the address.
func TestServices_AProxyThatCannotBeReadIsNotPassedOver(t *testing.T) {
	for _, value := range []string{
		"http://anna:hunter2%@127.0.0.1:%d", "http://anna:hunter2/@127.0.0.1:%d", "http://anna:hunter2#@127.0.0.1:%d",
		"http://anna:hunter2", "http://127.0.0.1:port", "ftp://anna:hunter2@127.0.0.1:%d", "http:// hunter2", "://hunter2",
		"http://hunter2:12#@127.0.0.1:%d", "hunter2:12/x@127.0.0.1:%d", "http://hunter2:12?@127.0.0.1:%d",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			proxy := openHouse(t, "127.0.0.1:0", refusal)
			value = strings.Replace(value, "%d", strconv.Itoa(proxy.port()), 1)
			for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
				out := runAskAll(t, "https://NAME.invalid", name+"="+value)
				if strings.Count(out, "the proxy of the environment has an address that cannot be read") != 5 || strings.Contains(out, "hunter2") {
					t.Errorf("%s=%s: it says\n%s", name, value, out)
				}
			}
			proxy.mu.Lock()
			defer proxy.mu.Unlock()
			if len(proxy.asked) != 0 {
				t.Errorf("the proxy was asked for %v", proxy.asked)
			}
		})
	}
}

// What is on this machine is never asked through a proxy, whatever it is called.
func TestServices_LoopbackGoesThroughNoProxy(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "127.8.9.10", "[::1]", "localhost", "LocalHost"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			listen := host
			if strings.EqualFold(host, "localhost") {
				listen = "127.0.0.1"
			}
			proxy := openHouse(t, "127.0.0.1:0", refusal)
			here := openHouse(t, listen+":0", "HTTP/1.1 503 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			env := fmt.Sprintf("_PROXY=http://127.0.0.1:%d", proxy.port())
			out := runAskAll(t, fmt.Sprintf("http://%s:%d", host, here.port()), "HTTP"+env, "HTTPS"+env, "http"+strings.ToLower(env))
			here.mu.Lock()
			defer here.mu.Unlock()
			if len(proxy.asked) != 0 || len(here.asked) != 2 { // by GET and by POST
				t.Errorf("asked the proxy for %v and this machine for %v\n%s", proxy.asked, here.asked, out)
			}
		})
	}
}

// What a proxy opens the way to is asked over TLS as if there were none.
func TestServices_AnswerThroughTheProxy(t *testing.T) {
	asked := make(chan string, 16)
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Proto + " " + r.Host + r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok","results":[],"text":"hello","choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`)
	}))
	service.EnableHTTP2 = true
	service.StartTLS()
	defer service.Close()
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		there, err := net.Dial("tcp", service.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		here, begun, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		back := make(chan struct{})
		go func() {
			defer close(back)
			_, _ = io.Copy(here, there)
			_ = here.Close()
		}()
		_, _ = io.Copy(there, begun)
		_ = there.Close()
		<-back
	})
	for scheme, speaks := range map[string]string{"http": "HTTP/2.0 ", "https": "HTTP/"} {
		t.Run(scheme, func(t *testing.T) {
			way := httptest.NewUnstartedServer(proxy)
			way.EnableHTTP2 = true
			if scheme == "https" {
				way.StartTLS()
			} else {
				way.Start()
			}
			defer way.Close()
			out := runAskAll(t, "https://NAME.example.com", "HTTPS_PROXY="+way.URL, "SSL_CERT_FILE="+trusted, "SSL_CERT_DIR="+t.TempDir())
			if n := strings.Count(out, ": <nil>"); n != 5 {
				t.Errorf("%d of five went well:\n%s", n, out)
			}
			for len(asked) > 0 {
				if one := <-asked; !strings.HasPrefix(one, speaks) {
					t.Errorf("asked in %s", one)
				}
			}
		})
	}
}
