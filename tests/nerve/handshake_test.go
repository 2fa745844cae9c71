package nerve_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
	"plexus/ports"
	"plexus/usecases/ask"
)

func TestH1_RightTokenWithoutOrigin(t *testing.T) {
	f := start(t, setup{})
	f.admits(t, "anvesha-v1."+token, offer(token))
	if strings.Contains(f.log.String(), token) {
		t.Error("the log holds the token")
	}
}

func TestH2_RightTokenAndExtensionOrigin(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	f.admits(t, "anvesha-v1."+token, offer(token), from(ourOrigin))
	// An id that no real browser gives passes too: the alphabet is not ours to judge.
	f.admits(t, "anvesha-v1."+token, offer(token), from("chrome-extension://abcdefghijklmnopqrstuvwxyz012345"))
}

func TestH3_WrongToken(t *testing.T) {
	f := start(t, setup{})
	f.refuses(t, offer(wrongToken()))
	f.refusedFor(t, admission.NoToken)
}

func TestH4_NoProtocolAndNoApproval(t *testing.T) {
	f := start(t, setup{})
	f.refuses(t)
	f.refusedFor(t, admission.NoToken)
	f.refuses(t, from(ourOrigin))
	f.refusedFor(t, admission.NoKey)
}

// TestH5_WebOriginsNeverPass holds with the right token and with every extension
// listed: what looks like an extension's id in another scheme is a web page.
func TestH5_WebOriginsNeverPass(t *testing.T) {
	id := strings.TrimPrefix(ourOrigin, "chrome-extension://")
	f := start(t, setup{origins: []string{ourOrigin, otherOrigin, "https://evil.example"}})
	for _, origin := range []string{
		"null", "https://evil.example", "http://evil.example", "http://127.0.0.1", "http://localhost:9001",
		"http://" + f.addr, "https://" + id, "http://" + id + ":80", "file://", "data:", "",
		ourOrigin + ".evil.example", ourOrigin + "/", ourOrigin + "/x", ourOrigin + ":443", "chrome-extension://",
		strings.Replace(ourOrigin, "chrome-extension", "Chrome-Extension", 1), strings.ToUpper(ourOrigin),
		"chrome-extension:" + id, "extension://" + id, "edge-extension://" + id, ourOrigin + " " + ourOrigin,
		ourOrigin + "," + otherOrigin, "chrome-extension://" + strings.Repeat("a", 300),
	} {
		t.Run(origin, func(t *testing.T) {
			f.refuses(t, offer(token), from(origin))
			f.refusedFor(t, admission.WebOrigin)
		})
	}
	t.Run("two headers", func(t *testing.T) { f.refuses(t, offer(token), from(ourOrigin), from(ourOrigin)) })
	for _, origin := range []string{ourOrigin, otherOrigin, "safari-web-extension://9F5A7C0E-1111"} {
		f.admits(t, "anvesha-v1."+token, offer(token), from(origin))
	}
}

func TestH6_ListedOriginWithWrongToken(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	f.refuses(t, offer(wrongToken()), from(ourOrigin))
	f.refuses(t, "Sec-WebSocket-Protocol: chat", from(ourOrigin)) // an offer must be right
}

func TestH7_RightTokenWithoutOriginWhereOriginsAreListed(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	f.admits(t, "anvesha-v1."+token, offer(token))
}

