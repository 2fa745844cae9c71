package adminapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"plexus/domain/pairing"
	"plexus/ports"
	"plexus/usecases/devices"
	"plexus/usecases/personal/topics"
)

// ErrNoPublicURL: an invitation needs an address, and none is known.
var ErrNoPublicURL = errors.New("no public URL is set")

// RemoteError is a failure that the host reported and this package has no
// error value for.
type RemoteError struct {
	Code    string
	Message string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("the host answered: %s", e.Message) }

// fault is an answer to a failure. As an error it is a request that this API does
// not have.
type fault struct {
	status  int
	code    string
	message string
}

func (f fault) Error() string { return f.message }

// The two ends of every failure: what the server sends and, by code, what the
// client turns it back into.
var (
	errNoSuchPath = fault{http.StatusNotFound, "no_such_path", "There is no such path."}
	errMethod     = fault{http.StatusMethodNotAllowed, "wrong_method", "This path takes another method."}
	errBody       = fault{http.StatusBadRequest, "unexpected_body", "This request takes no body."}
	errNumber     = fault{http.StatusBadRequest, "bad_number", "A number in the address is missing or out of range."}
	errDeviceID   = fault{http.StatusBadRequest, "bad_device", "The device's ID is no UUID."}
	errPage       = fault{http.StatusBadRequest, "bad_page", "A page has an address with http or https."}
	errSite       = fault{http.StatusBadRequest, "bad_site", "This does not name a site."}
	errBusy       = fault{http.StatusServiceUnavailable, "busy", "Too many requests at once; try again."}
)

// named are the failures that the client turns back into the same error.
var named = [...]struct {
	err   error
	fault fault
}{
	{ports.ErrExtensionUnknown, fault{http.StatusNotFound, "unknown_extension", "There is no extension with this number."}},
	{ports.ErrDeviceUnknown, fault{http.StatusNotFound, "unknown_device", "There is no phone with this ID."}},
	{pairing.ErrNameEmpty, fault{http.StatusBadRequest, "name_empty", "A phone's name cannot be empty."}},
	{pairing.ErrNameTooLong, fault{http.StatusBadRequest, "name_too_long", "A phone's name is too long."}},
	{pairing.ErrNameMarks, fault{http.StatusBadRequest, "name_marks", "A phone's name holds what cannot be shown."}},
	{ports.ErrDeviceLimit, fault{http.StatusConflict, "device_limit", "Every place for a phone is taken."}},
	{devices.ErrSettingFixed, fault{http.StatusConflict, "setting_fixed", "The public URL is set by a flag, the environment or the configuration file."}},
	{topics.ErrSitesFull, fault{http.StatusConflict, "sites_full", "No further site can be excluded."}},
	{ErrNoPublicURL, fault{http.StatusConflict, "no_public_url", "No public URL is set."}},
}

const codeAddress = "bad_address"

// faultOf is the one place where errors become statuses.
func faultOf(err error) fault {
	var wrong fault
	var address *pairing.AddressError
	switch {
	case errors.As(err, &wrong):
		return wrong
	case errors.As(err, &address):
		return fault{http.StatusBadRequest, codeAddress + "." + address.Part, address.Reason}
	}
	for _, n := range named {
		if errors.Is(err, n.err) {
			return n.fault
		}
	}
	return fault{http.StatusInternalServerError, "failed", "It did not work; the host's log says why."}
}

// errorOf is its other direction.
func errorOf(f Fault) error {
	for _, n := range named {
		if f.Code == n.fault.code {
			return n.err
		}
	}
	if part, ok := strings.CutPrefix(f.Code, codeAddress+"."); ok {
		return &pairing.AddressError{Part: part, Reason: f.Message}
	}
	return &RemoteError{Code: f.Code, Message: f.Message}
}
