package adminweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"plexus/domain/text"
	"plexus/ports"
	"plexus/web"
)

// StatusSource is the rest of the host as the page shows it. Overview and PhonePath
// are asked for every page, so they are answered from memory.
type StatusSource interface {
	// Overview fills everything but the waiting extensions, the refusals, the
	// address, the phone, the pause and the steps, which the page adds.
	Overview(ctx context.Context) (web.Overview, error)
	// PhonePath says what is known about how phones reach this host.
	PhonePath(ctx context.Context) PhonePath
	// UseModel takes one of Overview's found models, durably. ports.ErrModelUnavailable:
	// it does not chat.
	UseModel(ctx context.Context, name, baseURL string) error
}

// PhonePath is how phones reach this host.
type PhonePath struct {
	Offered string // address of this machine in its tailnet, "wss://box.tailnet.ts.net"; "" when none is known
	Command string // what makes the client listener reachable there; "" for nothing to do
	Checked string // host[:port] that Warning is about: that of the open code, else the public address's; "" for none
	Warning string // why phones will not get through to it, in words; "" when nothing is known to be wrong
	FixedBy string // what sets the public address above the page; used where that is fixed
}

// maxRefusals is how many refused attempts the overview shows.
const maxRefusals = 3

// overviewPage is the page at the root of a session.
type overviewPage struct {
	status     StatusSource
	phones     Phones
	extensions Extensions
	personal   *Personal // nil without a personal host
	visited    func(context.Context)
}

func (p overviewPage) view(r *http.Request, l web.Layout) (response, error) {
	ctx := r.Context()
	if p.visited != nil && r.Header.Get("Sec-Fetch-Mode") == "navigate" { // not an open page that keeps itself up to date
		p.visited(ctx)
	}
	v, err := p.status.Overview(ctx)
	if err != nil {
		return response{}, err
	}
	extensions, err := p.extensions.Extensions(ctx)
	if err != nil {
		return response{}, err
	}
	devices, err := p.phones.Devices(ctx)
	if err != nil {
		return response{}, err
	}
	v.Address, v.Paused = publicAddress(p.phones, p.status.PhonePath(ctx)), p.phones.NoPhone()
	for _, row := range extensionRows(extensions) {
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
	if p.personal != nil {
		sizes, err := p.personal.Conversations.Sizes(ctx)
		if err != nil {
			return response{}, fmt.Errorf("count what is kept: %w", err)
		}
		v.Kept = &web.Kept{
			Conversations: sizes.Conversations, Topics: sizes.Topics, Messages: sizes.Messages, MessageBytes: sizes.MessageBytes,
		}
	}
	v.Refusals = refusalRows(p.extensions.Refusals())
	v.Refusals = v.Refusals[:min(len(v.Refusals), maxRefusals)]
	return show(web.OverviewPage(l, v))
}

// privacyFacts is what the page about privacy shows of the rest of the host.
func (s *Server) privacyFacts(ctx context.Context) (web.Privacy, error) {
	host, err := s.Status.Overview(ctx)
	if err != nil {
		return web.Privacy{}, err
	}
	sizes, err := s.Personal.Conversations.Sizes(ctx)
	if err != nil {
		return web.Privacy{}, err
	}
	items, _, err := s.Personal.Lists.Lists(ctx)
	if err != nil {
		return web.Privacy{}, err
	}
	devices, err := s.Phones.Devices(ctx)
	if err != nil {
		return web.Privacy{}, err
	}
	extensions, err := s.Extensions.Extensions(ctx)
	if err != nil {
		return web.Privacy{}, err
	}
	signedIn, err := s.Sessions.PageSessions(ctx, s.Now())
	if err != nil {
		return web.Privacy{}, fmt.Errorf("list page sessions: %w", err)
	}
	t := s.Words
	v := web.Privacy{Index: host.Index, Storage: web.Storage{
		DatabaseBytes: host.DatabaseBytes, DataDir: host.DataDir,
		Kinds: []web.StoredKind{
			{Name: t.Privacy.KindPages, Count: host.Index.Pages, Bytes: host.Index.Bytes, Place: web.PrivacyPlace + "/pages"},
			{Name: t.Privacy.RetainTopics, Count: sizes.Topics, Place: web.ConversationsPlace},
			{Name: t.Privacy.KindChats, Count: sizes.Conversations - sizes.Topics, Place: web.ConversationsPlace},
			{Name: t.KeptMessages, Count: sizes.Messages, Bytes: sizes.MessageBytes, Place: web.ConversationsPlace},
			{Name: t.Privacy.KindLists, Count: len(items), Place: web.ListsPlace},
			{Name: t.Privacy.KindPhones, Count: len(devices), Place: web.DevicesPlace},
			{Name: t.Privacy.KindExtensions, Count: len(extensions), Place: web.ExtensionsPlace},
			{Name: t.Privacy.KindSessions, Count: len(signedIn), Place: web.SessionsPlace},
		},
	}}
	on, fixed := s.Personal.Topics.Recording()
	if v.Recording.On = on; fixed {
		v.Recording.FixedBy = text.Printable(s.Personal.RecordingFixedBy)
	}
	return v, nil
}

func (p overviewPage) useModel(r *http.Request) (response, error) {
	err := p.status.UseModel(r.Context(), r.PostForm.Get("name"), r.PostForm.Get("base_url"))
	switch {
	case errors.Is(err, ports.ErrModelUnavailable):
		return correct(web.OverviewPlace, func(r *http.Request, l web.Layout) (response, error) {
			l.Problem = l.T.ModelRefused
			return p.view(r, l)
		}), nil
	case err != nil:
		return response{}, fmt.Errorf("use a model: %w", err)
	}
	return redirect("?done=model"), nil
}
