package adminweb

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"plexus/adapters/admindesk"
	"plexus/domain/usecases/devices"
	"plexus/ports"
	"plexus/web"
)

// A view draws one page of a session, an action changes something and says where
// to go. Those of the personal host are of the same kind.
type (
	view   = admindesk.View
	action = admindesk.Action
)

// routes serves every path. Anything that changes something is a POST.
func (s *Site) routes() (http.Handler, error) {
	static, err := web.Static()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.door)
	mux.HandleFunc("POST /signin", s.signIn)
	mux.HandleFunc("GET /signin", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusSeeOther) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plainly(w, http.StatusOK, "ok") })
	mux.Handle("GET "+web.StaticPrefix, static)

	const session = sessionRoot + "{prefix}/"
	for path, v := range map[string]struct {
		place web.Place
		draw  view
	}{
		"{$}":                 {web.OverviewPlace, s.overview},
		"pair":                {web.PairPlace, s.pairing},
		"pair/{id}":           {web.PairPlace, s.invitation},
		"devices":             {web.DevicesPlace, s.devices},
		"devices/{id}/revoke": {web.DevicesPlace, s.confirmRevoke},
		"extensions":          {web.ExtensionsPlace, s.extensions},
		"refused":             {web.RefusedPlace, s.refused},
		"sessions":            {web.SessionsPlace, s.sessions},
	} {
		mux.HandleFunc("GET "+session+path, s.drawing(v.place, v.draw))
	}
	for path, a := range map[string]action{
		"pair":                   s.invite,
		"pair/{id}/cancel":       s.cancelInvitation,
		"address/forget":         s.forgetAddress,
		"phones/pause":           s.pause(true),
		"phones/resume":          s.pause(false),
		"devices/{id}/revoke":    s.revoke,
		"hosts/remove":           s.removeHost,
		"extensions/{id}/allow":  s.decide("allowed", s.allow),
		"extensions/{id}/remove": s.decide("removed", s.remove),
		"extensions/{id}/forget": s.decide("forgotten", s.Extensions.ForgetExtension),
		"sessions/{id}/end":      s.endSession,
		"model/use":              s.useModel,
	} {
		mux.HandleFunc("POST "+session+path, s.acting(a))
	}
	if s.desk != nil {
		for path, p := range s.desk.Pages() {
			mux.HandleFunc("GET "+session+path, s.drawing(p.Place, p.Draw))
		}
		for path, a := range s.desk.Actions() {
			mux.HandleFunc("POST "+session+path, s.acting(a))
		}
	}
	if s.Desktop != nil {
		mux.HandleFunc("GET "+session+"desktop", s.desktop)
	}
	mux.HandleFunc("POST "+session+"signout", s.signOut)
	mux.HandleFunc("GET "+session+"events", s.events)
	mux.HandleFunc("GET "+session, func(w http.ResponseWriter, r *http.Request) { s.failed(w, r, errNotHere) })
	if s.API != nil {
		mux.Handle(apiRoot, http.StripPrefix(strings.TrimSuffix(apiRoot, "/"), s.API))
	}
	return limitForms(mux), nil
}

// limitForms bounds every body.
func limitForms(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, MaxFormBytes)
		next.ServeHTTP(w, r)
	})
}

// errNotHere: no such page, or the thing it was about is gone.
var errNotHere = admindesk.ErrNotHere

// redrawn is the error of an action that draws a page instead of leading on.
type redrawn = admindesk.Redrawn

func (s *Site) drawing(place web.Place, draw view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.draw(w, r, http.StatusOK, place, draw) }
}

func (s *Site) draw(w http.ResponseWriter, r *http.Request, status int, place web.Place, draw view) {
	f, err := s.frame(r, place)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	page, err := draw(r, f)
	var onward elsewhere
	switch {
	case err == nil:
		s.show(w, r, status, page)
	case errors.As(err, &onward):
		http.Redirect(w, r, f.Base+string(onward), http.StatusSeeOther)
	default:
		s.failed(w, r, err)
	}
}

// elsewhere is the error of a view that leads on to another one.
type elsewhere string

func (elsewhere) Error() string { return "shown elsewhere" }

func (s *Site) acting(act action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			plainly(w, http.StatusBadRequest, "bad form\n")
			return
		}
		target, err := act(r)
		var again redrawn
		switch {
		case err == nil:
			s.changes.Notify()
			http.Redirect(w, r, base(prefixOf(r))+target, http.StatusSeeOther)
		case errors.As(err, &again):
			s.draw(w, r, http.StatusUnprocessableEntity, again.Place, again.Draw)
		default:
			s.failed(w, r, err)
		}
	}
}

// frame is what surrounds every page of a session.
func (s *Site) frame(r *http.Request, place web.Place) (web.Frame, error) {
	list, err := s.Extensions.Extensions(r.Context())
	if err != nil {
		return web.Frame{}, err
	}
	f := s.bare(r, place)
	f.Notice = s.Words.Notices[r.URL.Query().Get("done")]
	for _, e := range list {
		if extensionState(e.State) == web.ExtensionWaiting {
			f.Waiting++
		}
	}
	return f, nil
}

func (s *Site) bare(r *http.Request, place web.Place) web.Frame {
	return web.Frame{T: s.Words, Base: base(prefixOf(r)), Here: place, Now: s.Now(), Personal: s.desk != nil}
}

// show draws into memory first, so that a fault on the way is a whole page too.
func (s *Site) show(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var body bytes.Buffer
	if err := page.Render(r.Context(), &body); err != nil {
		s.Log.Error("a page could not be drawn", "route", r.Pattern, "error", err)
		plainly(w, http.StatusInternalServerError, "internal error\n")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(body.Bytes()); err != nil {
		s.Log.Debug("a browser left before its page", "error", err)
	}
}

// failed is the one map from errors to answers.
func (s *Site) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, title, lead := http.StatusInternalServerError, s.Words.ServerProblem, s.Words.Broken
	said, refused := admindesk.Said(s.Words, err)
	switch {
	case errors.Is(err, errNotHere), errors.Is(err, ports.ErrExtensionUnknown), errors.Is(err, ports.ErrDeviceUnknown),
		errors.Is(err, ports.ErrPageSessionUnknown), errors.Is(err, ports.ErrConversationUnknown):
		status, title, lead = http.StatusNotFound, s.Words.NotHere, s.Words.NotHereLead
	case errors.Is(err, ports.ErrDeviceLimit):
		status, lead = http.StatusConflict, s.Words.PhonesFull
	case errors.Is(err, devices.ErrSettingFixed):
		status, lead = http.StatusConflict, s.Words.SettingFixed
	case refused:
		status, lead = http.StatusConflict, said
	case r.Context().Err() != nil: // the browser has left
	default:
		s.Log.Error("the owner's page failed", "route", r.Pattern, "error", err)
	}
	if sessionOf(r).ID == 0 {
		s.show(w, r, status, web.SignInPage(web.SignIn{T: s.Words, Problem: lead}))
		return
	}
	s.show(w, r, status, web.FaultPage(s.bare(r, ""), title, lead))
}
