package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"
)

func TestCause(t *testing.T) {
	own := errors.New("our own")
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	name := &net.DNSError{Err: "no such host", Name: "x"}
	certificate := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	for what, tt := range map[string]struct{ err, want error }{
		"the caller's own":  {own, own},
		"not this machine":  {&net.OpError{Op: "dial", Net: "tcp", Err: ErrNotLoopback}, ErrNotLoopback},
		"the network":       {dial, dial},
		"a name":            {name, name},
		"a certificate":     {certificate, certificate},
		"an end":            {io.EOF, ErrCutOff},
		"an end within":     {io.ErrUnexpectedEOF, ErrCutOff},
		"the peer's bytes":  {errors.New("malformed HTTP response \"zeppelin\""), ErrNoReply},
		"another one's own": {errors.New("too big"), ErrNoReply},
	} {
		wrapped := &url.Error{Op: "Post", URL: "https://x/zeppelin", Err: tt.err}
		if got := Cause(wrapped, own); got != tt.want {
			t.Errorf("%s gives %v; want %v", what, got, tt.want)
		}
	}
}
