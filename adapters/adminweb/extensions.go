package adminweb

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"plexus/domain/admission"
	"plexus/domain/text"
	"plexus/domain/usecases/browsers"
	"plexus/web"
)

// Extensions lets browser extensions in, and keeps the list of everybody who was
// refused, here and elsewhere: *browsers.Registry.
type Extensions interface {
	Extensions(ctx context.Context) ([]admission.Extension, error)
	AllowExtension(ctx context.Context, id int64) (admission.Extension, error)
	RemoveExtension(ctx context.Context, id int64) (admission.Extension, error)
	ForgetExtension(ctx context.Context, id int64) error
	Refusals() []browsers.Refusal
	Refuse(cause admission.Cause, peer string)
}

func (s *Server) extensions(r *http.Request, l web.Layout) (response, error) {
	list, err := s.Extensions.Extensions(r.Context())
	if err != nil {
		return response{}, err
	}
	return show(web.ExtensionsPage(l, web.Extensions{Extensions: extensionRows(list)}))
}

// extensionRows puts waiting ones first and removed ones last, each in the order in
// which they came, so that nothing moves under the pointer.
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

func (s *Server) allowExtension(r *http.Request) (response, error) {
	id, err := parseID(r)
	if err == nil {
		_, err = s.Extensions.AllowExtension(r.Context(), id)
	}
	return redirectBack(r, "allowed"), err
}

func (s *Server) removeExtension(r *http.Request) (response, error) {
	id, err := parseID(r)
	if err == nil {
		_, err = s.Extensions.RemoveExtension(r.Context(), id)
	}
	return redirectBack(r, "removed"), err
}

func (s *Server) forgetExtension(r *http.Request) (response, error) {
	id, err := parseID(r)
	if err == nil {
		err = s.Extensions.ForgetExtension(r.Context(), id)
	}
	return redirectBack(r, "forgotten"), err
}

// parseID reads the number in a path; what is none names nothing.
func parseID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errNotHere
	}
	return id, nil
}

func (s *Server) refused(_ *http.Request, l web.Layout) (response, error) {
	return show(web.RefusedPage(l, web.Refusals{Refusals: s.refusalRows()}))
}

func (s *Server) refusalRows() []web.Refusal {
	var rows []web.Refusal
	for _, r := range s.Extensions.Refusals() {
		rows = append(rows, web.Refusal{
			Cause: string(r.Cause), Peer: text.Printable(r.Peer), Advice: r.Cause.Advice(), Count: r.Count, First: r.First, Last: r.Last,
		})
	}
	return rows
}
