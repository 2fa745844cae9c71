package adminweb

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/usecases/devices"
	"plexus/web"
)

// Phones is the phone side of the host: *devices.Service.
type Phones interface {
	// Paired phones.
	Devices(ctx context.Context) ([]devices.Status, error)
	Revoke(ctx context.Context, id pairing.DeviceID) error

	// Pairing codes, and the phones that did not get in with one.
	CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error)
	CancelInvitation(ctx context.Context, id pairing.InvitationID) (canceled bool, err error)
	Invitation(id pairing.InvitationID) pairing.Outcome
	OpenInvitation() (pairing.Invitation, bool)
	Payload(i pairing.Invitation, legacy bool) pairing.Payload
	LastRefusal() devices.RedeemRefusal
	AttemptWait() time.Duration

	// Where phones reach this host.
	PublicURL() (server pairing.Server, fixed, ok bool)
	SetPublicURL(ctx context.Context, address string) error
	AcceptedHosts() []devices.AcceptedHost
	RemoveAcceptedHost(ctx context.Context, authority string) error

	// Whether all of them are turned away for a while.
	NoPhone() bool
	SetNoPhone(ctx context.Context, on bool) error
}

// devicePages are the paired phones.
type devicePages struct{ phones Phones }

func (p devicePages) list(r *http.Request, l web.Layout) (response, error) {
	list, err := p.phones.Devices(r.Context())
	if err != nil {
		return response{}, err
	}
	v := web.Devices{Paused: p.phones.NoPhone()}
	for _, d := range list {
		v.Devices = append(v.Devices, web.Device{
			ID: d.ID.String(), Name: text.Printable(d.Name), Created: d.CreatedAt, LastSeen: d.LastSeenAt, Connected: d.Connected,
		})
	}
	for _, h := range p.phones.AcceptedHosts() {
		v.Hosts = append(v.Hosts, web.AcceptedHost{Host: h.Server.Authority(), Fixed: h.Public, Invited: h.Invited})
	}
	return show(web.DevicesPage(l, v))
}

// confirmRevoke asks first: a revoked phone has to be paired anew.
func (p devicePages) confirmRevoke(r *http.Request, l web.Layout) (response, error) {
	list, err := p.phones.Devices(r.Context())
	if err != nil {
		return response{}, err
	}
	for _, d := range list {
		if id := d.ID.String(); id == r.PathValue("id") {
			return show(web.ConfirmPage(l, web.Confirm{
				Title: fmt.Sprintf(l.T.RevokeTitle, text.Printable(d.Name)), Lead: l.T.RevokeLead, Button: l.T.RevokeButton,
				Action: "devices/" + id + "/revoke", Back: web.DevicesPlace,
			}))
		}
	}
	return response{}, errNotFound
}

func (p devicePages) revoke(r *http.Request) (response, error) {
	id, err := pairing.ParseDeviceID(r.PathValue("id"))
	if err != nil {
		return response{}, errNotFound
	}
	return redirect("devices?done=revoked"), p.phones.Revoke(r.Context(), id)
}

func (p devicePages) removeHost(r *http.Request) (response, error) {
	return redirect("devices?done=host-removed"), p.phones.RemoveAcceptedHost(r.Context(), r.PostForm.Get("host"))
}

// setPause turns all phones away, or lets them in again.
func (p devicePages) setPause(r *http.Request) (response, error) {
	pause, done := r.PathValue("verb") == "pause", "resumed"
	if pause {
		done = "paused"
	}
	return redirectBack(r, done), p.phones.SetNoPhone(r.Context(), pause)
}

// redirectBack leads to the page whose form was used.
func redirectBack(r *http.Request, done string) response {
	switch place := web.Place(r.PostForm.Get("back")); place {
	case web.PairPlace, web.DevicesPlace, web.ExtensionsPlace:
		return redirect(string(place) + "?done=" + done)
	}
	return redirect("?done=" + done)
}
