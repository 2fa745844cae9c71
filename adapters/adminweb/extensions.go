package adminweb

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"plexus/domain/admission"
	"plexus/domain/text"
	"plexus/usecases/browsers"
	"plexus/web"
)

// Extensions lets browser extensions in, and keeps the list of everybody who was
// refused, by any listener: *browsers.Registry.
type Extensions interface {
	Extensions(ctx context.Context) ([]admission.Extension, error)
	AllowExtension(ctx context.Context, id int64) (admission.Extension, error)
	RemoveExtension(ctx context.Context, id int64) (admission.Extension, error)
	ForgetExtension(ctx context.Context, id int64) error
	Refusals() []browsers.Refusal
	Refuse(cause admission.Cause, peer string)
}

// extensionPages are the extensions, and everybody who was refused.
type extensionPages struct{ extensions Extensions }

func (p extensionPages) list(r *http.Request, l web.Layout) (response, error) {
	list, err := p.extensions.Extensions(r.Context())
	if err != nil {
		return response{}, err
	}
	return show(web.ExtensionsPage(l, web.Extensions{Extensions: extensionRows(list)}))
}

// extensionRows puts waiting ones first and removed ones last, each in the order in
// which they came, so that rows do not move while the owner clicks.
func extensionRows(list []admission.Extension) []web.Extension {
	rows := make([]web.Extension, 0, len(list))
	for _, e := range list {
		rows = append(rows, web.Extension{
			ID: e.ID, Origin: text.Printable(e.Origin), Digits: e.Digits(), State: web.ExtensionState(e.State),
			FirstSeen: e.FirstSeen, LastSeen: e.LastSeen,
		})
	}
	rank := map[web.ExtensionState]int{web.ExtensionWaiting: 0, web.ExtensionAllowed: 1, web.ExtensionByToken: 1, web.ExtensionBlocked: 2}
	slices.SortStableFunc(rows, func(a, b web.Extension) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), cmp.Compare(a.ID, b.ID))
	})
	return rows
}

// decide allows, removes or forgets one.
func (p extensionPages) decide(r *http.Request) (response, error) {
	id, err := parseID(r)
	if err != nil {
		return response{}, err
	}
	var done string
	switch r.PathValue("verb") {
	case "allow":
		done = "allowed"
		_, err = p.extensions.AllowExtension(r.Context(), id)
	case "remove":
		done = "removed"
		_, err = p.extensions.RemoveExtension(r.Context(), id)
	case "forget":
		done = "forgotten"
		err = p.extensions.ForgetExtension(r.Context(), id)
	}
	return redirectBack(r, done), err
}

// parseID reads the number in a path; anything else is errNotFound.
func parseID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errNotFound
	}
	return id, nil
}

func (p extensionPages) refused(_ *http.Request, l web.Layout) (response, error) {
	return show(web.RefusedPage(l, web.Refusals{Refusals: refusalRows(p.extensions.Refusals())}))
}

func refusalRows(list []browsers.Refusal) []web.Refusal {
	var rows []web.Refusal
	for _, r := range list {
		rows = append(rows, web.Refusal{
			Cause: string(r.Cause), Peer: text.Printable(r.Peer), Advice: r.Cause.Advice(), Count: r.Count, First: r.First, Last: r.Last,
		})
	}
	return rows
}
