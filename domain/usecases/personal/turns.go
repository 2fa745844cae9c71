package personal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/ports"
)

// Bounds of turns.
const (
	TurnLimit    = 120 * time.Second
	maxQueued    = 64                     // texts and turns that wait in one conversation
	maxOpen      = 1024                   // texts and turns that wait and run in all
	captionEvery = 100 * time.Millisecond // at most, of one turn
	maxFound     = 6                      // results that a turn may quote
	maxAnswer    = 64 << 10               // bytes of an answer that are looked at
	maxVisited   = 256                    // messages that are looked through for history
)

// enqueue lets an admitted turn be answered after those before it.
func (h *Host) enqueue(t turn) {
	l := &h.lines
	l.mu.Lock()
	o := l.get(t.conversationID)
	o.turns = append(o.turns, &t)
	begin := o.current == nil && len(o.turns) == 1
	l.mu.Unlock()
	if begin {
		// When the host stops the message stays pending, and the next start says so.
		h.group.start(func(ctx context.Context) { h.answerAll(ctx, t.conversationID) })
	}
}

// answerAll answers what waits in a conversation, one after the other.
func (h *Host) answerAll(ctx context.Context, id string) {
	l := &h.lines
	for {
		l.mu.Lock()
		o := l.open[id]
		o.current, o.cancel = nil, nil
		if len(o.turns) == 0 || ctx.Err() != nil {
			o.turns = nil
			l.tidy(id)
			l.mu.Unlock()
			return
		}
		t := o.turns[0]
		o.turns = o.turns[1:]
		running, cancel := h.deps.Within(ctx, TurnLimit)
		o.current, o.cancel = t, cancel
		l.mu.Unlock()
		if err := guard(func() error { return errors.Join(h.answer(running, ctx, t), h.keepBounds(ctx)) }); err != nil && ctx.Err() == nil {
			h.deps.Log.Error("a turn could not be ended", "error", err)
		}
		cancel()
	}
}

// errDropped: what the turn was about has changed, or it was cleared.
var errDropped = errors.New("the turn was dropped")

// errGone: the turn's message or its generation is there no more.
var errGone = errors.New("the turn's message is gone")

// material is what a turn is answered from.
type material struct {
	about   conversations.Background
	history []conversations.Pair
	results []framing.Result
}

// answer carries out one turn. life ends with the host: then the turn stays as it
// is stored, pending. An error is one of the store's.
func (h *Host) answer(ctx, life context.Context, t *turn) error {
	said, err := "", errDropped
	if !h.lines.isDropped(t) {
		err = guard(func() (err error) {
			said, err = h.reply(ctx, t)
			return err
		})
	}
	switch {
	case errors.Is(err, errGone) || life.Err() != nil:
		return nil
	case h.lines.isDropped(t):
		err = errDropped
	}
	return h.finish(life, t, said, err)
}

// reply gives what the host says in a turn, also when it broke off.
func (h *Host) reply(ctx context.Context, t *turn) (said string, err error) {
	m, err := h.material(ctx, t)
	if err != nil {
		return "", err
	}
	h.lines.ifLive(t, func() {
		h.caption(nova.Caption{
			TurnID: t.message.TurnID, Role: nova.User, Text: t.message.Text, FullText: t.message.Text, Final: true,
			MessageID: t.message.ID, ConversationID: t.conversationID,
		})
	})
	if said, err = h.generate(ctx, t, m); err == nil {
		said = answers.WithSources(said, m.results)
	}
	return said, err
}

// material gathers what a turn may quote.
func (h *Host) material(ctx context.Context, t *turn) (m material, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		if _, _, err := pendingMessage(tx, t); err != nil {
			return err
		}
		var err error
		if m.about, _, err = load[conversations.Background](tx, areaBackground, t.conversationID); err != nil {
			return err
		}
		var history conversations.History
		err = tx.MessagesBefore(t.conversationID, 0, maxVisited, history.Visit)
		m.history = history.Pairs()
		return err
	})
	if err != nil || h.deps.Find == nil {
		return m, err
	}
	m.results, err = h.deps.Find(ctx, t.message.Text, m.about.URL, maxFound)
	return m, err
}

// pendingMessage looks the turn's message up; errGone when it is not to be
// answered any more.
func pendingMessage(tx ports.PersonalView, t *turn) (c conversations.Conversation, m conversations.Message, err error) {
	if c, err = tx.Conversation(t.conversationID); err == nil {
		m, err = tx.Message(t.conversationID, t.message.ID)
	}
	switch {
	case errors.Is(err, ports.ErrConversationUnknown), errors.Is(err, ports.ErrMessageUnknown):
		return c, m, errGone
	case err == nil && (c.Generation != t.generation || m.Status != conversations.Pending):
		return c, m, errGone
	}
	return c, m, err
}

// generate streams the model's answer to the clients and gives what was said,
// also when it broke off.
func (h *Host) generate(ctx context.Context, t *turn, m material) (string, error) {
	history := make([]answers.Exchange, len(m.history))
	for i, p := range m.history {
		history[i] = answers.Exchange(p)
	}
	prompt := answers.BuildTurn(answers.Turn{
		Text: t.message.Text, Results: m.results, History: history,
		Background: answers.Quote{Title: m.about.Title, URL: m.about.URL, Text: m.about.Text},
	}, h.language(t.language), h.opts.MaxPrompt)
	said := speech{host: h, turn: t}
	err := guard(func() error {
		return h.deps.Model.Generate(ctx, ports.Prompt(prompt), func(piece string) error {
			if err := said.add(piece); err != nil {
				return err
			}
			return ctx.Err()
		})
	})
	said.end()
	if err == nil && strings.TrimSpace(said.String()) == "" {
		err = ports.ErrModelEmpty
	}
	return said.String(), err
}

