// Package adminapi is what the command line asks a running host: HTTP with JSON
// over the admin socket in the data directory or, where there are no Unix sockets,
// below /api of the owner's page. Only the owner's account reaches the socket, and
// only the master token opens /api; both are checked by the caller, which brings
// the listener and the dialer.
//
//	GET  /v1/status                        what Config.Status gives
//	GET  /v1/extensions                    []Extension
//	POST /v1/extensions/{id}/allow         Extension
//	POST /v1/extensions/{id}/remove        Extension
//	POST /v1/extensions/{id}/forget        204
//	GET  /v1/devices                       []Device
//	POST /v1/devices/{id}/revoke           204
//	POST /v1/devices/{id}/let-in           204
//	POST /v1/devices/{id}/rename?name=s    204
//	POST /v1/invitations?server=s&legacy=b Invitation; without server: to the public URL; keep=b: it becomes that
//	GET  /v1/invitations/{id}              Outcome, held open while the invitation waits
//	POST /v1/invitations/{id}/cancel       Canceled
//	POST /v1/signin/link                   SignInLink
//	POST /v1/signin/code                   SignInCode
//	POST /v1/token/rotate                  Rotated
//	GET  /v1/pages?limit=n                 []Page
//	POST /v1/pages/clear                   Cleared
//	POST /v1/pages/forget?url=u            Forgotten; or with site=s
//	GET  /v1/sites                         []string, the excluded ones
//	POST /v1/sites/exclude?site=s          []string
//	POST /v1/sites/include?site=s          []string
//
// Every failure is a Fault.
package adminapi

import (
	"fmt"
	"time"

	"plexus/domain/admission"
	"plexus/domain/text"
)

// Extension is one row of the list of extensions.
type Extension struct {
	ID        int64     `json:"id"`
	Origin    string    `json:"origin"`
	Digits    string    `json:"digits,omitempty"` // four decimal digits; none for a row admitted by token
	State     string    `json:"state"`            // waiting, allowed, by_token, blocked
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
}

// NewExtension turns a row into its wire form. The key's hash stays behind.
func NewExtension(e admission.Extension) Extension {
	return Extension{
		ID: e.ID, Origin: text.Printable(e.Origin), Digits: e.Digits(), State: string(e.State),
		FirstSeen: e.FirstSeen, LastSeen: e.LastSeen,
	}
}

// String names the row for people.
func (e Extension) String() string {
	s := fmt.Sprintf("Extension %d (%s", e.ID, text.Printable(e.Origin))
	if e.Digits != "" {
		s += ", digits " + e.Digits
	}
	return s + ")"
}

// Rotated names the file of the new host token and the extensions that used the old
// one.
type Rotated struct {
	TokenFile  string      `json:"token_file"`
	Extensions []Extension `json:"extensions"` // admitted by token; they need the new one
}

// Fault is the body of every failed request.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
