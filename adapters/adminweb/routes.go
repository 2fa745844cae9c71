package adminweb

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/go-chi/chi/v5"

	"plexus/adapters/adminweb/privacy"
	"plexus/web"
)

// routes serves every path behind defenses. Anything that changes something is a
// POST. Alternatives in a path stand in parentheses, since chi anchors the expression
// as a whole.
func (s *Server) routes(defenses ...func(http.Handler) http.Handler) (http.Handler, error) {
	static, err := web.Static()
	if err != nil {
		return nil, err
	}
	respond, sessions := s.responder(), s.sessions()
	events := &events{sessions, s.streams, s.stop, s.Desktop}
	overview := overviewPage{s.Status, s.Phones, s.Extensions, s.Personal, s.Visited}
	pairing := pairingPages{s.Phones, s.Status, s.QR}
	devices := devicePages{s.Phones}
	extensions := extensionPages{s.Extensions}

	r := chi.NewRouter()
	r.Use(s.limitRequests) // not a defense against pages, so it comes first
	r.Use(defenses...)
	r.Use(func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, MaxFormBytes) })
	r.Use(s.cleanPath, routeByPath)
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Get("/", sessions.signInPage)
	r.Post("/signin", sessions.signIn)
	r.Get("/signin", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusSeeOther) })
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") })
	r.Get(web.StaticPrefix+"*", static.ServeHTTP)
	if s.API != nil {
		r.Handle(apiRoot+"*", http.StripPrefix(strings.TrimSuffix(apiRoot, "/"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// It may have a router of its own, which must not go on where this one is.
			s.API.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, nil)))
		})))
	}

	r.Route(sessionRoot+"{session}", func(r chi.Router) {
		r.MethodNotAllowed(methodNotAllowed(r))
		get := func(path string, place web.Place, v view) { r.Get(path, respond.view(place, v)) }
		post := func(path string, a action) { r.Post(path, respond.action(a)) }

		get("/", web.OverviewPlace, overview.view)
		post("/model/use", overview.useModel)

		get("/pair", web.PairPlace, pairing.start)
		post("/pair", pairing.invite)
		get("/pair/{id}", web.PairPlace, pairing.invitation)
		post("/pair/{id}/cancel", pairing.cancelInvitation)
		post("/pair/{id}/keep", pairing.keepAddress)
		post("/address/forget", pairing.forgetAddress)

		get("/devices", web.DevicesPlace, devices.list)
		get("/devices/{id}/rename", web.DevicesPlace, devices.name)
		post("/devices/{id}/rename", devices.rename)
		post("/devices/{id}/let-in", devices.letIn)
		get("/devices/{id}/revoke", web.DevicesPlace, devices.confirmRevoke)
		post("/devices/{id}/revoke", devices.revoke)
		post("/hosts/remove", devices.removeHost)
		post("/phones/{verb:(pause|resume)}", devices.setPause)

		get("/extensions", web.ExtensionsPlace, extensions.list)
		post("/extensions/{id}/{verb:(allow|remove|forget)}", extensions.decide)
		get("/refused", web.RefusedPlace, extensions.refused)

		get("/sessions", web.SessionsPlace, sessions.list)
		post("/sessions/{id}/end", sessions.end)
		r.Post("/signout", sessions.signOut)

		if s.Personal != nil {
			conversations := conversationPages{s.Personal}
			get("/conversations", web.ConversationsPlace, conversations.list)
			post("/conversations", conversations.newChat)
			post("/conversations/remember", conversations.setRecording)
			post("/privacy/remember", conversations.setRecording)
			get("/conversations/{id}", web.ConversationsPlace, conversations.view)
			post("/conversations/{id}", conversations.sendText)
			get("/conversations/{id}/{verb:(clear|delete)}", web.ConversationsPlace, conversations.confirm)
			post("/conversations/{id}/{verb:(clear|delete)}", conversations.remove)
			get("/topics/delete", web.ConversationsPlace, conversations.confirmDeleteTopics)
			post("/topics/delete", conversations.deleteTopics)

			s.privacyRoutes(get, post)

			lists := listPages{s.Personal.Lists}
			get("/lists", web.ListsPlace, lists.view)
			get("/lists/{list}", web.ListsPlace, lists.view)
			post("/lists/{list}", lists.addItem)
			post("/lists/about", lists.setAbout)
			get("/lists/{list}/{id}", web.ListsPlace, lists.item)
			post("/lists/{list}/{id}", lists.saveItem)
			get("/lists/{list}/{id}/status", web.ListsPlace, lists.view) // where a refusal is shown, and refreshed
			post("/lists/{list}/{id}/status", lists.setStatus)
			get("/lists/{list:ideas}/{id}/convert", web.ListsPlace, lists.view)
			post("/lists/{list:ideas}/{id}/convert", lists.convertIdea)
		}
		if s.Desktop != nil {
			r.Get("/desktop", events.desktop)
		}
		r.Get("/events", events.stream)
		r.Get("/*", func(w http.ResponseWriter, r *http.Request) { respond.fail(w, r, errNotFound) })
	})
	return r, nil
}