// TestH8_RefusalsLookAlike compares the whole answer of every cause, byte by byte.
func TestH8_RefusalsLookAlike(t *testing.T) {
	f := start(t, setup{origins: []string{otherOrigin}})
	blocked := keyOf(0)
	f.refuses(t, from(ourOrigin), offer(blocked))
	remove(t, f.browsers, f.inState(t, ourOrigin, blocked, admission.Waiting).ID)
	here := hostIs(f.addr)
	var first string
	for name, c := range map[string]struct {
		cause admission.Cause
		lines []string
	}{
		"wrong token":         {admission.NoToken, []string{here, offer(wrongToken())}},
		"nothing":             {admission.NoToken, []string{here}},
		"no key":              {admission.NoKey, []string{here, from(ourOrigin)}},
		"web page":            {admission.WebOrigin, []string{here, from("https://evil.example"), offer(token)}},
		"null":                {admission.WebOrigin, []string{here, from("null"), offer(token)}},
		"two origins":         {admission.WebOrigin, []string{here, from(ourOrigin), from(ourOrigin), offer(token)}},
		"first key":           {admission.KeyWaiting, []string{here, from(ourOrigin), offer(keyOf(1))}},
		"removed key":         {admission.KeyBlocked, []string{here, from(ourOrigin), offer(blocked)}},
		"other offer":         {admission.WrongOffer, []string{here, from(otherOrigin), "Sec-WebSocket-Protocol: chat"}},
		"other host":          {admission.WrongHost, []string{hostIs("evil.example"), offer(token)}},
		"proxy":               {admission.Proxied, []string{here, offer(token), "X-Forwarded-For: 10.0.0.1"}},
		"listed, unknown key": {admission.KeyWaiting, []string{here, from(otherOrigin), offer(keyOf(2))}},
	} {
		got := exchange(t, f.addr, requestText("GET / HTTP/1.1", upgradeLines(c.lines...)...))
		f.refusedFor(t, c.cause)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%s: the answer is %q, another cause gave %q", name, got, first)
		}
	}
	if want := "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; first != want {
		t.Errorf("the answer is %q, want %q", first, want)
	}
}

func TestH8_AnotherUserLooksTheSame(t *testing.T) {
	plain := start(t, setup{})
	want := exchange(t, plain.addr, requestText("GET / HTTP/1.1", upgradeLines(hostIs(plain.addr))...))
	for _, ours := range []func(net.Conn) (bool, error){
		func(net.Conn) (bool, error) { return false, nil },
		func(net.Conn) (bool, error) { return false, hostfiles.ErrPeerUnknown },
		func(net.Conn) (bool, error) { return true, hostfiles.ErrPeerUnknown }, // doubt is a no
	} {
		s := setup{}
		s.config.PeerIsOurs = ours
		f := start(t, s)
		if got := exchange(t, f.addr, requestText("GET / HTTP/1.1", upgradeLines(hostIs(f.addr), offer(token))...)); got != want {
			t.Errorf("the answer is %q, want %q", got, want)
		}
		f.refusedFor(t, admission.ForeignUser)
		if got := exchange(t, f.addr, requestText("GET /healthz HTTP/1.1", hostIs(f.addr))); status(got) != "403" {
			t.Errorf("/healthz answered another user %q", got)
		}
	}
	if runtime.GOOS == "linux" { // elsewhere nobody can tell
		s := setup{}
		s.config.PeerIsOurs = hostfiles.TCPPeerIsOurs
		start(t, s).admits(t, "anvesha-v1."+token, offer(token))
	}
}

func TestH9_OnlyTheRightOfferIsEchoed(t *testing.T) {
	f := start(t, setup{})
	right := "anvesha-v1." + token
	f.admits(t, right, "Sec-WebSocket-Protocol: chat, "+right)
	f.admits(t, right, "Sec-WebSocket-Protocol: chat,"+right+" , other")
	f.admits(t, right, "Sec-WebSocket-Protocol: anvesha-v1."+wrongToken()+", "+right)
	// One that differs in case alone comes first and is not the right one.
	f.admits(t, right, "Sec-WebSocket-Protocol: ANVESHA-V1."+strings.ToUpper(token)+", "+right)
}

func TestH10_OffersInTwoLines(t *testing.T) {
	f := start(t, setup{})
	f.admits(t, "anvesha-v1."+token, "Sec-WebSocket-Protocol: chat", offer(token))
}

func TestH11_AlmostRightIsWrong(t *testing.T) {
	f := start(t, setup{})
	for _, entry := range []string{
		"ANVESHA-V1." + token, "Anvesha-v1." + token, "anvesha-v1." + strings.ToUpper(token),
		"anvesha-v1." + token + "0", "anvesha-v1." + token[1:], "anvesha-v1.", "anvesha-v1", token,
		"anvesha-v2." + token, "anvesha-v1. " + token, `"anvesha-v1.` + token + `"`,
	} {
		f.refuses(t, "Sec-WebSocket-Protocol: "+entry)
	}
	// What only looks like a key does not reach the owner's list.
	for _, key := range []string{strings.ToUpper(keyOf(0)), keyOf(0)[1:], keyOf(0) + "0", ""} {
		f.refuses(t, from(ourOrigin), offer(key))
		f.refusedFor(t, admission.WrongOffer)
		if rows, err := f.browsers.Extensions(t.Context()); err != nil || len(rows) != 0 {
			t.Fatalf("%q waits (%v)", key, err)
		}
	}
	// Not even a header value: the HTTP parser says so, before anything is compared.
	got := exchange(t, f.addr, requestText("GET / HTTP/1.1", upgradeLines(hostIs(f.addr), offer(token+"\x01"))...))
	if status(got) != "400" {
		t.Errorf("a control character was answered %q", got)
	}
}

