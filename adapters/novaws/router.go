package novaws

import (
	"net/http"

	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// The paths of the protocol, compared with the raw request target byte for byte,
// query string included (Nova client protocol §1.1).
const (
	clientPath    = "/client/v1"
	pairPath      = "/client/pair"
	pairAdminPath = "/client/pair-admin"
)

// ServeHTTP decides about one request. Any path upgrades; the verdict on the
// path is a close code.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A request under a name that is not this machine's own came through a proxy,
	// whether or not that has left a mark.
	local := s.hosts.Load().Allows(r.Host)
	switch {
	case s.Stopping():
		respond(w, http.StatusServiceUnavailable, "Plexus has no place for this connection now.")
	case !local && !s.deps.Auth.AcceptsHost(r.Host):
		s.deps.Refuse(admission.WrongHost, "")
		respond(w, http.StatusForbidden, "This name is not accepted here. The owner can accept it: set public_url, or pair a phone with it.")
	case !httpguard.OriginIfAny(r.Header, s.deps.Auth.AcceptsOrigin): // phones send none
		s.deps.Refuse(admission.WebOrigin, r.Header.Get("Origin"))
		respond(w, http.StatusForbidden, "")
	case r.URL.Path == "/healthz" && r.Method == http.MethodGet && !wsconn.IsUpgrade(r):
		respond(w, http.StatusOK, "ok")
	case !wsconn.IsUpgrade(r):
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-WebSocket-Version", "13")
		respond(w, http.StatusUpgradeRequired, "This address speaks WebSocket over HTTP/1.1 only.")
	case r.RequestURI == pairAdminPath && !s.config.RemoteAdmin && (httpguard.Proxied(r.Header) || !local):
		s.deps.Refuse(admission.Proxied, "")
		respond(w, http.StatusForbidden, "")
	case s.deps.Auth.NoPhone():
		respond(w, http.StatusServiceUnavailable, "The owner wants no phone for now.")
	default:
		s.upgrade(w, r)
	}
}

// respond answers with one line of plain text, or none.
func respond(w http.ResponseWriter, status int, line string) {
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line)) // the peer may be gone
}

func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	if !s.Tracker.Reserve() {
		respond(w, http.StatusServiceUnavailable, "Plexus has no place for this connection now.")
		return
	}
	socket, err := wsconn.Upgrade(w, r, wsconn.UpgradeOptions{ReadLimit: nova.MaxMessage, Limits: s.config.Limits})
	if err != nil {
		s.Tracker.Release(nil)
		s.config.Log.Debug("an upgrade failed", "error", err)
		return
	}
	target, peer := r.RequestURI, httpguard.ProxyPeer(r.Header)
	// It runs in a goroutine of its own, so that net/http's grown stack is freed;
	// the tracker, which Shutdown waits for, has its slot already.
	go s.run(socket, target, peer)
}

// run serves one socket to its end.
func (s *Server) run(socket *wsconn.Socket, target, peer string) {
	log := s.config.Log.With("connection", s.lastID.Add(1), "transport", "client")
	switch target {
	case pairPath, pairAdminPath:
		s.runPairing(socket, target == pairAdminPath, log)
	case clientPath:
		s.runClient(socket, peer, log)
	default:
		if s.mayLog("path") {
			log.Info("an unknown path was asked for")
		}
		socket.Close(closeCode(sessions.UnsupportedPath, false), closeLimit)
		s.Tracker.Release(nil)
	}
}
