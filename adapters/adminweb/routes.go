package adminweb

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/go-chi/chi/v5"

	"plexus/web"
)

// routes serves every path behind defences. Anything that changes something is a
// POST.
func (s *Server) routes(defences ...func(http.Handler) http.Handler) (http.Handler, error) {
	static, err := web.Static()
	if err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	r.Use(s.limitRequests) // no defence against pages, so it stands before them all
	r.Use(defences...)
	r.Use(limitBodies, s.cleanPath, routeByPath)
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Get("/", s.signInPage)
	r.Post("/signin", s.signIn)
	r.Get("/signin", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusSeeOther) })
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") })
	r.Get(web.StaticPrefix+"*", static.ServeHTTP)
	if s.API != nil {
		r.Handle(apiRoot+"*", s.commands())
	}

	r.Route(sessionRoot+"{session}", func(r chi.Router) {
		r.MethodNotAllowed(methodNotAllowed(r))
		get := func(path string, place web.Place, v view) { r.Get(path, s.viewHandler(place, v)) }
		post := func(path string, a action) { r.Post(path, s.actionHandler(a)) }

		get("/", web.OverviewPlace, s.overview)
		post("/model/use", s.useModel)

		get("/pair", web.PairPlace, s.pairing)
		post("/pair", s.invite)
		get("/pair/{id}", web.PairPlace, s.invitation)
		post("/pair/{id}/cancel", s.cancelInvitation)
		post("/address/forget", s.forgetAddress)

		get("/devices", web.DevicesPlace, s.devices)
		get("/devices/{id}/revoke", web.DevicesPlace, s.confirmRevoke)
		post("/devices/{id}/revoke", s.revoke)
		post("/hosts/remove", s.removeHost)
		post("/phones/pause", s.pausePhones)
		post("/phones/resume", s.resumePhones)

		get("/extensions", web.ExtensionsPlace, s.extensions)
		post("/extensions/{id}/allow", s.allowExtension)
		post("/extensions/{id}/remove", s.removeExtension)
		post("/extensions/{id}/forget", s.forgetExtension)
		get("/refused", web.RefusedPlace, s.refused)

		get("/sessions", web.SessionsPlace, s.sessions)
		post("/sessions/{id}/end", s.endSession)
		r.Post("/signout", s.signOut)

		if s.Personal != nil {
			get("/conversations", web.ConversationsPlace, s.conversations)
			post("/conversations", s.newChat)
			post("/conversations/remember", s.setRecording)
			get("/conversations/{id}", web.ConversationsPlace, s.conversation)
			post("/conversations/{id}", s.sendText)
			get("/conversations/{id}/clear", web.ConversationsPlace, s.confirmClear)
			post("/conversations/{id}/clear", s.clear)
			get("/conversations/{id}/delete", web.ConversationsPlace, s.confirmDelete)
			post("/conversations/{id}/delete", s.delete)
			get("/topics/delete", web.ConversationsPlace, s.confirmDeleteTopics)
			post("/topics/delete", s.deleteTopics)

			get("/lists", web.ListsPlace, s.todos)
			get("/lists/{list}", web.ListsPlace, s.list)
			post("/lists/{list}", s.addItem)
			post("/lists/about", s.setAbout)
			get("/lists/{list}/{id}", web.ListsPlace, s.item)
			post("/lists/{list}/{id}", s.saveItem)
			get("/lists/{list}/{id}/status", web.ListsPlace, s.list) // where a refusal is shown, and refreshed
			post("/lists/{list}/{id}/status", s.setStatus)
			get("/lists/ideas/{id}/convert", web.ListsPlace, s.ideas)
			post("/lists/ideas/{id}/convert", s.convertIdea)
		}
		if s.Desktop != nil {
			r.Get("/desktop", s.desktop)
		}
		r.Get("/events", s.events)
		r.Get("/*", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNotHere) })
	})
	return r, nil
}

// limitBodies bounds every body.
func limitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, MaxFormBytes)
		next.ServeHTTP(w, r)
	})
}

// cleanPath leads from a path with //, /./ or /../ to the one that it means, and
// from a folder's name without its last slash to the one with it. Serving them where
// they are would let a path mean something else than what the defences judged.
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

// routeByPath makes chi match the decoded path, which is what the defences judged,
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
