package turns

import (
	"errors"
	"strings"
	"sync"
	"time"

	"plexus/domain/answers"
	"plexus/domain/nova"
	"plexus/usecases/personal/hub"
)

// Bounds of the stream of an answer.
const (
	captionEvery = 100 * time.Millisecond // at most, of one turn
	maxAnswer    = 64 << 10               // bytes of an answer that are looked at
)

var (
	errTooLong = errors.New("the answer is too long")
	errEnded   = errors.New("the answer has ended")
)

// answerStream is an answer while it is being made. Clients get a caption with the
// text so far at most once in captionEvery, and new text no later than that.
type answerStream struct {
	hub   *hub.Hub
	queue *Queue
	turn  *Turn

	mu    sync.Mutex
	text  strings.Builder
	sent  time.Time   // when a caption went out last
	stop  func() bool // of the caption that is due; nil: none is
	ended bool
}

func (s *answerStream) add(piece string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return errEnded
	case s.text.Len()+len(piece) > maxAnswer:
		return errTooLong
	}
	s.text.WriteString(strings.ToValidUTF8(piece, "\uFFFD"))
	if s.stop != nil {
		return nil
	}
	now := s.hub.Now()
	if since := now.Sub(s.sent); 0 <= since && since < captionEvery {
		s.stop = s.hub.After(captionEvery-since, s.sendLate)
	} else {
		s.send(now)
	}
	return nil
}

// sendLate sends what came since the last caption.
func (s *answerStream) sendLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = nil
	if !s.ended {
		s.send(s.hub.Now())
	}
}

// send is called with mu held.
func (s *answerStream) send(now time.Time) {
	s.sent = now
	text := answers.Spoken(s.text.String()) // now: what is deferred is shown without mu
	s.queue.ifLive(s.turn, func() {
		s.turn.partiallySent = true
		s.hub.Caption(s.turn.caption(text, false))
	})
}

// end stops the stream and gives the whole text of the answer.
func (s *answerStream) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.stop != nil {
		s.stop()
	}
	return answers.Spoken(s.text.String())
}

// caption is the caption with the text of a turn so far.
func (t *Turn) caption(text string, final bool) nova.Caption {
	c := nova.Caption{
		TurnID: t.message.TurnID, Role: nova.Assistant, Text: text, Final: final,
		MessageID: t.answerID(), ConversationID: t.conversationID,
	}
	if final {
		c.FullText = text
	}
	return c
}

// answerID is the ID of the message that answers the turn.
func (t *Turn) answerID() string { return "assistant:" + strings.TrimPrefix(t.message.ID, "user:") }
