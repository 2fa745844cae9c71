package adminweb

import (
	"context"
	"errors"
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
	Rename(ctx context.Context, id pairing.DeviceID, name string) error
	LetIn(ctx context.Context, id pairing.DeviceID) error

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
			Busy: web.Busy{At: d.Busy.At, By: text.Printable(d.Busy.By), Kept: d.Busy.Kept, CanLetIn: d.Busy.CanLetIn},
		})
	}
	for _, h := range p.phones.AcceptedHosts() {
		v.Hosts = append(v.Hosts, web.AcceptedHost{Host: h.Server.Authority(), Fixed: h.Public, Invited: h.Invited})
	}
	return show(web.DevicesPage(l, v))
}

// device is the phone that the path names.
func (p devicePages) device(r *http.Request) (devices.Status, error) {
	list, err := p.phones.Devices(r.Context())
	if err != nil {
		return devices.Status{}, err
	}
	for _, d := range list {
		if d.ID.String() == r.PathValue("id") {
			return d, nil
		}
	}
	return devices.Status{}, errNotFound
}

// confirmRevoke asks first: a revoked phone has to be paired anew.
func (p devicePages) confirmRevoke(r *http.Request, l web.Layout) (response, error) {
	d, err := p.device(r)
	if err != nil {
		return response{}, err
	}
	return show(web.ConfirmPage(l, web.Confirm{
		Title: fmt.Sprintf(l.T.RevokeTitle, text.Printable(d.Name)), Lead: l.T.RevokeLead, Button: l.T.RevokeButton,
		Action: "devices/" + d.ID.String() + "/revoke", Back: web.DevicesPlace,
	}))
}

func (p devicePages) revoke(r *http.Request) (response, error) {
	id, err := pairing.ParseDeviceID(r.PathValue("id"))
	if err != nil {
		return response{}, errNotFound
	}
	return redirect("devices?done=revoked"), p.phones.Revoke(r.Context(), id)
}

func (p devicePages) letIn(r *http.Request) (response, error) {
	id, err := pairing.ParseDeviceID(r.PathValue("id"))
	if err != nil {
		return response{}, errNotFound
	}
	return redirect("devices?done=let-in"), p.phones.LetIn(r.Context(), id)
}

// name is the form for a phone's name.
func (p devicePages) name(r *http.Request, l web.Layout) (response, error) {
	d, err := p.device(r)
	if err != nil {
		return response{}, err
	}
	return p.nameWith(d, l, d.Given, "")
}

// nameWith shows it with what was typed and what is wrong with that.
func (p devicePages) nameWith(d devices.Status, l web.Layout, typed, fault string) (response, error) {
	return show(web.RenamePage(l, web.Rename{
		ID: d.ID.String(), Shown: text.Printable(d.Name), Typed: text.Printable(typed), Fault: fault,
	}))
}

func (p devicePages) rename(r *http.Request) (response, error) {
	d, err := p.device(r)
	if err != nil {
		return response{}, err
	}
	typed := r.PostForm.Get("name")
	err = p.phones.Rename(r.Context(), d.ID, typed)
	if errors.Is(err, pairing.ErrDeviceName) {
		return correct(web.DevicesPlace, func(_ *http.Request, l web.Layout) (response, error) {
			return p.nameWith(d, l, typed, nameFault(l.T, err))
		}), nil
	}
	return redirect("devices?done=renamed"), err
}

// nameFault says what is wrong with a name.
func nameFault(words web.Words, err error) string {
	switch {
	case errors.Is(err, pairing.ErrNameEmpty):
		return words.NameEmpty
	case errors.Is(err, pairing.ErrNameTooLong):
		return words.NameTooLong
	}
	return words.NameMarks
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
