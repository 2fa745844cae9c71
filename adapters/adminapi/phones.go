package adminapi

import (
	"context"
	"net/http"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/usecases/devices"
)

// waitLimit is how long a request for the outcome of an open invitation is held.
const waitLimit = 20 * time.Second

// Phones is the pairing of phones as this API uses it: *devices.Service.
type Phones interface {
	Devices(ctx context.Context) ([]devices.Status, error)
	Revoke(ctx context.Context, id pairing.DeviceID) error
	Rename(ctx context.Context, id pairing.DeviceID, name string) error
	LetIn(ctx context.Context, id pairing.DeviceID) error
	PublicURL() (server pairing.Server, fixed, ok bool)
	SetPublicURL(ctx context.Context, address string) error
	CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error)
	Payload(i pairing.Invitation, legacy bool) pairing.Payload
	CancelInvitation(ctx context.Context, id pairing.InvitationID) (canceled bool, err error)
	Invitation(id pairing.InvitationID) pairing.Outcome
	Changed() <-chan struct{}
}

// Device is one paired phone.
type Device struct {
	ID               string     `json:"id"`   // UUID
	Name             string     `json:"name"` // as it is shown: no two have the same; non-printables as escapes
	CreatedAt        time.Time  `json:"created_at"`
	FirstConnectedAt *time.Time `json:"first_connected_at,omitempty"` // none: never connected
	LastSeenAt       *time.Time `json:"last_seen_at,omitempty"`
	Connected        bool       `json:"connected"` // now

	TurnedAwayAt *time.Time `json:"turned_away_at,omitempty"` // the last time, because another phone was connected; none: not since it was connected itself
	TurnedAwayBy string     `json:"turned_away_by,omitempty"` // name of the phone that is in the way, or was then
	KeptFor      bool       `json:"kept_for_it,omitempty"`    // it is not connected: the place is kept for it, since its owner let it in
	CanLetIn     bool       `json:"can_let_in,omitempty"`     // another one is in the way now
}

func newDevice(d devices.Status) Device {
	return Device{
		ID: d.ID.String(), Name: text.Printable(d.Name), CreatedAt: d.CreatedAt.UTC(),
		FirstConnectedAt: moment(d.FirstConnectedAt), LastSeenAt: moment(d.LastSeenAt), Connected: d.Connected,
		TurnedAwayAt: moment(d.Busy.At), TurnedAwayBy: text.Printable(d.Busy.By), KeptFor: d.Busy.Kept, CanLetIn: d.Busy.CanLetIn,
	}
}

// moment is nil for never.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Invitation is an open invitation. Payload is the text of its QR code, and a
// secret: whoever has it can pair.
type Invitation struct {
	ID       string `json:"id"`
	Server   string `json:"server"` // where the phone will connect to
	Payload  string `json:"payload"`
	Replaced bool   `json:"replaced"` // it took the place of an open one

	PublicURL      string `json:"public_url,omitempty"`       // as it is now; none: no phone has paired yet, and none was kept
	PublicURLFixed bool   `json:"public_url_fixed,omitempty"` // by a flag, the environment or the file, so that this pairing does not change it
}

// Outcome says what became of an invitation.
type Outcome struct {
	ID     string  `json:"id"`
	State  string  `json:"state"` // waiting, redeemed, replaced, cancelled, gone
	Device *Device `json:"device,omitempty"`
}

// Canceled says whether an invitation was still open.
type Canceled struct {
	Canceled bool `json:"cancelled"`
}

// changeDevice does what the path says to one phone.
func (s *server) changeDevice(r *http.Request) (any, error) {
	ctx := r.Context()
	id, err := pairing.ParseDeviceID(r.PathValue("id"))
	switch verb := r.PathValue("verb"); {
	case err != nil:
		err = errDeviceID
	case verb == "revoke":
		err = s.Phones.Revoke(ctx, id)
	case verb == "let-in":
		err = s.Phones.LetIn(ctx, id)
	default:
		err = s.Phones.Rename(ctx, id, r.URL.Query().Get("name"))
	}
	return nil, err
}

// invite opens an invitation to the server of the request or to the public URL. With
// keep the server becomes the public URL at once, and not when a phone has used it.
func (s *server) invite(r *http.Request) (any, error) {
	ctx, server := r.Context(), r.URL.Query().Get("server")
	public, _, known := s.Phones.PublicURL()
	switch {
	case server == "" && !known:
		return nil, ErrNoPublicURL
	case server == "":
		server = public.String()
	}
	if r.URL.Query().Get("keep") == "true" {
		if err := s.Phones.SetPublicURL(ctx, server); err != nil {
			return nil, err
		}
	}
	i, replaced, err := s.Phones.CreateInvitation(ctx, server)
	if err != nil {
		return nil, err
	}
	payload := s.Phones.Payload(i, r.URL.Query().Get("legacy") == "true")
	answer := Invitation{ID: string(i.ID()), Server: i.Server.String(), Payload: payload.Reveal(), Replaced: replaced}
	if public, fixed, ok := s.Phones.PublicURL(); ok {
		answer.PublicURL, answer.PublicURLFixed = public.String(), fixed
	}
	return answer, nil
}

// outcome answers once the invitation is no longer open, or after waitLimit.
func (s *server) outcome(r *http.Request) (any, error) {
	id := pairing.InvitationID(r.PathValue("id"))
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	for {
		changed := s.Phones.Changed()
		o := s.Phones.Invitation(id)
		if o.State != pairing.Waiting {
			return s.newOutcome(r.Context(), o)
		}
		select {
		case <-changed:
		case <-limit.C:
			return s.newOutcome(r.Context(), o)
		case <-s.stopping:
			return s.newOutcome(r.Context(), o)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// newOutcome names a new device as the list does.
func (s *server) newOutcome(ctx context.Context, o pairing.Outcome) (Outcome, error) {
	out := Outcome{ID: string(o.ID), State: string(o.State)}
	if o.State != pairing.Redeemed {
		return out, nil
	}
	list, err := s.Phones.Devices(ctx)
	if err != nil {
		return out, err
	}
	paired := newDevice(devices.Status{Device: o.Device}) // it may have been revoked since
	for _, d := range list {
		if d.ID == o.Device.ID {
			paired = newDevice(d)
		}
	}
	out.Device = &paired
	return out, nil
}

func (s *server) cancel(r *http.Request) (any, error) {
	was, err := s.Phones.CancelInvitation(r.Context(), pairing.InvitationID(r.PathValue("id")))
	return Canceled{was}, err
}
