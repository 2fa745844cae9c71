package novaws

import (
	"net"
	"net/http"
	"strings"

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
	switch {
	case s.shell.Full(r):
		tell(w, http.StatusServiceUnavailable, "Plexus has no place for this connection now.")
	case !s.hostAccepted(r.Host):
		s.deps.Refuse(admission.WrongHost, "")
		tell(w, http.StatusForbidden, "This name is not accepted here. The owner can accept it: set public_url, or pair a phone with it.")
	case !s.originAccepted(r.Header.Values("Origin")):
		s.deps.Refuse(admission.WebOrigin, r.Header.Get("Origin"))
		tell(w, http.StatusForbidden, "")
	case r.URL.Path == "/healthz" && r.Method == http.MethodGet && !wsconn.IsUpgrade(r):
		tell(w, http.StatusOK, "ok")
	case !wsconn.IsUpgrade(r):
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-WebSocket-Version", "13")
		tell(w, http.StatusUpgradeRequired, "This address speaks WebSocket over HTTP/1.1 only.")
	case r.RequestURI == pairAdminPath && !s.config.RemoteAdmin && (wsconn.Proxied(r.Header) || !s.ownName(r.Host)):
		s.deps.Refuse(admission.Proxied, "")
		tell(w, http.StatusForbidden, "")
	case s.deps.Door.NoPhone():
		tell(w, http.StatusServiceUnavailable, "The owner wants no phone for now.")
	default:
		s.upgrade(w, r)
	}
}

// tell answers with one line of plain text, or none.
func tell(w http.ResponseWriter, status int, line string) {
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line)) // the peer may be gone
}

// hostAccepted takes a loopback name with our port, and what the desk accepts.
func (s *Server) hostAccepted(host string) bool {
	return s.ownName(host) || s.deps.Door.AcceptsHost(host)
}

// ownName reports whether host is a name of this machine for itself, with our
// port. A request under another name came through a proxy, whether or not that
// has left a mark.
func (s *Server) ownName(host string) bool {
	port := s.port.Load()
	if port == nil {
		return false
	}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		if strings.EqualFold(host, net.JoinHostPort(name, *port)) {
			return true
		}
	}
	return false
}

// originAccepted: phones send none; a page must be of an accepted host.
func (s *Server) originAccepted(origins []string) bool {
	return len(origins) == 0 || len(origins) == 1 && s.deps.Door.AcceptsOrigin(origins[0])
}

func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	if !s.tracker.Reserve() {
		tell(w, http.StatusServiceUnavailable, "Plexus has no place for this connection now.")
		return
	}
	socket, err := wsconn.Upgrade(w, r, wsconn.UpgradeOptions{ReadLimit: nova.MaxMessage, Limits: s.config.Limits})
	if err != nil {
		s.tracker.Release(nil)
		s.config.Log.Debug("an upgrade failed", "error", err)
		return
	}
	target, peer := r.RequestURI, proxyPeer(r.Header)
	// A goroutine of its own lets net/http's grown stack go; the tracker, which
	// Shutdown waits for, has its place already.
	go s.run(socket, target, peer)
}

// proxyPeer is who the proxy in front says is calling, or "".
func proxyPeer(h http.Header) string {
	if login := h.Get("Tailscale-User-Login"); login != "" {
		return login
	}
	return h.Get("X-Forwarded-For")
}

// run serves one socket to its end.
func (s *Server) run(socket *wsconn.Socket, target, peer string) {
	log := s.config.Log.With("connection", s.numbers.Add(1), "transport", "client")
	switch target {
	case pairPath, pairAdminPath:
		s.runPairing(socket, target == pairAdminPath, log)
	case clientPath:
		s.runClient(socket, peer, log)
	default:
		log.Info("an unknown path was asked for")
		end := closingOf(sessions.UnsupportedPath, false)
		socket.CloseWith(end.code, end.reason, retireLimit)
		s.tracker.Release(nil)
	}
}