// speech is an answer while it is being made. Clients see it grow, at most every
// captionEvery, and never later than that.
type speech struct {
	host *Host
	turn *turn

	mu    sync.Mutex
	text  strings.Builder
	shown time.Time
	stop  func() bool // of the showing that is due; nil: none is
	ended bool
}

func (s *speech) add(piece string) error {
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
	now := s.host.deps.Now()
	if since := now.Sub(s.shown); 0 <= since && since < captionEvery {
		s.stop = s.host.deps.After(captionEvery-since, s.late)
	} else {
		s.show(now)
	}
	return nil
}

// late shows what came since the last showing.
func (s *speech) late() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = nil
	if !s.ended {
		s.show(s.host.deps.Now())
	}
}

// show is called with mu held.
func (s *speech) show(now time.Time) {
	s.shown = now
	said := s.text.String() // now: what is held back is shown without mu
	s.host.lines.ifLive(s.turn, func() {
		s.turn.halfShown = true
		s.host.caption(s.turn.caption(said, false))
	})
}

// end shows nothing any more.
func (s *speech) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.stop != nil {
		s.stop()
	}
}

// String is what was said.
func (s *speech) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

var (
	errTooLong = errors.New("the answer is too long")
	errEnded   = errors.New("the answer has ended")
)

// caption is what the host says in a turn.
func (t *turn) caption(text string, final bool) nova.Caption {
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
func (t *turn) answerID() string { return "assistant:" + strings.TrimPrefix(t.message.ID, "user:") }

func (h *Host) language(l nova.Language) answers.Language {
	if l == "" {
		return h.opts.Language
	}
	return answers.Language(l)
}

// finish stores how a turn has ended and then shows it. failure is nil for a
// whole answer.
func (h *Host) finish(life context.Context, t *turn, said string, failure error) error {
	said = conversations.CutUnits(strings.TrimSpace(said), conversations.MaxMessage)
	status, delivery := conversations.Completed, conversations.Delivered
	switch {
	case errors.Is(failure, errDropped):
		status, said = conversations.Interrupted, ""
	case failure != nil:
		status, delivery = conversations.Failed, conversations.CutOff
	}
	err := h.update(context.WithoutCancel(life), func(tx ports.PersonalTx) error {
		c, m, err := pendingMessage(tx, t)
		if err != nil {
			return err
		}
		m.Status = status
		if err := tx.SetMessage(m); err != nil {
			return err
		}
		if said != "" {
			if _, err := tx.AddMessage(conversations.Message{
				ID: t.answerID(), ConversationID: c.ID, Role: conversations.Assistant, Text: said, CreatedAt: h.now(),
				TurnID: m.TurnID, ReplyTo: m.ID, Delivery: delivery,
			}); err != nil {
				return err
			}
		}
		if c.Unread, err = unread(tx, c); err != nil {
			return err
		}
		c.UpdatedAt = h.now()
		return tx.PutConversation(c)
	})
	if errors.Is(err, errGone) {
		return nil
	}
	if failure != nil && !errors.Is(failure, errDropped) {
		h.deps.Log.Warn("a turn has failed", "cause", failure)
	}
	h.lines.ifLive(t, func() { h.showEnd(t, said, failure, err) })
	return err
}

// showEnd tells the clients how a turn has ended. An empty final caption takes
// away what was shown.
func (h *Host) showEnd(t *turn, said string, failure, unstored error) {
	t.halfShown = false
	switch {
	case unstored != nil:
		h.caption(t.caption("", true))
		h.conversationError(t.conversationID, "status_persistence_failed")
	case failure != nil:
		h.caption(t.caption(said, true))
		h.conversationError(t.conversationID, "response_failed")
	default:
		h.caption(t.caption(said, true))
	}
}

func (h *Host) conversationError(conversationID, cause string) {
	h.broadcast(nova.ConversationError{ConversationID: conversationID, Error: cause})
}

// dropTurns ends what runs and waits in a conversation, for good, and takes back
// what clients were shown of it: an empty final caption.
func (h *Host) dropTurns(id string) {
	for _, t := range h.lines.drop(id) {
		h.caption(t.caption("", true))
	}
}

// drop ends the turns of a conversation and gives those that are shown in part.
func (l *lines) drop(id string) (halfShown []*turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[id]
	if o == nil {
		return nil
	}
	gone := slices.Clone(o.turns) // they are marked when their turn comes
	for _, late := range o.held {
		gone = append(gone, late.turn)
	}
	if o.current != nil {
		gone = append(gone, o.current)
		o.cancel()
	}
	for _, t := range gone {
		if t.halfShown && !t.dropped {
			halfShown = append(halfShown, t)
		}
		t.dropped = true
	}
	return halfShown
}

// ifLive calls show unless the turn, which runs, was dropped. While its
// conversation is being cleared it waits for what becomes of that. No clearing
// can end in between.
func (l *lines) ifLive(t *turn, show func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[t.conversationID]
	switch {
	case t.dropped:
	case o.mutes > 0:
		o.held = append(o.held, held{t, show})
	default:
		show()
	}
}

func (l *lines) isDropped(t *turn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.dropped
}
