package adminapi

import (
	"errors"
	"fmt"
	"net/http"

	"plexus/ports"
)

// RemoteError is a failure that the host reported and this package has no
// error value for.
type RemoteError struct {
	Code    string
	Message string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("the host answered: %s", e.Message) }

// requestError is a request that this API does not have.
type requestError struct{ fault fault }

func (e requestError) Error() string { return e.fault.message }

// fault is one row of the table from error to answer.
type fault struct {
	status  int
	code    string
	message string
}

// The two ends of every failure: what the server sends and, by code, what the
// client turns it back into.
var (
	errNoSuchPath = requestError{fault{http.StatusNotFound, "no_such_path", "There is no such path."}}
	errMethod     = requestError{fault{http.StatusMethodNotAllowed, "wrong_method", "This path takes another method."}}
	errBody       = requestError{fault{http.StatusBadRequest, "unexpected_body", "This request takes no body."}}
	errNumber     = requestError{fault{http.StatusBadRequest, "bad_number", "A number in the address is missing or out of range."}}
	errBusy       = requestError{fault{http.StatusServiceUnavailable, "busy", "Too many requests at once; try again."}}
)

const codeUnknownExtension = "unknown_extension"

// faultOf is the one place where errors become statuses.
func faultOf(err error) fault {
	var wrong requestError
	switch {
	case errors.As(err, &wrong):
		return wrong.fault
	case errors.Is(err, ports.ErrExtensionUnknown):
		return fault{http.StatusNotFound, codeUnknownExtension, "There is no extension with this number."}
	}
	return fault{http.StatusInternalServerError, "failed", "It did not work; the host's log says why."}
}

// errorOf is its other direction.
func errorOf(f Fault) error {
	if f.Code == codeUnknownExtension {
		return ports.ErrExtensionUnknown
	}
	return &RemoteError{Code: f.Code, Message: f.Message}
}
