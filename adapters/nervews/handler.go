package nervews

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"plexus/adapters/gate"
	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn"
	"plexus/domain/admission"
	"plexus/domain/framing"
)

// ServeHTTP decides about one request. The order is part of the contract: who may
// talk to this listener at all, then what kind of request it is, and only for a
// proper upgrade who is asking; so that a malformed upgrade is answered alike for a
// right and a wrong token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Stopping():
		answer(w, http.StatusServiceUnavailable)
	case !s.hosts.Load().Allows(r.Host):
		s.refuse(w, r, admission.WrongHost)
	case httpguard.Proxied(r.Header):
		s.refuse(w, r, admission.Proxied)
	case !s.sameUser(r):
		s.refuse(w, r, admission.ForeignUser)
	case r.URL.Path == "/healthz" && r.Method == http.MethodGet && !wsconn.IsUpgrade(r):
		answer(w, http.StatusOK)
		_, _ = w.Write([]byte("ok")) // the peer may be gone
	case !wsconn.IsUpgrade(r):
		s.explainUpgrade(w, r)
	default:
		s.upgrade(w, r)
	}
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, cause admission.Cause) {
	s.auth.Refuse(cause, r.Header.Get("Origin"))
	answer(w, http.StatusForbidden)
}

// answer sends a status with an empty body, the same bytes for every cause.
func answer(w http.ResponseWriter, status int) {
	w.Header().Set("Connection", "close")
	if status != http.StatusOK {
		w.Header().Set("Content-Length", "0")
	}
	w.WriteHeader(status)
}

// sameUser asks the system whose process is calling. When that cannot be found out,
// the request is refused.
func (s *Server) sameUser(r *http.Request) bool {
	if s.config.PeerIsOurs == nil {
		return true
	}
	conn := gate.ConnOf(r)
	if conn == nil {
		return false
	}
	ours, err := s.config.PeerIsOurs(conn)
	if err != nil {
		s.config.Log.Debug("the peer's user could not be found out", "error", err)
	}
	return err == nil && ours
}

// explanation is what an extension may read of a 426: that this is Plexus, whether its
// origin is allowed, where the owner lets it in, and whether a token that it gave is
// the right one.
type explanation struct {
	Product string `json:"product"`
	Allowed bool   `json:"allowed"`
	Page    string `json:"page,omitempty"`
	Token   *bool  `json:"token,omitempty"`
}

// explainUpgrade answers what is no WebSocket upgrade with 426. Only an extension
// may read more than that, so that its panel can tell "not running" from "not allowed"
// (decision D7a). What it asks so leaves no row and no line.
func (s *Server) explainUpgrade(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Connection", "close, Upgrade")
	h.Set("Upgrade", "websocket")
	h.Set("Sec-WebSocket-Version", "13")
	origin, class := admission.ClassifyOrigin(r.Header.Values("Origin"))
	if class != admission.ExtensionOrigin {
		h.Set("Content-Length", "0")
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	}
	told := explanation{Product: "plexus", Allowed: s.auth.OriginAllowed(r.Context(), origin), Page: s.config.OwnersPage}
	if key, ok := offered(w, r); ok {
		right := s.auth.IsToken(key)
		told.Token = &right
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Vary", "Origin")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUpgradeRequired)
	_ = json.NewEncoder(w).Encode(told) // the peer may be gone
}

// Limits of a body that offers a token: one entry as in Sec-WebSocket-Protocol.
const (
	maxOffer   = 100 // bytes
	offerLimit = time.Second
)

// offered reads the token that the body of a POST asks about. Any other body, and one
// that does not come in time, is no offer.
func offered(w http.ResponseWriter, r *http.Request) (key admission.KeyHash, ok bool) {
	if r.Method != http.MethodPost || r.ContentLength > maxOffer || r.Body == http.NoBody {
		return key, false
	}
	// Without a limit of its own the read would have the whole handshake's.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(offerLimit))
	body, err := io.ReadAll(io.LimitReader(r.Body, maxOffer+1))
	if err != nil || len(body) > maxOffer {
		return key, false
	}
	offers := admission.ParseOffers([]string{string(body)})
	if len(offers) != 1 || !offers[0].IsKey {
		return key, false
	}
	return offers[0].Key, true
}

func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	verdict := s.auth.Admit(r.Context(), admission.HandshakeRequest{
		Origins:   r.Header.Values("Origin"),
		Protocols: r.Header.Values("Sec-WebSocket-Protocol"),
	})
	if !verdict.Admitted {
		answer(w, http.StatusForbidden)
		return
	}
	if !s.Tracker.Reserve() {
		if !s.Stopping() {
			s.auth.Refuse(admission.TooMany, verdict.Peer.Origin)
		}
		answer(w, http.StatusServiceUnavailable)
		return
	}
	socket, err := wsconn.Upgrade(w, r, wsconn.UpgradeOptions{
		Subprotocol: verdict.Entry,
		ReadLimit:   framing.MaxFrameSize,
		Limits:      s.config.Limits,
	})
	if err != nil {
		s.Tracker.Release(nil)
		s.config.Log.Debug("an upgrade failed", "error", err)
		return
	}
	log := s.config.Log.With("connection", s.lastID.Add(1), "transport", "websocket",
		"origin", verdict.Peer.Origin, "basis", string(verdict.Peer.Basis))
	link := &socketLink{socket: socket, buffer: FrameBuffer{Waited: socket.FrameWaited}}
	session := NewSession(link, s.queries, verdict.Peer, s.config.Payloads, s.config.Timing, log)
	// It runs in a goroutine of its own, so that net/http's grown stack is freed;
	// the tracker, which Shutdown waits for, has its slot already.
	go session.Serve(s.Tracker, s.auth, verdict)
}
