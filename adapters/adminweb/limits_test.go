package adminweb

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/adminweb/signin"
	"plexus/adapters/gate"
)

// pipes is a listener without a network, so that its time can be a test's.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9010} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.made <- theirs
	return ours
}

// serving serves a stage over pipes until the test's bubble ends it.
func serving(t *testing.T) (p *pipes, stop func()) {
	t.Helper()
	st := newStage(t)
	p = &pipes{make(chan net.Conn), make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- st.site.Serve(p) }()
	return p, func() {
		if err := errors.Join(st.site.Shutdown(t.Context()), <-served); err != nil {
			t.Error(err)
		}
	}
}

// TestWhoDawdlesIsCutOff: a header or a form that never comes to its end.
func TestWhoDawdlesIsCutOff(t *testing.T) {
	for name, begun := range map[string]string{
		"nothing": "",
		"header":  "GET / HTTP/1.1\r\nHost: " + address + "\r\n",
		"form": "POST /signin HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
			"Content-Length: 100\r\n\r\ncode=",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, stop := serving(t)
				defer stop()
				conn := p.dial()
				defer conn.Close()
				began := time.Now()
				if _, err := io.WriteString(conn, begun); err != nil {
					t.Fatal(err)
				}
				if err := conn.SetReadDeadline(began.Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Error(err)
				}
				limit := gate.HeaderLimit
				if name == "form" {
					limit = readLimit
				}
				if took := time.Since(began); took < limit || took > limit+time.Second {
					t.Errorf("cut off after %s, want %s", took, limit)
				}
			})
		})
	}
}

// TestAShutdownDoesNotWaitForSilentConnections: those that a browser opens ahead.
func TestAShutdownDoesNotWaitForSilentConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stop := serving(t)
		conn := p.dial()
		defer conn.Close()
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// TestOddRequestsMeetTheRules: what net/http would answer of itself.
func TestOddRequestsMeetTheRules(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"the server as a whole, under a strange name": {"OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n", http.StatusForbidden},
		"a whole address, under a strange name":       {"GET http://evil.example/ HTTP/1.1\r\nHost: " + address + "\r\n\r\n", http.StatusForbidden},
		"a tunnel":                                    {"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", http.StatusForbidden},
		"two hosts":                                   {"GET / HTTP/1.1\r\nHost: " + address + "\r\nHost: evil.example\r\n\r\n", http.StatusBadRequest},
		"no host":                                     {"GET / HTTP/1.0\r\n\r\n", http.StatusForbidden},
		"a large header":                              {"GET / HTTP/1.1\r\nHost: " + address + "\r\nX: " + strings.Repeat("x", 2*MaxHeaderBytes) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, stop := serving(t)
				defer stop()
				conn := p.dial()
				defer conn.Close()
				go func() { _, _ = io.WriteString(conn, c.request) }() // the answer may come before its end
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
				if answer.StatusCode != c.status {
					t.Errorf("status %d, want %d", answer.StatusCode, c.status)
				}
			})
		})
	}
}

func TestMoreRequestsThanPlacesAreTurnedAway(t *testing.T) {
	st := newStage(t)
	for range DefaultPlaces().Connections {
		st.site.slots <- struct{}{}
	}
	if w := st.do(st.page("/")); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without a place: %d", w.Code)
	}
	<-st.site.slots
	for range 2 { // a place is given back
		if w := st.do(st.page("/")); w.Code != http.StatusOK {
			t.Errorf("with a place: %d", w.Code)
		}
	}
}

// TestABrokenFormIsNoWrongCode: what the owner never typed does not void the code.
func TestABrokenFormIsNoWrongCode(t *testing.T) {
	st := newStage(t)
	code := must(t, st.site.SignIn.Code)
	for range signin.MaxWrongCodes {
		if w := st.do(st.form("/signin", url.Values{"code": {strings.Repeat("x", MaxFormBytes)}})); w.Code != http.StatusBadRequest {
			t.Errorf("a form that is too large: %d", w.Code)
		}
	}
	if w := st.do(st.form("/signin", url.Values{"code": {code.Secret.Reveal()}})); w.Code != http.StatusSeeOther {
		t.Errorf("the code: %d", w.Code)
	}
}
