package novaws

import (
	"context"
	"log/slog"
	"time"
	"unicode/utf8"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// Bounds of the pairing paths (Nova client protocol §21.1).
const (
	maxPairSockets = 8
	pairLimit      = 5 * time.Second // from accept to the end
)

// pairLink is a pairing socket in the tracker's eyes.
type pairLink struct{ socket *wsconn.Socket }

func (p *pairLink) Close(sessions.CloseReason) { p.socket.Cut() }

// runPairing serves one pairing socket: one message in, one answer out. It never
// touches the client's place.
func (s *Server) runPairing(socket *wsconn.Socket, admin bool, log *slog.Logger) {
	link := &pairLink{socket}
	s.tracker.Add(link)
	defer s.tracker.Release(link)
	if !s.enterPairing() {
		log.Warn("a pairing socket was cut", "reason", sessions.PairingOverLimit.String())
		socket.Cut()
		return
	}
	defer s.leavePairing()
	limit := time.AfterFunc(pairLimit, socket.Cut)
	defer limit.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), pairLimit)
	defer cancel()

	request, ok := firstText(socket)
	if !ok {
		socket.Cut()
		return
	}
	answer := s.pairAnswer(ctx, request, admin)
	log.Info("a pairing request was answered", "admin", admin, "answer", answer.Type())
	text, err := nova.Append(nil, answer)
	if err != nil {
		log.Error("a pairing answer could not be written", "error", err)
		text, _ = nova.Append(nil, nova.PairError{}) // constant, never fails
	}
	if err := socket.WriteText(text); err != nil {
		socket.Cut()
		return
	}
	end := closingOf(sessions.Finished, false)
	socket.CloseWith(end.code, end.reason, retireLimit)
}

func (s *Server) pairAnswer(ctx context.Context, request []byte, admin bool) nova.Message {
	if !admin && !s.desk.CountAttempt() {
		return nova.PairError{}
	}
	if len(request) > nova.MaxPairText || !utf8.Valid(request) {
		return nova.PairError{}
	}
	if admin {
		r, err := nova.DecodePairAdmin(request)
		if err != nil {
			return nova.PairError{}
		}
		answer, err := s.desk.Administer(ctx, r)
		if err != nil {
			return nova.PairError{} // the desk has logged the cause
		}
		return answer
	}
	r, err := nova.DecodePairRedeem(request)
	if err != nil {
		return nova.PairError{}
	}
	ready, err := s.desk.Redeem(ctx, r)
	if err != nil {
		return nova.PairError{}
	}
	return ready
}

// firstText reads the one message that counts. A binary one is an empty request,
// which gets the error answer. ok is false when none came.
func firstText(socket *wsconn.Socket) (request []byte, ok bool) {
	binary, body, err := socket.Next()
	if err != nil {
		return nil, false
	}
	request, err = readAll(body, nil)
	if err != nil {
		return nil, wsconn.FaultOf(err) != wsconn.PeerGone
	}
	socket.MessageDone()
	if binary {
		return nil, true
	}
	return request, true
}

func (s *Server) enterPairing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pairs >= maxPairSockets {
		return false
	}
	s.pairs++
	return true
}

func (s *Server) leavePairing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pairs--
}
