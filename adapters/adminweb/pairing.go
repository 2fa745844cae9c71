package adminweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/devices"
	"plexus/web"
)

// invitationDigits is the length of an invitation's name, in hex digits.
const invitationDigits = 16

// pairingPages make codes and show what becomes of them.
type pairingPages struct {
	phones Phones
	status StatusSource
	qr     func(text string) ([][]bool, error)
}

// start is the page from which a pairing starts. While a code is open it is
// shown again: one window is enough.
func (p pairingPages) start(r *http.Request, l web.Layout) (response, error) {
	if open, ok := p.phones.OpenInvitation(); ok {
		return redirect("pair/" + string(open.ID())), nil
	}
	return p.startWith(r, l, "", "")
}

// startWith shows it with what was typed and what is wrong with that.
func (p pairingPages) startWith(r *http.Request, l web.Layout, typed, fault string) (response, error) {
	devices, err := p.phones.Devices(r.Context())
	if err != nil {
		return response{}, err
	}
	path := p.status.PhonePath(r.Context())
	return show(web.PairPage(l, web.PairStart{
		Address: publicAddress(p.phones, path), Offered: text.Printable(path.Offered), Command: text.Printable(path.Command),
		Typed: text.Printable(typed), Fault: fault, Paused: p.phones.NoPhone(), Full: len(devices) >= pairing.MaxDevices,
	}))
}

// publicAddress is the public address in force and what is known to be wrong with it.
func publicAddress(phones Phones, path PhonePath) web.Address {
	server, fixed, ok := phones.PublicURL()
	if !ok {
		return web.Address{}
	}
	a := web.Address{URL: "wss://" + server.Authority(), Warning: path.warningOf(server)}
	if fixed {
		a.Fixed = text.Printable(path.FixedBy)
	}
	return a
}

// warningOf is what is known to be wrong with an address.
func (p PhonePath) warningOf(server pairing.Server) string {
	if p.Checked != server.Authority() {
		return ""
	}
	return text.Printable(p.Warning)
}

// invite opens an invitation to the address of the form, or to the public address.
func (p pairingPages) invite(r *http.Request) (response, error) {
	typed := strings.TrimSpace(r.PostForm.Get("address"))
	address := typed
	if address == "" {
		public, _, ok := p.phones.PublicURL()
		if !ok {
			return redirect("pair"), nil // the page asks for one
		}
		address = public.String()
	} else if !strings.Contains(address, "://") {
		address = "wss://" + address
	}
	if _, fixed, _ := p.phones.PublicURL(); fixed && typed != "" {
		return response{}, devices.ErrSettingFixed // the page has no field for it then
	}
	i, _, err := p.phones.CreateInvitation(r.Context(), address)
	var wrong *pairing.AddressError
	switch {
	case errors.As(err, &wrong):
		return correct(web.PairPlace, func(r *http.Request, l web.Layout) (response, error) {
			return p.startWith(r, l, typed, l.T.Fault(wrong.Part, wrong.Reason))
		}), nil
	case errors.Is(err, ports.ErrDeviceLimit):
		return redirect("pair"), nil // the page says so
	case err != nil:
		return response{}, err
	}
	return redirect("pair/" + string(i.ID())), nil
}

