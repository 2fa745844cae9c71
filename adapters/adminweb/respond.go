package adminweb

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"plexus/domain/admission"
	"plexus/domain/usecases/devices"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/web"
)

// view makes one page of a session; l is what surrounds it.
type view func(r *http.Request, l web.Layout) (response, error)

// action does what the form of a POST asks for.
type action func(r *http.Request) (response, error)

// response is what a handler answers with: a page, a form to correct, or a redirect.
type response struct {
	page templ.Component
	// form is a view with what was wrong with its form; it is shown at place.
	form  view
	place web.Place
	// redirect is a path below the session's prefix, where page and form are nil.
	redirect string
}

func show(page templ.Component) (response, error) { return response{page: page}, nil }

func redirect(path string) response { return response{redirect: path} }

// correct shows a form again, with status 422.
func correct(place web.Place, form view) response { return response{form: form, place: place} }

// errNotHere: no such page, or the thing it was about is gone.
var errNotHere = errors.New("no such page")

func (s *Server) viewHandler(place web.Place, v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.serveView(w, r, http.StatusOK, place, v) }
}

func (s *Server) serveView(w http.ResponseWriter, r *http.Request, status int, place web.Place, v view) {
	l, err := s.layout(r, place)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	res, err := v(r, l)
	s.respond(w, r, status, res, err)
}

func (s *Server) actionHandler(a action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			writeText(w, http.StatusBadRequest, "bad form\n")
			return
		}
		res, err := a(r)
		if err == nil && res.form == nil {
			s.changes.Notify()
		}
		s.respond(w, r, http.StatusOK, res, err)
	}
}

func (s *Server) respond(w http.ResponseWriter, r *http.Request, status int, res response, err error) {
	switch {
	case err != nil:
		s.fail(w, r, err)
	case res.page != nil:
		s.render(w, r, status, res.page)
	case res.form != nil:
		s.serveView(w, r, http.StatusUnprocessableEntity, res.place, res.form)
	default:
		http.Redirect(w, r, base(prefixOf(r))+res.redirect, http.StatusSeeOther)
	}
}

// layout is what surrounds every page of a session.
func (s *Server) layout(r *http.Request, place web.Place) (web.Layout, error) {
	list, err := s.Extensions.Extensions(r.Context())
	if err != nil {
		return web.Layout{}, err
	}
	l := s.bareLayout(r, place)
	l.Notice = s.Words.Notices[r.URL.Query().Get("done")]
	for _, e := range list {
		if e.State == admission.Waiting {
			l.Waiting++
		}
	}
	return l, nil
}

// bareLayout is a layout for which nothing has to be looked up.
func (s *Server) bareLayout(r *http.Request, place web.Place) web.Layout {
	return web.Layout{T: s.Words, Base: base(prefixOf(r)), Here: place, Now: s.Now(), Personal: s.Personal != nil}
}

// render writes to memory first, so that a fault on the way is a whole page too.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var body bytes.Buffer
	if err := page.Render(r.Context(), &body); err != nil {
		s.Log.Error("a page could not be drawn", "route", r.Pattern, "error", err)
		writeText(w, http.StatusInternalServerError, "internal error\n")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(body.Bytes()); err != nil {
		s.Log.Debug("a browser left before its page", "error", err)
	}
}

// fail is the one map from errors to answers.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, title, lead := http.StatusInternalServerError, s.Words.ServerProblem, s.Words.Broken
	sentence, refused := refusalText(s.Words, err)
	switch {
	case errors.Is(err, errNotHere), errors.Is(err, ports.ErrExtensionUnknown), errors.Is(err, ports.ErrDeviceUnknown),
		errors.Is(err, ports.ErrPageSessionUnknown), errors.Is(err, ports.ErrConversationUnknown):
		status, title, lead = http.StatusNotFound, s.Words.NotHere, s.Words.NotHereLead
	case errors.Is(err, ports.ErrDeviceLimit):
		status, lead = http.StatusConflict, s.Words.PhonesFull
	case errors.Is(err, devices.ErrSettingFixed):
		status, lead = http.StatusConflict, s.Words.SettingFixed
	case refused:
		status, lead = http.StatusConflict, sentence
	case r.Context().Err() != nil: // the browser has left
	default:
		s.Log.Error("the owner's page failed", "route", r.Pattern, "error", err)
	}
	if sessionOf(r).ID == 0 {
		s.render(w, r, status, web.SignInPage(web.SignIn{T: s.Words, Problem: lead}))
		return
	}
	s.render(w, r, status, web.FaultPage(s.bareLayout(r, ""), title, lead))
}

// refusalText gives the sentence for a refusal of the personal host; ok is false
// for any other error.
func refusalText(words web.Words, err error) (sentence string, ok bool) {
	var refusal workbench.Refusal
	if !errors.As(err, &refusal) {
		return "", false
	}
	if sentence, ok = words.Refusals[string(refusal)]; ok {
		return sentence, true
	}
	return words.ServerProblem + ": " + string(refusal), true
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a peer that has left
}
