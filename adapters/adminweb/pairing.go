package adminweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/text"
	"plexus/domain/usecases/devices"
	"plexus/ports"
	"plexus/web"
)

// invitationDigits is the length of an invitation's name, in hex digits.
const invitationDigits = 16

// pairing is the page from which a pairing starts. While a code is open it is
// shown again: one window is enough.
func (s *Site) pairing(r *http.Request, f web.Frame) (templ.Component, error) {
	if open, ok := s.Phones.OpenInvitation(); ok {
		return nil, elsewhere("pair/" + string(open.ID()))
	}
	return s.pairStart(r, f, "", "")
}

// pairStart draws it with what was typed and what is wrong with that.
func (s *Site) pairStart(r *http.Request, f web.Frame, typed, fault string) (templ.Component, error) {
	devices, err := s.Phones.Devices(r.Context())
	if err != nil {
		return nil, err
	}
	path := s.Machine.Path(r.Context())
	return web.PairPage(f, web.PairStart{
		Address: s.address(path), Offered: text.Printable(path.Offered), Command: text.Printable(path.Command),
		Typed: text.Printable(typed), Fault: fault, Paused: s.Phones.NoPhone(), Full: len(devices) >= pairing.MaxDevices,
	}), nil
}

// address is the public address in force and what is known to be wrong with it.
func (s *Site) address(path Path) web.Address {
	server, fixed, ok := s.Phones.PublicURL()
	if !ok {
		return web.Address{}
	}
	a := web.Address{URL: "wss://" + server.Authority(), Warning: text.Printable(path.Warning)}
	if fixed {
		a.Fixed = text.Printable(path.FixedBy)
	}
	return a
}

// invite opens an invitation to the address of the form, which is remembered, or
// to the public address.
func (s *Site) invite(r *http.Request) (string, error) {
	typed := strings.TrimSpace(r.PostForm.Get("address"))
	address := typed
	if address == "" {
		public, _, ok := s.Phones.PublicURL()
		if !ok {
			return "pair", nil // the page asks for one
		}
		address = public.String()
	} else if !strings.Contains(address, "://") {
		address = "wss://" + address
	}
	i, err := s.open(r.Context(), address, typed != "")
	var wrong *pairing.AddressError
	switch {
	case errors.As(err, &wrong):
		return "", redrawn{Place: web.PairPlace, Draw: func(r *http.Request, f web.Frame) (templ.Component, error) {
			return s.pairStart(r, f, typed, s.Words.Fault(wrong.Part, wrong.Reason))
		}}
	case errors.Is(err, ports.ErrDeviceLimit):
		return "pair", nil // the page says so
	case err != nil:
		return "", err
	}
	return "pair/" + string(i.ID()), nil
}

func (s *Site) open(ctx context.Context, address string, remember bool) (pairing.Invitation, error) {
	if remember {
		if err := s.Phones.SetPublicURL(ctx, address); err != nil {
			return pairing.Invitation{}, err
		}
	}
	i, _, err := s.Phones.CreateInvitation(ctx, address)
	return i, err
}

// invitation is the page of one code. Only the one that is open shows it.
func (s *Site) invitation(r *http.Request, f web.Frame) (templ.Component, error) {
	id := pairing.InvitationID(r.PathValue("id"))
	if !secret.LowerHex(string(id), invitationDigits) {
		return nil, errNotHere
	}
	path := s.Machine.Path(r.Context())
	v := web.Invitation{ID: string(id), Address: s.address(path), Paused: s.Phones.NoPhone()}
	if open, ok := s.Phones.OpenInvitation(); ok && open.ID() == id {
		f.Reload = 10
		return s.openInvitation(r, f, v, open)
	}
	outcome := s.Phones.Invitation(id)
	switch outcome.State {
	case pairing.Redeemed:
		v.State, v.Device = web.InvitationRedeemed, text.Printable(outcome.Device.Name)
		connected, err := s.hasConnected(r.Context(), outcome.Device.ID)
		if err != nil {
			return nil, err
		}
		v.Connected = connected
	case pairing.Replaced:
		v.State = web.InvitationReplaced
	case pairing.Cancelled:
		v.State = web.InvitationCancelled
	case pairing.Waiting, pairing.Gone:
		v.State = web.InvitationGone
	}
	return web.InvitationPage(f, v), nil
}

func (s *Site) openInvitation(r *http.Request, f web.Frame, v web.Invitation, open pairing.Invitation) (templ.Component, error) {
	usual, payload := s.Phones.Payload(open, false), s.Phones.Payload(open, r.URL.Query().Has("expiry"))
	// The configuration may ask for an expiry in every code.
	v.Always = usual.Hash() != open.Payload().Hash()
	v.Legacy = v.Always || r.URL.Query().Has("expiry")
	modules, err := s.QR(payload.Reveal())
	if err != nil {
		return nil, fmt.Errorf("draw an invitation: %w", err)
	}
	v.State, v.Created = web.InvitationWaiting, open.CreatedAt
	v.Host, v.Refusal = open.Server.Authority(), s.refusedPhone(open)
	v.Payload, v.Code = payload.Reveal(), web.NewQRCode(modules)
	if public, _, ok := s.Phones.PublicURL(); ok && public.Authority() != v.Host {
		v.Address.Warning = "" // it is about another address
	}
	return web.InvitationPage(f, v), nil
}

// refusedPhone is the last phone that did not get in since the code was made.
func (s *Site) refusedPhone(open pairing.Invitation) web.RedeemRefusal {
	last := s.Phones.LastRefusal()
	if !last.At.After(open.CreatedAt) {
		return web.RedeemRefusal{}
	}
	r := web.RedeemRefusal{At: last.At, Cause: redeemCause(last.Err)}
	if r.Cause == web.RedeemTooMany {
		r.Wait = s.Phones.AttemptWait()
	}
	return r
}

// redeemCause: what Redeem does not name comes from the store.
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

// hasConnected: a device that took the code but never said hello is not there yet.
func (s *Site) hasConnected(ctx context.Context, id pairing.DeviceID) (bool, error) {
	list, err := s.Phones.Devices(ctx)
	if err != nil {
		return false, err
	}
	for _, d := range list {
		if d.ID == id {
			return !d.NeverConnected(), nil
		}
	}
	return false, nil
}

func (s *Site) cancelInvitation(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !secret.LowerHex(id, invitationDigits) {
		return "", errNotHere
	}
	if _, err := s.Phones.CancelInvitation(r.Context(), pairing.InvitationID(id)); err != nil {
		return "", err
	}
	return "pair/" + id, nil // whatever became of it is said there
}

func (s *Site) forgetAddress(r *http.Request) (string, error) {
	return "pair?done=address-forgotten", s.Phones.SetPublicURL(r.Context(), "")
}

func (s *Site) pause(on bool) action {
	done := "resumed"
	if on {
		done = "paused"
	}
	return func(r *http.Request) (string, error) {
		return back(r, done), s.Phones.SetNoPhone(r.Context(), on)
	}
}

// back leads to the page whose form was used.
func back(r *http.Request, done string) string {
	switch place := web.Place(r.PostForm.Get("back")); place {
	case web.PairPlace, web.DevicesPlace, web.ExtensionsPlace:
		return string(place) + "?done=" + done
	}
	return "?done=" + done
}
