package adminweb

import (
	"bytes"
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"plexus/adapters/adminweb/privacy"
	"plexus/domain/admission"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/devices"
	"plexus/usecases/personal/choice"
	"plexus/usecases/personal/topics"
	"plexus/usecases/syncx"
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

// drawn is a view of a folder below this one.
func drawn(v privacy.View) view {
	return func(r *http.Request, l web.Layout) (response, error) {
		page, err := v(r, l)
		return response{page: page}, err
	}
}

// leading is an action of a folder below this one, which gives where it leads.
func leading(a func(r *http.Request) (path string, err error)) action {
	return func(r *http.Request) (response, error) {
		path, err := a(r)
		return redirect(path), err
	}
}

// errNotFound: there is no such page, or what it showed is gone.
var errNotFound = errors.New("no such page")

// responder turns what handlers answer into pages and redirects.
type responder struct {
	words       web.Words
	now         func() time.Time
	log         *slog.Logger
	extensions  Extensions // of which the layout counts those that wait
	hasPersonal bool
	changes     *syncx.Notifier
}

// view serves the page of v, at its place in the navigation.
func (p *responder) view(place web.Place, v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { p.serveView(w, r, http.StatusOK, place, v) }
}

func (p *responder) serveView(w http.ResponseWriter, r *http.Request, status int, place web.Place, v view) {
	l, err := p.layout(r, place)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	res, err := v(r, l)
	p.respond(w, r, status, res, err)
}

// action serves a form, and notifies all open pages of the change.
func (p *responder) action(a action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			writeText(w, http.StatusBadRequest, "bad form\n")
			return
		}
		res, err := a(r)
		if err == nil && res.form == nil {
			p.changes.Notify()
		}
		p.respond(w, r, http.StatusOK, res, err)
	}
}

func (p *responder) respond(w http.ResponseWriter, r *http.Request, status int, res response, err error) {
	switch {
	case err != nil:
		p.fail(w, r, err)
	case res.page != nil:
		p.render(w, r, status, res.page)
	case res.form != nil:
		p.serveView(w, r, http.StatusUnprocessableEntity, res.place, res.form)
	default:
		http.Redirect(w, r, base(prefixOf(r))+res.redirect, http.StatusSeeOther)
	}
}

// layout is what surrounds every page of a session.
func (p *responder) layout(r *http.Request, place web.Place) (web.Layout, error) {
	list, err := p.extensions.Extensions(r.Context())
	if err != nil {
		return web.Layout{}, err
	}
	l := p.bareLayout(r, place)
	l.Notice = p.words.Notices[r.URL.Query().Get("done")]
	for _, e := range list {
		if e.State == admission.Waiting {
			l.Waiting++
		}
	}
	return l, nil
}

// bareLayout is a layout for which nothing has to be looked up.
func (p *responder) bareLayout(r *http.Request, place web.Place) web.Layout {
	return web.Layout{T: p.words, Base: base(prefixOf(r)), Here: place, Now: p.now(), Personal: p.hasPersonal}
}

// render writes to memory first, so that a fault on the way is a whole page too.
func (p *responder) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var body bytes.Buffer
	if err := page.Render(r.Context(), &body); err != nil {
		p.log.Error("a page could not be drawn", "route", r.Pattern, "error", err)
		writeText(w, http.StatusInternalServerError, "internal error\n")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(body.Bytes()); err != nil {
		p.log.Debug("a browser left before its page", "error", err)
	}
}

// fail is the one map from errors to answers.
func (p *responder) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, title, lead := http.StatusInternalServerError, p.words.ServerProblem, p.words.Broken
	switch {
	case errors.Is(err, errNotFound), errors.Is(err, privacy.ErrUnknown), errors.Is(err, ports.ErrExtensionUnknown), errors.Is(err, ports.ErrDeviceUnknown),
		errors.Is(err, ports.ErrPageSessionUnknown), errors.Is(err, ports.ErrConversationUnknown):
		status, title, lead = http.StatusNotFound, p.words.NotFound, p.words.NotFoundLead
	case errors.Is(err, ports.ErrDeviceLimit):
		status, lead = http.StatusConflict, p.words.PhonesFull
	case errors.Is(err, devices.ErrSettingFixed), errors.Is(err, choice.ErrFixed), errors.Is(err, topics.ErrRecordingFixed):
		status, lead = http.StatusConflict, p.words.SettingFixed
	case isRefusal(err):
		status, lead = http.StatusConflict, refusalText(p.words, err)
	case r.Context().Err() != nil: // the browser has left
	default:
		p.log.Error("the owner's page failed", "route", r.Pattern, "error", err)
	}
	if sessionOf(r).ID == 0 {
		p.render(w, r, status, web.SignInPage(web.SignIn{T: p.words, Problem: lead}))
		return
	}
	l, lookErr := p.layout(r, "")
	if lookErr != nil { // the page says what is wrong all the same
		l = p.bareLayout(r, "")
	}
	p.render(w, r, status, web.FaultPage(l, title, lead))
}

// isRefusal reports whether the personal host has refused something.
func isRefusal(err error) bool { return errors.As(err, new(workbench.Refusal)) }

// refusalText gives the sentence for such an error, and "" for any other.
func refusalText(words web.Words, err error) string {
	var refusal workbench.Refusal
	if !errors.As(err, &refusal) {
		return ""
	}
	return cmp.Or(words.Refusals[string(refusal)], words.ServerProblem+": "+string(refusal))
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a peer that has left
}