// privacyRoutes are those of what is remembered.
func (s *Server) privacyRoutes(get func(path string, place web.Place, v view), post func(path string, a action)) {
	pages := privacy.Pages{Config: s.Personal.Privacy, Facts: s.privacyFacts}
	get("/privacy", web.PrivacyPlace, drawn(pages.Main))
	post("/privacy/search", leading(pages.SetSearches))
	post("/privacy/exclude", func(r *http.Request) (response, error) {
		path, form, err := pages.Exclude(r)
		if form != nil {
			return correct(web.PrivacyPlace, drawn(form)), nil
		}
		return redirect(path), err
	})
	post("/privacy/include", leading(pages.Include))
	get("/privacy/pages", web.PrivacyPlace, drawn(pages.List))
	get("/privacy/forget", web.PrivacyPlace, drawn(pages.Confirm))
	post("/privacy/forget", leading(pages.Forget))
}

func (s *Server) responder() *responder {
	return &responder{s.Words, s.Now, s.Log, s.Extensions, s.Personal != nil, &s.changes}
}

func (s *Server) sessions() *sessions {
	return &sessions{s.responder(), s.Sessions, s.SignIn, s.Random}
}

// limitRequests bounds the requests under way.
func (s *Server) limitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
			next.ServeHTTP(w, r)
		default:
			writeText(w, http.StatusServiceUnavailable, "busy\n")
		}
	})
}

// cleanPath leads from a path with //, /./ or /../ to the one that it means, and
// from a folder's name without its last slash to the one with it. Serving them where
// they are would let a path mean something else than what the defenses judged.
func (s *Server) cleanPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "*" { // OPTIONS *, which is about no path
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		asked := r.URL.EscapedPath()
		clean := path.Clean("/" + asked)
		folder := clean + "/"
		prefix, _ := ofSession(clean)
		isFolder := folder == base(prefix) && prefix != "" || folder == web.StaticPrefix || folder == apiRoot && s.API != nil
		if clean != "/" && strings.HasSuffix(asked, "/") || isFolder && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			clean = folder
		}
		if clean != asked && r.Method != http.MethodConnect {
			http.Redirect(w, r, (&url.URL{Path: clean, RawQuery: r.URL.RawQuery}).String(), http.StatusTemporaryRedirect)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// routeByPath makes chi match the decoded path, which is what the defenses judged,
// and HEAD like GET. Any method that no route has gets one answer; chi itself would
// refuse those that it does not know before it looks at the path.
func routeByPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := chi.RouteContext(r.Context())
		route.RoutePath = r.URL.Path
		switch r.Method {
		case http.MethodGet, http.MethodPost:
		case http.MethodHead:
			route.RouteMethod = http.MethodGet
		default:
			route.RouteMethod = http.MethodTrace
		}
		next.ServeHTTP(w, r)
	})
}

// methodNotAllowed tells which methods the path of a request has. chi's own answer
// would not name HEAD.
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, m := range []struct{ routed, names string }{{http.MethodGet, "GET, HEAD"}, {http.MethodPost, "POST"}} {
			if routes.Match(chi.NewRouteContext(), m.routed, chi.RouteContext(r.Context()).RoutePath) {
				allowed = append(allowed, m.names)
			}
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	}
}
