package adminweb

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/domain/usecases/browsers"
	"plexus/ports"
	"plexus/web"
)

// shownRefusals is how many the overview shows.
const shownRefusals = 3

func (s *Site) overview(r *http.Request, f web.Frame) (templ.Component, error) {
	ctx := r.Context()
	v, err := s.Machine.Overview(ctx)
	if err != nil {
		return nil, err
	}
	extensions, err := s.Extensions.Extensions(ctx)
	if err != nil {
		return nil, err
	}
	devices, err := s.Phones.Devices(ctx)
	if err != nil {
		return nil, err
	}
	v.Address, v.Paused = s.address(s.Machine.Path(ctx)), s.Phones.NoPhone()
	for _, row := range listed(extensions) {
		switch row.State {
		case web.ExtensionWaiting:
			v.Waiting = append(v.Waiting, row)
		case web.ExtensionAllowed, web.ExtensionByToken:
			v.Steps.Extension = true
		case web.ExtensionBlocked:
		}
	}
	for _, d := range devices {
		v.Steps.Phone = v.Steps.Phone || !d.NeverConnected()
		if d.Connected {
			v.Phone = text.Printable(d.Name)
		}
	}
	if s.desk != nil {
		kept, err := s.desk.Kept(ctx)
		if err != nil {
			return nil, fmt.Errorf("count what is kept: %w", err)
		}
		v.Kept = &kept
	}
	v.Knocking = refusals(s.Extensions.Refusals())
	v.Knocking = v.Knocking[:min(len(v.Knocking), shownRefusals)]
	return web.OverviewPage(f, v), nil
}

func (s *Site) useModel(r *http.Request) (string, error) {
	if err := s.Machine.UseModel(r.Context(), r.PostForm.Get("name"), r.PostForm.Get("base_url")); err != nil {
		return "", fmt.Errorf("use a model: %w", err)
	}
	return "?done=model", nil
}

func (s *Site) devices(r *http.Request, f web.Frame) (templ.Component, error) {
	list, err := s.Phones.Devices(r.Context())
	if err != nil {
		return nil, err
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
	return web.DevicesPage(f, v), nil
}

// confirmRevoke asks first: a revoked phone has to be paired anew.
func (s *Site) confirmRevoke(r *http.Request, f web.Frame) (templ.Component, error) {
	list, err := s.Phones.Devices(r.Context())
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if id := d.ID.String(); id == r.PathValue("id") {
			return web.ConfirmPage(f, web.Confirm{
				Title: fmt.Sprintf(s.Words.RevokeTitle, text.Printable(d.Name)), Lead: s.Words.RevokeLead, Button: s.Words.RevokeButton,
				Action: "devices/" + id + "/revoke", Back: web.DevicesPlace,
			}), nil
		}
	}
	return nil, errNotHere
}

func (s *Site) revoke(r *http.Request) (string, error) {
	id, err := pairing.ParseDeviceID(r.PathValue("id"))
	if err != nil {
		return "", errNotHere
	}
	return "devices?done=revoked", s.Phones.Revoke(r.Context(), id)
}

func (s *Site) removeHost(r *http.Request) (string, error) {
	return "devices?done=host-removed", s.Phones.RemoveAcceptedHost(r.Context(), r.PostForm.Get("host"))
}

func (s *Site) extensions(r *http.Request, f web.Frame) (templ.Component, error) {
	rows, err := s.Extensions.Extensions(r.Context())
	if err != nil {
		return nil, err
	}
	return web.ExtensionsPage(f, web.Extensions{Extensions: listed(rows)}), nil
}

// listed turns rows into their view: waiting ones first, removed ones last, each
// in the order in which they came, so that nothing moves under the pointer.
func listed(rows []admission.Extension) []web.Extension {
	list := make([]web.Extension, 0, len(rows))
	for _, e := range rows {
		list = append(list, web.Extension{
			ID: e.ID, Origin: text.Printable(e.Origin), Digits: e.Digits(), State: extensionState(e.State),
			FirstSeen: e.FirstSeen, LastSeen: e.LastSeen,
		})
	}
	rank := map[web.ExtensionState]int{web.ExtensionWaiting: 0, web.ExtensionAllowed: 1, web.ExtensionByToken: 1, web.ExtensionBlocked: 2}
	slices.SortStableFunc(list, func(a, b web.Extension) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func extensionState(s admission.State) web.ExtensionState {
	switch s {
	case admission.Allowed:
		return web.ExtensionAllowed
	case admission.ByToken:
		return web.ExtensionByToken
	case admission.Blocked:
		return web.ExtensionBlocked
	case admission.Waiting:
	}
	return web.ExtensionWaiting
}

// decide is an action about one extension.
func (s *Site) decide(done string, change func(context.Context, int64) error) action {
	return func(r *http.Request) (string, error) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			return "", errNotHere
		}
		return back(r, done), change(r.Context(), id)
	}
}

func (s *Site) allow(ctx context.Context, id int64) error {
	_, err := s.Extensions.AllowExtension(ctx, id)
	return err
}

func (s *Site) remove(ctx context.Context, id int64) error {
	_, err := s.Extensions.RemoveExtension(ctx, id)
	return err
}

func (s *Site) refused(_ *http.Request, f web.Frame) (templ.Component, error) {
	return web.RefusedPage(f, web.Refusals{Refusals: refusals(s.Extensions.Refusals())}), nil
}

func refusals(list []browsers.Refusal) []web.Refusal {
	out := make([]web.Refusal, 0, len(list))
	for _, r := range list {
		out = append(out, web.Refusal{
			Cause: string(r.Cause), Peer: text.Printable(r.Peer), Advice: r.Cause.Advice(), Count: r.Count, First: r.First, Last: r.Last,
		})
	}
	return out
}

func (s *Site) sessions(r *http.Request, f web.Frame) (templ.Component, error) {
	list, err := s.Sessions.PageSessions(r.Context(), s.Now())
	if err != nil {
		return nil, err
	}
	var v web.Sessions
	for _, p := range list {
		v.Sessions = append(v.Sessions, web.Session{
			ID: strconv.FormatInt(p.ID, 10), Browser: browserName(p.UserAgent), Created: p.CreatedAt, LastSeen: p.LastSeen,
			Expires: p.CreatedAt.Add(ports.PageSessionLife), Current: p.ID == sessionOf(r).ID,
		})
	}
	return web.SessionsPage(f, v), nil
}

func (s *Site) endSession(r *http.Request) (string, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return "", errNotHere
	}
	return "sessions?done=session-ended", s.Sessions.RevokePageSession(r.Context(), id)
}
