package searchapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	"plexus/adapters/outbound"
)

var (
	errTooLarge = errors.New("its answer is over 4 MiB")
	errTooSlow  = errors.New("it did not answer in time")
	errConnect  = errors.New("no connection in time")
)

// safeCause turns a failed exchange into a text of our own. The library's texts
// hold the full address and may quote what the service sent, which can be the
// key or the query mirrored back; neither may reach a log.
func safeCause(err error) error {
	var (
		op      *net.OpError
		dns     *net.DNSError
		errno   syscall.Errno
		cert    *tls.CertificateVerificationError
		timeout net.Error
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	if fault := outbound.ProxyFault(err, errConnect); fault != nil {
		return fault
	}
	switch {
	case errors.Is(err, errConnect):
		return errConnect
	case errors.Is(err, errTooLarge):
		return errTooLarge
	case errors.As(err, &dns):
		return errors.New("its name cannot be resolved")
	case errors.As(err, &errno):
		return fmt.Errorf("the connection failed: %w", errno)
	case errors.As(err, &cert):
		return errors.New("TLS failed: its certificate is not trusted")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record), errors.As(err, &alert):
		return errors.New("TLS failed")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errTooSlow
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection broke off")
	case errors.As(err, &op) && op.Op == "dial":
		return errors.New("no connection")
	default:
		return errors.New("the exchange failed")
	}
}

// statusError is the failure for a status other than 200. The word comes from a
// closed list or is empty.
func statusError(status int, word string) error {
	switch {
	case status >= 300 && status < 400:
		return fmt.Errorf("it redirects (status %d) and is not followed; set %s to where it leads", status, settingURL)
	case word != "":
		return fmt.Errorf("status %d, %s", status, word)
	default:
		return fmt.Errorf("status %d", status)
	}
}

// errorWord reads {"error": word} and lets through the words of the Anvesha API
// alone: any other could be our key or query, mirrored.
func errorWord(body []byte) string {
	var answer struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	switch answer.Error {
	case "missing_or_empty_query", "limit_must_be_at_least_1", "limit_exceeds_maximum_of_100",
		"missing_authorization_header", "malformed_authorization_header", "invalid_api_key",
		"index_unavailable", wordInvalidQuery, "search_error":
		return answer.Error
	default:
		return ""
	}
}
