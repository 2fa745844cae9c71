// Package outbound is how adapters call a service that the owner has named: with
// a client that goes to that address and nowhere else, and that a hostile answer
// cannot exhaust.
package outbound

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

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

const connectTimeout = 5 * time.Second

// ErrNotLoopback: a name of this machine led to another one.
var ErrNotLoopback = errors.New("the address is not on this machine")

// NewClient makes the client for one service. It follows no redirect, because a
// key and what is sent are for the address the owner has named. UseProxy says when
// it goes through a proxy. dial is nil for the network.
func NewClient(base *url.URL, dial Dial) *http.Client {
	local := IsLoopback(base.Hostname())
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
		DisableKeepAlives:      local, // connecting is cheap here, and each call then reaches the current listener
		DisableCompression:     true,  // a compressed stream arrives in lumps, and a small answer may unpack to a large one
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: 64 << 10,
	}
	UseProxy(t, base)
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ParseBase reads the address of a service and refuses what could send a key or
// anything else somewhere unsaid. Blanks around it are left out, and so is the path of
// a call at its end ("chat/completions"), which services show with their address.
// plainHTTP lets http:// lead to another machine. Its errors name the keys of the
// configuration and never repeat raw, which may hold a secret by mistake.
func ParseBase(raw, call string, plainHTTP bool) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if short, ok := strings.CutSuffix(strings.TrimRight(raw, "/"), "/"+call); ok {
		raw = short
	}
	base, err := url.Parse(raw)
	if err != nil || base.Hostname() == "" {
		return nil, errors.New("base_url is no URL with a host")
	}
	switch {
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, errors.New("base_url must hold no user, query or fragment")
	case base.Scheme == "https", base.Scheme == "http" && (plainHTTP || IsLoopback(base.Hostname())):
		return base, nil
	case base.Scheme == "http":
		return nil, errors.New("base_url is plain http to another machine; use https, or set allow_plain_http")
	}
	return nil, errors.New("base_url must begin with https:// or http://")
}

// IsLoopback takes the names and addresses of this machine's loopback.
func IsLoopback(host string) bool {
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
		return ErrNotLoopback
	}
	return nil
}

// Bounded gives at most limit bytes of r and, unlike io.LimitReader, tooBig when
// more come.
func Bounded(r io.Reader, limit int64, tooBig error) io.Reader {
	return &bounded{r, limit, tooBig}
}

type bounded struct {
	in     io.Reader
	left   int64
	tooBig error
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.tooBig
	}
	return n, err
}