func TestH12_TokenInTheURL(t *testing.T) {
	f := start(t, setup{})
	for _, target := range []string{"/?token=" + token, "/?anvesha-v1." + token, "/anvesha-v1." + token} {
		got := exchange(t, f.addr, requestText("GET "+target+" HTTP/1.1", upgradeLines(hostIs(f.addr))...))
		if status(got) != "403" {
			t.Errorf("answered %q", got)
		}
	}
	if strings.Contains(f.log.String(), token) {
		t.Error("the log holds the token")
	}
	got := exchange(t, f.addr, requestText("GET /any/path?x=1 HTTP/1.1", upgradeLines(hostIs(f.addr), offer(token))...))
	if status(got) != "101" {
		t.Errorf("another path was answered %q, want 101", got)
	}
}

// TestH13_ImproperUpgrades: none is upgraded, and right and wrong token cannot
// be told apart.
func TestH13_ImproperUpgrades(t *testing.T) {
	f := start(t, setup{})
	here := hostIs(f.addr)
	without := func(name string, more ...string) []string {
		var kept []string
		for _, line := range upgradeLines(here) {
			if !strings.HasPrefix(line, name+":") {
				kept = append(kept, line)
			}
		}
		return append(kept, more...)
	}
	for name, c := range map[string]struct {
		first string
		lines []string
	}{
		"plain GET":        {"GET / HTTP/1.1", []string{here}},
		"POST":             {"POST / HTTP/1.1", []string{here, "Content-Length: 0"}},
		"POST, all else":   {"POST / HTTP/1.1", upgradeLines(here, "Content-Length: 0")},
		"HEAD":             {"HEAD / HTTP/1.1", upgradeLines(here)},
		"OPTIONS":          {"OPTIONS / HTTP/1.1", upgradeLines(here)},
		"OPTIONS of all":   {"OPTIONS * HTTP/1.1", []string{here}},
		"HTTP/1.0":         {"GET / HTTP/1.0", upgradeLines(here)},
		"version 12":       {"GET / HTTP/1.1", without("Sec-WebSocket-Version", "Sec-WebSocket-Version: 12")},
		"no version":       {"GET / HTTP/1.1", without("Sec-WebSocket-Version")},
		"no key":           {"GET / HTTP/1.1", without("Sec-WebSocket-Key")},
		"short key":        {"GET / HTTP/1.1", without("Sec-WebSocket-Key", "Sec-WebSocket-Key: c2hvcnQ=")},
		"key, not base64":  {"GET / HTTP/1.1", without("Sec-WebSocket-Key", "Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!!!")},
		"two keys":         {"GET / HTTP/1.1", upgradeLines(here, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")},
		"no Upgrade":       {"GET / HTTP/1.1", without("Upgrade")},
		"no Connection":    {"GET / HTTP/1.1", without("Connection")},
		"other Upgrade":    {"GET / HTTP/1.1", without("Upgrade", "Upgrade: h2c")},
		"healthz, POST":    {"POST /healthz HTTP/1.1", []string{here, "Content-Length: 0"}},
		"body on its way":  {"POST / HTTP/1.1", []string{here, "Content-Length: 9999999"}},
		"local preflight":  {"OPTIONS / HTTP/1.1", []string{here, "Access-Control-Request-Local-Network: true"}},
		"private network":  {"OPTIONS / HTTP/1.1", []string{here, "Access-Control-Request-Private-Network: true"}},
		"unknown method":   {"BREW / HTTP/1.1", []string{here}},
		"keep-alive token": {"GET / HTTP/1.1", without("Connection", "Connection: keep-alive")},
	} {
		t.Run(name, func(t *testing.T) {
			none := exchange(t, f.addr, requestText(c.first, c.lines...))
			if code := strings.TrimPrefix(none, "HTTP/1.0 "); status(code) != "426" {
				t.Errorf("answered %q, want 426", none)
			}
			for _, key := range []string{token, wrongToken()} {
				if got := exchange(t, f.addr, requestText(c.first, append(c.lines, offer(key))...)); got != none {
					t.Errorf("the token changed the answer: %q, without it %q", got, none)
				}
			}
		})
	}
	f.admits(t, "anvesha-v1."+token, offer(token))
}

// TestH14_HostHeaders: a page whose name was bound to 127.0.0.1 sends its own
// name, or none of ours.
func TestH14_HostHeaders(t *testing.T) {
	f := start(t, setup{})
	_, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.0.0.1:" + port, "localhost:" + port, "LOCALHOST:" + port} {
		got := exchange(t, f.addr, requestText("GET / HTTP/1.1", upgradeLines(hostIs(name), offer(token))...))
		if status(got) != "101" {
			t.Errorf("Host %s was answered %q, want 101", name, got)
		}
	}
	for _, name := range []string{
		"evil.example", "evil.example:" + port, "127.0.0.1", "localhost", "127.0.0.1:1", "localhost:80", "localhost.:" + port,
		"127.0.0.1.:" + port, "localhost.attacker.example:" + port, "127.0.0.1.nip.io:" + port, "[::1]:" + port, "[::]:" + port,
		"[::ffff:127.0.0.1]:" + port, "0.0.0.0:" + port, "127.1:" + port, "2130706433:" + port, "127.0.0.2:" + port, ":" + port,
		"host.tailnet.ts.net", "127.0.0.1:0" + port, "127.0.0.1:" + port + ":" + port, "",
	} {
		for _, first := range []string{"GET / HTTP/1.1", "GET /healthz HTTP/1.1", "OPTIONS * HTTP/1.1"} {
			got := exchange(t, f.addr, requestText(first, upgradeLines(hostIs(name), offer(token))...))
			if code := status(got); code != "403" && code != "400" {
				t.Errorf("%s with Host %q was answered %q, want 403", first, name, got)
			}
		}
		got := exchange(t, f.addr, requestText("GET /healthz HTTP/1.1", hostIs(name)))
		if code := status(got); code != "403" && code != "400" {
			t.Errorf("/healthz with Host %q was answered %q, want 403", name, got)
		}
	}
	for _, lines := range [][]string{{}, {hostIs(f.addr), hostIs("evil.example")}, {hostIs(f.addr), hostIs(f.addr)}} {
		got := exchange(t, f.addr, requestText("GET / HTTP/1.1", upgradeLines(append(lines, offer(token))...)...))
		if status(got) != "400" {
			t.Errorf("%d Host lines were answered %q, want 400", len(lines), got)
		}
	}
}

func TestH14_ProxiedRequests(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	for _, line := range []string{
		"Forwarded: for=10.0.0.1", "forwarded: for=10.0.0.1", "X-Forwarded-For: 10.0.0.1", "x-forwarded-host: a.example",
		"X-Forwarded-Proto: https", "Tailscale-User-Login: someone@example.org", "tailscale-user-name: Someone", "X-Forwarded-For:",
	} {
		f.refuses(t, offer(token), line)
		f.refusedFor(t, admission.Proxied)
		for _, first := range []string{"GET / HTTP/1.1", "GET /healthz HTTP/1.1", "POST / HTTP/1.1"} {
			got := exchange(t, f.addr, requestText(first, hostIs(f.addr), from(ourOrigin), line))
			if status(got) != "403" || strings.Contains(got, "Access-Control") {
				t.Errorf("%s with %q was answered %q", first, line, got)
			}
		}
	}
}

// TestH15_SlowHeaders: neither silence nor one byte at a time holds a place for
// longer than five seconds.
func TestH15_SlowHeaders(t *testing.T) {
	t.Parallel()
	f := start(t, setup{})
	for name, every := range map[string]time.Duration{"stalled": time.Hour, "trickled": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", f.addr)
			if err != nil {
				t.Fatal(err)
			}
			prepare(t, conn)
			if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: "+f.addr+"\r\nX-Slow: "); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			defer close(ended)
			go func() {
				tick := time.NewTicker(every)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
						_, _ = io.WriteString(conn, "x") // refused once it is dropped
					case <-ended:
						return
					}
				}
			}()
			if took := dropped(t, conn); took < 4*time.Second || took > 8*time.Second {
				t.Errorf("dropped after %v, want 5 s", took)
			}
		})
	}
}