// invitation is the page of one code. Only the one that is open shows it.
func (p pairingPages) invitation(r *http.Request, l web.Layout) (response, error) {
	id := pairing.InvitationID(r.PathValue("id"))
	if !secret.LowerHex(string(id), invitationDigits) {
		return response{}, errNotFound
	}
	path := p.status.PhonePath(r.Context())
	v := web.Invitation{ID: string(id), Address: publicAddress(p.phones, path), Paused: p.phones.NoPhone()}
	if open, ok := p.phones.OpenInvitation(); ok && open.ID() == id {
		l.Reload = 10
		v.Warning = path.warningOf(open.Server)
		return p.openInvitation(r, l, v, open)
	}
	outcome := p.phones.Invitation(id)
	v.State = web.InvitationState(outcome.State)
	switch outcome.State {
	case pairing.Redeemed:
		v.Device = text.Printable(outcome.Device.Name)
		list, err := p.phones.Devices(r.Context())
		if err != nil {
			return response{}, err
		}
		for _, d := range list {
			if d.ID == outcome.Device.ID { // one that took the code but never said hello is not there yet
				v.Device, v.Connected = text.Printable(d.Name), !d.NeverConnected()
			}
		}
	case pairing.Waiting: // it has been opened meanwhile
		v.State = web.InvitationGone
	case pairing.Replaced, pairing.Canceled, pairing.Gone:
	}
	return show(web.InvitationPage(l, v))
}

func (p pairingPages) openInvitation(r *http.Request, l web.Layout, v web.Invitation, open pairing.Invitation) (response, error) {
	usual, payload := p.phones.Payload(open, false), p.phones.Payload(open, r.URL.Query().Has("expiry"))
	// The configuration may ask for an expiry in every code.
	v.Always = usual.Hash() != open.Payload().Hash()
	v.Legacy = v.Always || r.URL.Query().Has("expiry")
	modules, err := p.qr(payload.Reveal())
	if err != nil {
		return response{}, fmt.Errorf("draw an invitation: %w", err)
	}
	v.State, v.Created = web.InvitationWaiting, open.CreatedAt
	v.Host, v.Refusal = open.Server.Authority(), p.refusedPhone(open)
	v.Payload, v.Code = payload.Reveal(), web.NewQRCode(modules)
	return show(web.InvitationPage(l, v))
}

// refusedPhone is the last phone that did not get in since the code was made.
func (p pairingPages) refusedPhone(open pairing.Invitation) web.RedeemRefusal {
	last := p.phones.LastRefusal()
	if !last.At.After(open.CreatedAt) {
		return web.RedeemRefusal{}
	}
	r := web.RedeemRefusal{At: last.At, Cause: redeemCause(last.Err)}
	if r.Cause == web.RedeemTooMany {
		r.Wait = p.phones.AttemptWait()
	}
	return r
}

// redeemCause maps the errors of Redeem; any other error comes from the store.
func redeemCause(err error) web.RedeemCause {
	switch {
	case errors.Is(err, devices.ErrInvitation):
		return web.RedeemWrongCode
	case errors.Is(err, devices.ErrTooManyAttempts):
		return web.RedeemTooMany
	case errors.Is(err, pairing.ErrDeviceName):
		return web.RedeemBadName
	case errors.Is(err, ports.ErrDeviceLimit):
		return web.RedeemListFull
	case errors.Is(err, context.Canceled):
		return web.RedeemGivenUp
	}
	return web.RedeemStoreFailed
}

func (p pairingPages) cancelInvitation(r *http.Request) (response, error) {
	id := r.PathValue("id")
	if !secret.LowerHex(id, invitationDigits) {
		return response{}, errNotFound
	}
	if _, err := p.phones.CancelInvitation(r.Context(), pairing.InvitationID(id)); err != nil {
		return response{}, err
	}
	return redirect("pair/" + id), nil // that page says what became of it
}

// keepAddress remembers the address of the open code before a phone has used it.
func (p pairingPages) keepAddress(r *http.Request) (response, error) {
	open, ok := p.phones.OpenInvitation()
	id := r.PathValue("id")
	if !ok || string(open.ID()) != id {
		if !secret.LowerHex(id, invitationDigits) {
			return response{}, errNotFound
		}
		return redirect("pair/" + id), nil // that page says what became of it
	}
	return redirect("pair/" + id + "?done=address"), p.phones.SetPublicURL(r.Context(), open.Server.String())
}

func (p pairingPages) forgetAddress(r *http.Request) (response, error) {
	return redirect("pair?done=address-forgotten"), p.phones.SetPublicURL(r.Context(), "")
}
