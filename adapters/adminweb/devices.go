package adminweb

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/domain/usecases/devices"
	"plexus/web"
)

// Phones is the phone side of the host: *devices.Service.
type Phones interface {
	// Paired phones.
	Devices(ctx context.Context) ([]devices.Status, error)
	Revoke(ctx context.Context, id pairing.DeviceID) error

	// Pairing codes, and the phones that did not get in with one.
	CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error)
	CancelInvitation(ctx context.Context, id pairing.InvitationID) (cancelled bool, err error)
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

func (s *Server) devices(r *http.Request, l web.Layout) (response, error) {
	list, err := s.Phones.Devices(r.Context())
	if err != nil {
		return response{}, err
	}
	v := web.Devices{Paused: s.Phones.NoPhone()}
	for _, d := range list {
		v.Devices = append(v.Devices, web.Device{
			ID: d.ID.String(), Name: text.Printable(d.Name), Created: d.CreatedAt, LastSeen: d.LastSeenAt, Connected: d.Connected,
		})
	}
	for _, h := range s.Phones.AcceptedHosts() {
		v.Hosts = append(v.Hosts, web.AcceptedHost{Host: h.Server.Authority(), Fixed: h.Public})
	}
	return show(web.DevicesPage(l, v))
}

// confirmRevoke asks first: a revoked phone has to be paired anew.
func (s *Server) confirmRevoke(r *http.Request, l web.Layout) (response, error) {
	list, err := s.Phones.Devices(r.Context())
	if err != nil {
		return response{}, err
	}
	for _, d := range list {
		if id := d.ID.String(); id == r.PathValue("id") {
			return show(web.ConfirmPage(l, web.Confirm{
				Title: fmt.Sprintf(s.Words.RevokeTitle, text.Printable(d.Name)), Lead: s.Words.RevokeLead, Button: s.Words.RevokeButton,
				Action: "devices/" + id + "/revoke", Back: web.DevicesPlace,
			}))
		}
	}
	return response{}, errNotHere
}

func (s *Server) revoke(r *http.Request) (response, error) {
	id, err := pairing.ParseDeviceID(r.PathValue("id"))
	if err != nil {
		return response{}, errNotHere
	}
	return redirect("devices?done=revoked"), s.Phones.Revoke(r.Context(), id)
}

func (s *Server) removeHost(r *http.Request) (response, error) {
	return redirect("devices?done=host-removed"), s.Phones.RemoveAcceptedHost(r.Context(), r.PostForm.Get("host"))
}

func (s *Server) pausePhones(r *http.Request) (response, error) {
	return redirectBack(r, "paused"), s.Phones.SetNoPhone(r.Context(), true)
}

func (s *Server) resumePhones(r *http.Request) (response, error) {
	return redirectBack(r, "resumed"), s.Phones.SetNoPhone(r.Context(), false)
}

// redirectBack leads to the page whose form was used.
func redirectBack(r *http.Request, done string) response {
	switch place := web.Place(r.PostForm.Get("back")); place {
	case web.PairPlace, web.DevicesPlace, web.ExtensionsPlace:
		return redirect(string(place) + "?done=" + done)
	}
	return redirect("?done=" + done)
}
