package localmodel

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

const connectTimeout = 5 * time.Second

var (
	errEncoding    = errors.New("reply in an encoding that was not asked for")
	errNotLoopback = errors.New("the address is not on this machine")
)

// newClient makes the client for one endpoint. It follows no redirect, because a
// key and a question are for the address the owner has named, and no proxy of
// the environment stands between this machine and itself.
func newClient(base *url.URL, dial DialFunc) *http.Client {
	local := isLoopback(base.Hostname())
	if dial == nil {
		d := &net.Dialer{Timeout: connectTimeout}
		if local {
			d.Control = loopbackOnly
		}
		dial = d.DialContext
	}
	t := &http.Transport{
		DialContext:            dial,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      local, // connecting costs nothing, and every call meets the listener that is there now
		DisableCompression:     true,  // a compressed stream arrives in lumps
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if !local {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// isLoopback takes the names and addresses of this machine's loopback.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// loopbackOnly stops a name such as localhost that resolves to another machine.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !ap.Addr().Unmap().IsLoopback() {
		return errNotLoopback
	}
	return nil
}

// boundedReader fails, unlike io.LimitReader, when more than left bytes come.
type boundedReader struct {
	in   io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errReplyTooBig
	}
	return n, err
}

// watch ends a call that is too slow, by cancelling its context with the cause.
type watch struct {
	cancel context.CancelCauseFunc
	total  context.CancelFunc
	first  *time.Timer // runs until the first byte
	idle   *time.Timer // runs during every later read
	limits Limits
}

// startWatch begins to wait for the first byte. stop must be called.
func startWatch(parent context.Context, limits Limits) (context.Context, *watch) {
	bounded, total := context.WithTimeoutCause(parent, limits.Total, errTotal)
	ctx, cancel := context.WithCancelCause(bounded)
	return ctx, &watch{
		cancel: cancel,
		total:  total,
		first:  time.AfterFunc(limits.FirstByte, func() { cancel(errFirstByte) }),
		limits: limits,
	}
}

func (w *watch) stop() {
	w.first.Stop()
	if w.idle != nil {
		w.idle.Stop()
	}
	w.cancel(nil)
	w.total()
}

// reader wraps the reply so that silence is measured while we wait for it, and
// not while emit holds the answer back.
func (w *watch) reader(body io.Reader) io.Reader {
	return watchedReader{w, body}
}

type watchedReader struct {
	w    *watch
	body io.Reader
}

func (r watchedReader) Read(p []byte) (int, error) {
	w := r.w
	if w.idle != nil {
		w.idle.Reset(w.limits.Idle)
		defer w.idle.Stop()
		return r.body.Read(p)
	}
	n, err := r.body.Read(p)
	if n > 0 {
		w.first.Stop()
		w.idle = time.AfterFunc(w.limits.Idle, func() { w.cancel(errIdle) })
		w.idle.Stop()
	}
	return n, err
}
