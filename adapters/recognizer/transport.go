package recognizer

import (
	"crypto/tls"
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

const connectTimeout = 5 * time.Second

var (
	errNotLoopback = errors.New("the address is not on this machine")
	errReplyTooBig = errors.New("the service's answer is over 1 MiB")
	errNoReply     = errors.New("no valid reply")
	errCutOff      = errors.New("connection ended early")
)

// newClient makes the client for one service. It follows no redirect, because a
// key and speech are for the address the owner has named, and no proxy of the
// environment stands between this machine and itself.
func newClient(base *url.URL) *http.Client {
	local := isLoopback(base.Hostname())
	d := &net.Dialer{Timeout: connectTimeout}
	if local {
		d.Control = loopbackOnly
	}
	t := &http.Transport{
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      local, // connecting costs nothing, and a restarted service is met at once
		DisableCompression:     true,  // a small answer that unpacks to a large one
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    2,
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

// plain reduces a transport error to its cause. Texts of net/http that quote the
// URL or the peer's bytes are replaced; network and certificate causes stay.
func plain(err error) error {
	var netErr *net.OpError
	var dnsErr *net.DNSError
	var certErr *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errReplyTooBig):
		return errReplyTooBig
	case errors.Is(err, errNotLoopback):
		return errNotLoopback
	case errors.As(err, &netErr):
		return netErr
	case errors.As(err, &dnsErr):
		return dnsErr
	case errors.As(err, &certErr):
		return certErr
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCutOff
	}
	return errNoReply
}
