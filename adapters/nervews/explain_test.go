package nervews

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// oneConn is a listener with one connection.
type oneConn struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l *oneConn) Close() error   { l.once.Do(func() { close(l.conns) }); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9001} }

// TestD7a_ABodyThatDoesNotComeIsNotWaitedFor: whoever asks about a token has a second
// to send it, whether the length is said or not.
func TestD7a_ABodyThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	for _, framing := range []string{"Content-Length: 75\r\n\r\nanvesha-v1.", "Transfer-Encoding: chunked\r\n\r\n4b\r\nanvesha-v1."} {
		synctest.Test(t, func(t *testing.T) {
			s := New(openHost{}, openHost{}, Config{Log: slog.New(slog.DiscardHandler)})
			ln := &oneConn{conns: make(chan net.Conn, 1)}
			client, server := net.Pipe()
			ln.conns <- server
			var serving sync.WaitGroup
			serving.Go(func() { _ = s.Serve(ln) })
			began := time.Now()
			if _, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nOrigin: chrome-extension://a\r\n"+framing); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body) // a cut answer shows below
			if took := time.Since(began); took != offerLimit || strings.TrimSpace(string(body)) != `{"product":"plexus","allowed":true}` {
				t.Errorf("after %v: %q", took, body)
			}
			_ = client.Close()
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			serving.Wait()
		})
	}
}
