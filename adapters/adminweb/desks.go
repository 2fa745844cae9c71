package adminweb

import (
	"context"
	"net/http"
	"time"

	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/usecases/browsers"
	"plexus/domain/usecases/devices"
	"plexus/web"
)

// Phones is the phone side of the host, in five small parts: *devices.Service.
type Phones interface {
	Invitations
	Attempts
	Devices
	Addresses
	Pause
}

// Invitations makes pairing codes and says what became of them.
type Invitations interface {
	CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error)
	CancelInvitation(ctx context.Context, id pairing.InvitationID) (cancelled bool, err error)
	Invitation(id pairing.InvitationID) pairing.Outcome
	OpenInvitation() (pairing.Invitation, bool)
	Payload(i pairing.Invitation, legacy bool) pairing.Payload
}

// Attempts tells of phones that did not get in with a code.
type Attempts interface {
	LastRefusal() devices.RedeemRefusal
	AttemptWait() time.Duration
}

// Devices lists paired phones and throws them out.
type Devices interface {
	Devices(ctx context.Context) ([]devices.Status, error)
	Revoke(ctx context.Context, id pairing.DeviceID) error
}

// Addresses is where phones reach this host.
type Addresses interface {
	PublicURL() (server pairing.Server, fixed, ok bool)
	SetPublicURL(ctx context.Context, address string) error
	AcceptedHosts() []devices.AcceptedHost
	RemoveAcceptedHost(ctx context.Context, authority string) error
}

// Pause turns all phones away for a while.
type Pause interface {
	NoPhone() bool
	SetNoPhone(ctx context.Context, on bool) error
}

// Extensions is the door for browser extensions and the list of everybody who
// was refused: *browsers.Registry.
type Extensions interface {
	Extensions(ctx context.Context) ([]admission.Extension, error)
	AllowExtension(ctx context.Context, id int64) (admission.Extension, error)
	RemoveExtension(ctx context.Context, id int64) (admission.Extension, error)
	ForgetExtension(ctx context.Context, id int64) error
	Refusals() []browsers.Refusal
	Refuse(cause admission.Cause, peer string)
}

// Machine is the rest of the host as the page shows it. Both questions are asked
// for every drawing, so they are answered from memory.
type Machine interface {
	// Overview fills everything but who waits, who was refused, the address, the
	// phone, the pause and the steps, which the page adds.
	Overview(ctx context.Context) (web.Overview, error)
	// Path says what is known about the way of phones to this host.
	Path(ctx context.Context) Path
	// UseModel takes one of Overview's found models, durably.
	UseModel(ctx context.Context, name, baseURL string) error
}

// Desktop serves the page as a client of the personal host: *desktopws.Server.
type Desktop interface {
	// Serve answers one request that has passed the defences. over waits until the
	// session that it belongs to has ended; it returns false when ctx ends first.
	Serve(w http.ResponseWriter, r *http.Request, over func(ctx context.Context) bool)
	// Shutdown refuses new sockets, ends the others with 1001 and waits for them, or
	// for ctx.
	Shutdown(ctx context.Context) error
}

// Path is the way of phones to this host.
type Path struct {
	Offered string // address of this machine in its tailnet, "wss://box.tailnet.ts.net"; "" when none is known
	Command string // what makes the client listener reachable there; "" for nothing to do
	Warning string // why phones will not get through, in words; "" when nothing is known to be wrong
	FixedBy string // what sets the public address above the page; used where that is fixed
}