func TestH16_HugeHeaders(t *testing.T) {
	f := start(t, setup{})
	f.admits(t, "anvesha-v1."+token, offer(token), tooLong(8<<10))
	for _, request := range []string{
		requestText("GET / HTTP/1.1", upgradeLines(hostIs(f.addr), offer(token), tooLong(17<<10))...),
		requestText("GET / HTTP/1.1", upgradeLines(append(strings.Split(strings.Repeat("X: y\n", 5000), "\n")[:5000], hostIs(f.addr), offer(token))...)...),
		"GET /" + strings.Repeat("p", 17<<10) + " HTTP/1.1\r\n",
	} {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		prepare(t, conn)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if took := dropped(t, conn); took > 3*time.Second {
			t.Errorf("dropped after %v, want at once", took)
		}
	}
	f.admits(t, "anvesha-v1."+token, offer(token))
}

func TestH17_AThousandWrongHandshakes(t *testing.T) {
	f := start(t, setup{})
	wrong := func(n int) {
		lines := [][]string{{offer(wrongToken())}, {from(ourOrigin), offer(keyOf(n))}, {from("https://evil.example"), offer(token)}, {}}
		_, response, err := wstest.Dial(f.addr, lines[n%len(lines)]...)
		if err != nil || response.StatusCode != http.StatusForbidden {
			t.Fatalf("handshake %d: %v, %v", n, response, err)
		}
	}
	for n := range 50 {
		wrong(n)
	}
	before := measure(t, f)
	for n := range 1000 {
		wrong(n)
	}
	before.compare(t, f)
	f.admits(t, "anvesha-v1."+token, offer(token))
	if rows, err := f.browsers.Extensions(t.Context()); err != nil || len(rows) > admission.MaxWaitingPerOrigin {
		t.Errorf("%d rows wait (%v)", len(rows), err)
	}
}

