package adminweb

import (
	"net/http"
	"strings"

	"plexus/domain/admission"
	"plexus/domain/secret"
)

const (
	apiRoot = "/api/"
	scheme  = "Bearer "
)

// forAPI reports whether a request is for the API that there is.
func (s *Site) forAPI(r *http.Request) bool {
	return s.API != nil && strings.HasPrefix(r.URL.Path, apiRoot)
}

// browserMade reports whether a request has what browsers add and no command
// sends. An extension may set Authorization, but not take these away.
func browserMade(r *http.Request) bool {
	return len(r.Header["Origin"]) > 0 || len(r.Header["Cookie"]) > 0 || fetchesTold(r)
}

// guardToken lets nobody to the API without the master token. What was wrong with
// a request, the answer does not say.
func (s *Site) guardToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.forAPI(r) && !s.bringsMaster(r) {
			s.Extensions.Refuse(admission.NoMaster, "")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bringsMaster compares hashes, which takes the same time whatever was brought.
func (s *Site) bringsMaster(r *http.Request) bool {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return false
	}
	token, ok := strings.CutPrefix(values[0], scheme)
	return ok && secret.New(token).Hash().Equal(s.Master)
}
