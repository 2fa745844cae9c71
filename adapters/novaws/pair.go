package novaws

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/usecases/recovery"
)

// Bounds of the pairing paths (Nova client protocol §21.1).
const (
	maxPairSockets = 8
	pairLimit      = 5 * time.Second // from accept to the end
)

// pairLink is a pairing socket in the tracker's eyes.
type pairLink struct {
	socket  *wsconn.Socket
	ctx     context.Context // of the request
	cancel  context.CancelFunc
	stopped atomic.Bool // this host stops
}

// Close gives up the request and closes the socket with a code, in the background.
// It is only called when this host stops.
func (p *pairLink) Close(sessions.CloseReason) {
	p.stopped.Store(true)
	p.cancel()
	go p.abandon()
}

// abandon ends the socket without an answer.
func (p *pairLink) abandon() {
	if !p.stopped.Load() {
		p.socket.CloseNow()
		return
	}
	p.socket.Close(closeCode(sessions.Shutdown, false), closeLimit)
}

// runPairing serves one pairing socket: one message in, one answer out. It never
// touches the client's slot.
func (s *Server) runPairing(socket *wsconn.Socket, admin bool, log *slog.Logger) {
	link := &pairLink{socket: socket}
	link.ctx, link.cancel = context.WithTimeout(context.Background(), pairLimit)
	defer link.cancel()
	s.Tracker.Add(link)
	defer s.Tracker.Release(link)
	defer func() {
		if p := recover(); p != nil {
			log.Error("a pairing request panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
			socket.CloseNow()
		}
	}()
	s.mu.Lock()
	full := s.pairs >= maxPairSockets
	if !full {
		s.pairs++
	}
	s.mu.Unlock()
	if full {
		if s.mayLog("cut") {
			log.Warn("a pairing socket was cut", "reason", sessions.PairingOverLimit.String())
		}
		socket.CloseNow()
		return
	}
	defer func() {
		s.mu.Lock()
		s.pairs--
		s.mu.Unlock()
	}()
	limit := time.AfterFunc(pairLimit, socket.CloseNow)
	defer limit.Stop()

	request, err := firstText(socket)
	if err != nil {
		if wsconn.FaultOf(err) == wsconn.TooBig {
			socket.Close(closeCode(sessions.MessageTooBig, false), closeLimit)
			return
		}
		link.abandon()
		return
	}
	answer := s.pairAnswer(link.ctx, request, admin)
	if _, failed := answer.(nova.PairError); failed && link.ctx.Err() != nil {
		link.abandon() // it was given up at the stop or after pairLimit, not refused
		return
	}
	if s.mayLog("answered") {
		log.Info("a pairing request was answered", "admin", admin, "reply", answer.Type()) // not "answer", which the log's redaction hides
	}
	text, err := nova.Append(nil, answer)
	if err != nil {
		log.Error("a pairing answer could not be written", "error", err)
		text, _ = nova.Append(nil, nova.PairError{}) // constant, never fails
	}
	if err := socket.Write(text, true); err != nil {
		link.abandon()
		return
	}
	socket.Close(closeCode(sessions.Finished, false), closeLimit)
}

func (s *Server) pairAnswer(ctx context.Context, request []byte, admin bool) nova.Message {
	if admin {
		r, err := nova.DecodePairAdmin(request)
		if err != nil {
			return nova.PairError{}
		}
		answer, err := s.administer(ctx, r)
		if err != nil {
			if s.mayLog("admin") {
				s.config.Log.Warn("a pair-admin request failed", "error", err)
			}
			return nova.PairError{}
		}
		return answer
	}
	if !s.deps.Pairing.CountAttempt() {
		return nova.PairError{}
	}
	r, err := nova.DecodePairRedeem(request)
	if err != nil {
		return nova.PairError{}
	}
	token, device, err := s.deps.Pairing.Redeem(ctx, pairing.Code{Text: r.Code}, r.DeviceName)
	if err != nil {
		return nova.PairError{} // the host has logged the cause
	}
	return nova.PairReady{Token: token.Text, DeviceID: device.ID.String()}
}

// administer does what the owner of the master token asks for. The answer is the new
// invitation, or else the list of devices.
func (s *Server) administer(ctx context.Context, request nova.PairRequest) (nova.Message, error) {
	invitations := s.deps.Pairing
	if err := invitations.AuthenticateMaster(ctx, pairing.MasterToken{Text: tokenOf(request)}); err != nil {
		return nil, err
	}
	var code secret.Text // of the invitation that is asked about
	var err error
	switch r := request.(type) {
	case nova.PairCreate:
		i, _, err := invitations.CreateInvitation(ctx, r.Server)
		if err != nil {
			return nil, err
		}
		return nova.Invitation{Server: i.Server.String(), Code: i.Code.Text}, nil
	case nova.PairList:
		code = r.Code
	case nova.PairRevoke:
		var id pairing.DeviceID
		if id, err = pairing.ParseDeviceID(r.DeviceID); err == nil {
			err = invitations.Revoke(ctx, id)
		}
	case nova.PairCancel:
		code = r.Code
		_, err = invitations.CancelInvitation(ctx, pairing.Code{Text: code}.ID())
	default:
		err = fmt.Errorf("no such pair-admin request: %T", request)
	}
	if err != nil {
		return nil, err
	}
	devices, err := invitations.Devices(ctx)
	if err != nil {
		return nil, err
	}
	answer := nova.PairDevices{Active: !code.Empty() && invitations.ActiveCode(code)}
	for _, d := range devices {
		answer.Devices = append(answer.Devices, nova.PairedDevice{ID: d.ID.String(), Name: d.Name, CreatedAt: uint64(d.CreatedAt.UnixMilli())})
	}
	return answer, nil
}

// tokenOf is the token that a request presents; empty for one without a token,
// which never equals the master token.
func tokenOf(request nova.PairRequest) secret.Text {
	switch r := request.(type) {
	case nova.PairCreate:
		return r.Token
	case nova.PairList:
		return r.Token
	case nova.PairRevoke:
		return r.Token
	case nova.PairCancel:
		return r.Token
	}
	return secret.Text{}
}

// firstText reads the one message that counts. A binary one is an empty request,
// which gets the error answer, and so does one that breaks off in the middle.
func firstText(socket *wsconn.Socket) (request []byte, err error) {
	binary, body, err := socket.Next()
	if err != nil {
		return nil, err
	}
	request, err = io.ReadAll(body) // the socket bounds it
	if err != nil {
		if fault := wsconn.FaultOf(err); fault == wsconn.PeerGone || fault == wsconn.TooBig {
			return nil, err
		}
		return nil, nil
	}
	socket.MessageDone()
	if binary {
		return nil, nil
	}
	return request, nil
}
