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
}

func (p overviewPage) view(r *http.Request, l web.Layout) (response, error) {
	ctx := r.Context()
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
