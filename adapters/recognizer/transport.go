package recognizer

import (
	"crypto/tls"
	"errors"
	"io"
	"net"

	"plexus/adapters/outbound"
)

var (
	errReplyTooBig = errors.New("the service's answer is over 1 MiB")
	errNoReply     = errors.New("no valid reply")
	errCutOff      = errors.New("connection ended early")
)

// plain reduces a transport error to its cause. Texts of net/http that quote the
// URL or the peer's bytes are replaced; network and certificate causes stay.
func plain(err error) error {
	var netErr *net.OpError
	var dnsErr *net.DNSError
	var certErr *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errReplyTooBig):
		return errReplyTooBig
	case errors.Is(err, outbound.ErrNotLoopback):
		return outbound.ErrNotLoopback
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
