package novaws

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/gate"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
)

// TestN3_PathsAreComparedByteForByte: any path upgrades, and all but three are
// told 4004 at once.
func TestN3_PathsAreComparedByteForByte(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		for _, target := range []string{
			"/", "/debug-board", "/client", "/client/v1/", "/client/v1?x=1", "/client/v1?", "/client/v2", "//client/v1", "/client//v1",
			"/client/%761", "/Client/v1", "/client/./v1", "/x/../client/v1", "http://" + ownName + "/client/v1",
			"/client/pair/", "/client/pair?x", "/client/pair-admin/", "/client/pair-admi%6e", "/healthz",
		} {
			p := h.start(h.open(target))
			p.wantEnd(4004)
			if p.end.Error() != `closed with 4004 "unsupported endpoint"` {
				t.Errorf("%s: %v", target, p.end)
			}
		}
		h.connect("").alive()
	})
	if attached, _ := d.admissions(); attached != 1 {
		t.Errorf("%d admissions", attached)
	}
}

// answerTo is the answer to an upgrade that change has made something else.
func answerTo(h *harness, change func(r *http.Request)) *httptest.ResponseRecorder {
	r := wstest.UpgradeRequest(ownName, clientPath)
	change(r)
	w := httptest.NewRecorder()
	h.s.ServeHTTP(w, r)
	return w
}

// TestRequest_ThatIsNoUpgradeIs426: with one line, whatever the path; except the
// health check.
func TestRequest_ThatIsNoUpgradeIs426(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		for name, change := range map[string]func(r *http.Request){
			"a plain GET":         func(r *http.Request) { r.Header = http.Header{} },
			"a POST":              func(r *http.Request) { r.Method = http.MethodPost },
			"a HEAD":              func(r *http.Request) { r.Method = http.MethodHead },
			"OPTIONS":             func(r *http.Request) { r.Method = http.MethodOptions },
			"HTTP/2":              func(r *http.Request) { r.ProtoMajor, r.ProtoMinor, r.Header = 2, 0, http.Header{} },
			"HTTP/2 with headers": func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 2, 0 },
			"extended CONNECT":    func(r *http.Request) { r.Method, r.ProtoMajor, r.ProtoMinor = http.MethodConnect, 2, 0 },
			"HTTP/1.0":            func(r *http.Request) { r.ProtoMinor = 0 },
			"version 8":           func(r *http.Request) { r.Header.Set("Sec-WebSocket-Version", "8") },
			"no key":              func(r *http.Request) { r.Header.Del("Sec-WebSocket-Key") },
			"a short key":         func(r *http.Request) { r.Header.Set("Sec-WebSocket-Key", "eA==") },
			"pairing":             func(r *http.Request) { r.Header = http.Header{}; r.RequestURI = pairAdminPath },
		} {
			w := answerTo(h, change)
			if w.Code != http.StatusUpgradeRequired || w.Header().Get("Upgrade") != "websocket" || strings.Count(w.Body.String(), "\n") != 0 {
				t.Errorf("%s: %d %q %v", name, w.Code, w.Body, w.Header())
			}
		}
		w := answerTo(h, func(r *http.Request) { r.Header = http.Header{}; r.URL.Path, r.RequestURI = "/healthz", "/healthz" })
		if w.Code != http.StatusOK || w.Body.String() != "ok" {
			t.Errorf("the health check: %d %q", w.Code, w.Body)
		}
	})
}

// TestK8_HostAndOrigin: each row is refused with 403 on every path, upgrade or
// not, and noted; nothing that was sent is repeated in the answer.
func TestK8_HostAndOrigin(t *testing.T) {
	for name, c := range map[string]struct {
		host    string
		origins []string
		cause   admission.Cause // "" is let through
	}{
		"own name":            {ownName, nil, ""},
		"its page":            {ownName, []string{"https://" + ownName}, ""},
		"loopback":            {"127.0.0.1:18787", nil, ""},
		"localhost":           {"LocalHost:18787", nil, ""},
		"IPv6 loopback":       {"[::1]:18787", nil, ""},
		"another port":        {"127.0.0.1:9010", nil, admission.WrongHost},
		"no port":             {"127.0.0.1", nil, admission.WrongHost},
		"rebinding":           {"evil.example:18787", nil, admission.WrongHost},
		"no host":             {"", nil, admission.WrongHost},
		"suffix":              {ownName + ".evil.example", nil, admission.WrongHost},
		"a web page":          {ownName, []string{"https://evil.example"}, admission.WebOrigin},
		"plain http":          {ownName, []string{"http://" + ownName}, admission.WebOrigin},
		"null":                {ownName, []string{"null"}, admission.WebOrigin},
		"an extension":        {ownName, []string{"chrome-extension://abcdefghijklmnopabcdefghijklmnop"}, admission.WebOrigin},
		"an empty one":        {ownName, []string{""}, admission.WebOrigin},
		"two, both right":     {ownName, []string{"https://" + ownName, "https://" + ownName}, admission.WebOrigin},
		"loopback and a page": {"127.0.0.1:18787", []string{"http://127.0.0.1:18787"}, admission.WebOrigin},
	} {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			h.local()
			for _, target := range []string{clientPath, pairPath, pairAdminPath, "/x", "/healthz"} {
				w := answerTo(h, func(r *http.Request) { // no upgrade, so that what is let through ends as 426 or 200
					r.RequestURI, r.URL.Path, r.Host, r.Header = target, target, c.host, http.Header{}
					if c.origins != nil {
						r.Header["Origin"] = c.origins
					}
				})
				if refused := w.Code == http.StatusForbidden; refused != (c.cause != "") {
					t.Errorf("%s at %s: %d", name, target, w.Code)
				}
				if strings.Contains(w.Body.String(), "evil") || w.Header().Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s: %q %v", name, w.Body, w.Header())
				}
				if c.cause == admission.WrongHost && (!strings.Contains(w.Body.String(), "public_url") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain")) {
					t.Errorf("%s: %q does not name the setting", name, w.Body)
				}
			}
		})
		if c.cause != "" && !slices.Equal(d.refused, []admission.Cause{c.cause, c.cause, c.cause, c.cause, c.cause}) {
			t.Errorf("%s: noted %v", name, d.refused)
		}
	}
}

