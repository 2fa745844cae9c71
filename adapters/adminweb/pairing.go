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
	"plexus/domain/usecases/devices"
	"plexus/ports"
	"plexus/web"
)

// invitationDigits is the length of an invitation's name, in hex digits.
const invitationDigits = 16

// pairing is the page from which a pairing starts. While a code is open it is
// shown again: one window is enough.
func (s *Server) pairing(r *http.Request, l web.Layout) (response, error) {
	if open, ok := s.Phones.OpenInvitation(); ok {
		return redirect("pair/" + string(open.ID())), nil
	}
	return s.pairStart(r, l, "", "")
}

// pairStart shows it with what was typed and what is wrong with that.
func (s *Server) pairStart(r *http.Request, l web.Layout, typed, fault string) (response, error) {
	devices, err := s.Phones.Devices(r.Context())
	if err != nil {
		return response{}, err
	}
	path := s.Status.PhonePath(r.Context())
	return show(web.PairPage(l, web.PairStart{
		Address: s.address(path), Offered: text.Printable(path.Offered), Command: text.Printable(path.Command),
		Typed: text.Printable(typed), Fault: fault, Paused: s.Phones.NoPhone(), Full: len(devices) >= pairing.MaxDevices,
	}))
}

// address is the public address in force and what is known to be wrong with it.
func (s *Server) address(path PhonePath) web.Address {
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
func (s *Server) invite(r *http.Request) (response, error) {
	typed := strings.TrimSpace(r.PostForm.Get("address"))
	address := typed
	if address == "" {
		public, _, ok := s.Phones.PublicURL()
		if !ok {
			return redirect("pair"), nil // the page asks for one
		}
		address = public.String()
	} else if !strings.Contains(address, "://") {
		address = "wss://" + address
	}
	var err error
	if typed != "" {
		err = s.Phones.SetPublicURL(r.Context(), address)
	}
	var i pairing.Invitation
	if err == nil {
		i, _, err = s.Phones.CreateInvitation(r.Context(), address)
	}
	var wrong *pairing.AddressError
	switch {
	case errors.As(err, &wrong):
		return correct(web.PairPlace, func(r *http.Request, l web.Layout) (response, error) {
			return s.pairStart(r, l, typed, s.Words.Fault(wrong.Part, wrong.Reason))
		}), nil
	case errors.Is(err, ports.ErrDeviceLimit):
		return redirect("pair"), nil // the page says so
	case err != nil:
		return response{}, err
	}
	return redirect("pair/" + string(i.ID())), nil
}

// invitation is the page of one code. Only the one that is open shows it.
func (s *Server) invitation(r *http.Request, l web.Layout) (response, error) {
	id := pairing.InvitationID(r.PathValue("id"))
	if !secret.LowerHex(string(id), invitationDigits) {
		return response{}, errNotHere
	}
	v := web.Invitation{ID: string(id), Address: s.address(s.Status.PhonePath(r.Context())), Paused: s.Phones.NoPhone()}
	if open, ok := s.Phones.OpenInvitation(); ok && open.ID() == id {
		l.Reload = 10
		return s.openInvitation(r, l, v, open)
	}
	outcome := s.Phones.Invitation(id)
	switch outcome.State {
	case pairing.Redeemed:
		v.State, v.Device = web.InvitationRedeemed, text.Printable(outcome.Device.Name)
		list, err := s.Phones.Devices(r.Context())
		if err != nil {
			return response{}, err
		}
		for _, d := range list { // one that took the code but never said hello is not there yet
			v.Connected = v.Connected || d.ID == outcome.Device.ID && !d.NeverConnected()
		}
	case pairing.Replaced:
		v.State = web.InvitationReplaced
	case pairing.Cancelled:
		v.State = web.InvitationCancelled
	case pairing.Waiting, pairing.Gone:
		v.State = web.InvitationGone
	}
	return show(web.InvitationPage(l, v))
}

func (s *Server) openInvitation(r *http.Request, l web.Layout, v web.Invitation, open pairing.Invitation) (response, error) {
	usual, payload := s.Phones.Payload(open, false), s.Phones.Payload(open, r.URL.Query().Has("expiry"))
	// The configuration may ask for an expiry in every code.
	v.Always = usual.Hash() != open.Payload().Hash()
	v.Legacy = v.Always || r.URL.Query().Has("expiry")
	modules, err := s.QR(payload.Reveal())
	if err != nil {
		return response{}, fmt.Errorf("draw an invitation: %w", err)
	}
	v.State, v.Created = web.InvitationWaiting, open.CreatedAt
	v.Host, v.Refusal = open.Server.Authority(), s.refusedPhone(open)
	v.Payload, v.Code = payload.Reveal(), web.NewQRCode(modules)
	if public, _, ok := s.Phones.PublicURL(); ok && public.Authority() != v.Host {
		v.Address.Warning = "" // it is about another address
	}
	return show(web.InvitationPage(l, v))
}

// refusedPhone is the last phone that did not get in since the code was made.
func (s *Server) refusedPhone(open pairing.Invitation) web.RedeemRefusal {
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

func (s *Server) cancelInvitation(r *http.Request) (response, error) {
	id := r.PathValue("id")
	if !secret.LowerHex(id, invitationDigits) {
		return response{}, errNotHere
	}
	if _, err := s.Phones.CancelInvitation(r.Context(), pairing.InvitationID(id)); err != nil {
		return response{}, err
	}
	return redirect("pair/" + id), nil // whatever became of it is said there
}

func (s *Server) forgetAddress(r *http.Request) (response, error) {
	return redirect("pair?done=address-forgotten"), s.Phones.SetPublicURL(r.Context(), "")
}
