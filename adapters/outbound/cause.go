package outbound

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
)

// What Cause puts in the place of texts that are not ours.
var (
	ErrNoReply = errors.New("no valid reply")
	ErrCutOff  = errors.New("connection ended early")
)

// Cause reduces the error of a call to its cause. Texts of net/http that quote the
// URL or the peer's bytes are replaced; network and certificate causes stay, and
// so do the caller's own errors.
func Cause(err error, own ...error) error {
	for _, o := range append(own, ErrNotLoopback) {
		if errors.Is(err, o) {
			return o
		}
	}
	if fault := ProxyFault(err, own...); fault != nil {
		return fault
	}
	var netErr *net.OpError
	var dnsErr *net.DNSError
	var certErr *tls.CertificateVerificationError
	switch {
	case errors.As(err, &netErr):
		return netErr
	case errors.As(err, &dnsErr):
		return dnsErr
	case errors.As(err, &certErr):
		return certErr
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCutOff
	}
	return ErrNoReply
}