// TestK8_PairAdminThroughAProxyIsRefused: unless the owner allows it.
func TestK8_PairAdminThroughAProxyIsRefused(t *testing.T) {
	for _, header := range []string{"", "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "Tailscale-User-Login", "Tailscale-Funnel-Request"} {
		for _, allowed := range []bool{false, true} {
			d := newFakeHost()
			inFakeTime(t, d, func(t *testing.T, h *harness) {
				if header != "" {
					h.start(h.open(clientPath, header, "x"))
					h.start(h.open(pairPath, header, "x"))
				}
				r := wstest.UpgradeRequest(h.local(), pairAdminPath)
				if header != "" {
					r.Header.Set(header, "x")
				} else {
					r.Host = ownName // a proxy that leaves no mark but the name
				}
				p, response := wstest.Pipe(h.s, r)
				if p != nil {
					h.peers = append(h.peers, p)
				}
				if (p != nil) != allowed || !allowed && response.StatusCode != http.StatusForbidden {
					t.Errorf("%s, allowed %v: %d", header, allowed, response.StatusCode)
				}
			}, func(c *Config) { c.RemoteAdmin = allowed })
			if noted := slices.Equal(d.refused, []admission.Cause{admission.Proxied}); noted == allowed {
				t.Errorf("%s, allowed %v: noted %v", header, allowed, d.refused)
			}
		}
	}
}

func TestPaused_Is503AtTheUpgrade(t *testing.T) {
	d := newFakeHost()
	d.paused = true
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		if p, response := wstest.Pipe(h.s, wstest.UpgradeRequest(ownName, clientPath)); p != nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%d", response.StatusCode)
		}
	})
}

// TestG12_SixtyFourConnections: the next one is told 503, and gets a place when
// one is free.
func TestG12_SixtyFourConnections(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		var last *wstest.Peer
		for range 3 {
			last = h.open(pairPath)
		}
		if p, response := wstest.Pipe(h.s, wstest.UpgradeRequest(ownName, clientPath)); p != nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one too many got %d", response.StatusCode)
		}
		_ = last.Close()
		synctest.Wait()
		h.connect("")
	}, func(c *Config) { c.Places = gate.Limits{Connections: 3, Spare: 1} })
	if DefaultPlaces().Connections != 64 {
		t.Error("the default is not that of the protocol")
	}
}

// memory is a listener of in-memory connections.
type memory struct {
	queue  chan net.Conn
	closed chan struct{}
}

func (m memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.queue:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}
func (m memory) Close() error { close(m.closed); return nil }
func (memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 18787} }

func (m memory) dial() net.Conn {
	ours, theirs := net.Pipe()
	m.queue <- theirs
	return ours
}

// TestHalfOpen_AThousandSocketsKeepNobodyOut: sockets that send nothing, or half
// a request, cost a phone no time, and are gone after five seconds.
func TestHalfOpen_AThousandSocketsKeepNobodyOut(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		ln, served := memory{make(chan net.Conn), make(chan struct{})}, make(chan error, 1)
		go func() { served <- h.s.Serve(ln) }()
		var silent []net.Conn
		for i := range 1000 {
			c := ln.dial()
			if i < 64 && i%2 == 0 {
				if _, err := io.WriteString(c, "GET /client/v1 HTTP/1.1\r\nHost: x\r\n"); err != nil {
					t.Fatal(err)
				}
			}
			silent = append(silent, c)
		}
		began := time.Now()
		c := ln.dial()
		fmt.Fprintf(c, "GET /client/v1 HTTP/1.1\r\nHost: 127.0.0.1:18787\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		r := bufio.NewReader(c)
		response, err := http.ReadResponse(r, nil)
		if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("the phone got %v, %v", response, err)
		}
		p := wstest.NewPeer(c)
		h.peers = append(h.peers, p)
		client := h.start(p)
		client.say(hello(masterToken, ""))
		client.welcomed()
		within(t, "the phone's way in", time.Since(began), 0, 0)
		time.Sleep(6 * time.Second)
		for i, c := range silent {
			_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Fatalf("socket %d is still open: %v", i, err)
			}
		}
		h.shutdown()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