func TestH18_LoopbackOnly(t *testing.T) {
	f := start(t, setup{})
	_, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"127.0.0.2", "::1"}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			others = append(others, ip.IP.String())
		}
	}
	for _, other := range others {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(other, port), 2*time.Second)
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s reaches the listener", other)
		}
	}
}

// TestH20_FramesThatComeTooEarly: what is sent along with the upgrade is read
// after 101, and never where there is none.
func TestH20_FramesThatComeTooEarly(t *testing.T) {
	asked := make(chan struct{}, 1)
	f := start(t, setup{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		asked <- struct{}{}
		_ = sink.Token(ctx, "", true) // the peer may be gone
	}})
	early := func(key string) (*wstest.Peer, string) {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		prepare(t, conn)
		request := []byte(requestText("GET / HTTP/1.1", upgradeLines(hostIs(f.addr), offer(key))...))
		for _, frame := range [][]byte{askFrame(1), ping(2)} {
			request = append(request, wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: frame})...)
		}
		if _, err := conn.Write(request); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, len("HTTP/1.1 101"))
		if _, err := io.ReadFull(conn, head); err != nil {
			t.Fatal(err)
		}
		var rest []byte
		for b := make([]byte, 1); !bytes.HasSuffix(rest, []byte("\r\n\r\n")); rest = append(rest, b...) {
			if _, err := io.ReadFull(conn, b); err != nil {
				t.Fatal(err)
			}
		}
		return wstest.NewPeer(conn), string(head)
	}
	peer, head := early(wrongToken())
	if head != "HTTP/1.1 403" {
		t.Fatalf("answered %q first", head)
	}
	if took := dropped(t, peer); took > 3*time.Second {
		t.Errorf("dropped after %v", took)
	}
	if len(asked) != 0 {
		t.Fatal("a refused peer's query was answered")
	}
	peer, head = early(token)
	if head != "HTTP/1.1 101" {
		t.Fatalf("answered %q first", head)
	}
	untilEcho(t, peer, 2)
	<-asked
}
