package turns

import (
	"context"
	"errors"
	"strings"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
)

// Bounds of a turn.
const (
	TurnLimit  = 120 * time.Second
	maxFound   = 6   // results that a turn may quote
	maxVisited = 256 // messages that are looked through for history
)

// answerAll answers what waits in a conversation, one after the other.
func (t *Turns) answerAll(life context.Context, conversationID string) {
	for {
		turn, ctx, cancel := t.Queue.nextTurn(life, conversationID)
		if turn == nil {
			return
		}
		err := hub.SafeCall(func() error { return errors.Join(t.answer(ctx, life, turn), t.topics.KeepBounds(life)) })
		if err != nil && life.Err() == nil {
			t.hub.Log.Error("a turn could not be ended", "error", err)
		}
		cancel()
	}
}

// errDropped: what the turn was about has changed, or it was cleared.
var errDropped = errors.New("the turn was dropped")

// errGone: the turn's message or its generation is there no more.
var errGone = errors.New("the turn's message is gone")

// answer carries out one turn. When life ends, the host stops, and the turn stays
// stored as pending. An error is one of the store's.
func (t *Turns) answer(ctx, life context.Context, turn *Turn) error {
	answerText, err := "", errDropped
	if !t.Queue.isDropped(turn) {
		err = hub.SafeCall(func() (err error) {
			answerText, err = t.reply(ctx, turn)
			return err
		})
	}
	switch {
	case errors.Is(err, errGone) || life.Err() != nil:
		return nil
	case t.Queue.isDropped(turn):
		err = errDropped
	}
	return t.finish(life, turn, answerText, err)
}

// reply gives what the host says in a turn, also when it broke off.
func (t *Turns) reply(ctx context.Context, turn *Turn) (answerText string, err error) {
	in, err := t.promptInput(ctx, turn)
	if err != nil {
		return "", err
	}
	t.Queue.ifLive(turn, func() {
		t.hub.Caption(nova.Caption{
			TurnID: turn.message.TurnID, Role: nova.User, Text: turn.message.Text, FullText: turn.message.Text, Final: true,
			MessageID: turn.message.ID, ConversationID: turn.conversationID,
		})
	})
	if in.Results, err = t.look(ctx, turn, in.Background.URL); err != nil {
		return "", err
	}
	language := t.opts.Language
	if turn.language != "" {
		language = answers.Language(turn.language)
	}
	prompt := answers.BuildTurn(in, language, t.opts.MaxPrompt)
	stream := answerStream{hub: t.hub, queue: t.Queue, turn: turn}
	err = hub.SafeCall(func() error {
		return t.opts.Model.Generate(ctx, ports.Prompt(prompt), func(piece string) error {
			if err := stream.add(piece); err != nil {
				return err
			}
			return ctx.Err()
		})
	})
	answerText = stream.end()
	switch {
	case err != nil && !endedByModel(err):
		return answerText, err
	case err == nil && strings.TrimSpace(answerText) == "":
		return answerText, ports.ErrModelEmpty
	}
	return answers.WithSources(answerText, in.Results, answers.Notice(ports.EndNotice(err), language)), err
}

// endedByModel reports whether a model has ended an answer otherwise than by giving
// it: at its limit, by a filter, or by refusing.
func endedByModel(err error) bool {
	end := ports.EndNotice(err)
	return end != 0 && end != answers.ModelEmpty
}

// look looks up what a turn can quote. Its words leave this machine only where their
// owner says so, for all texts or in this one. The caption of a text does not wait
// for that.
func (t *Turns) look(ctx context.Context, turn *Turn, excludeURL string) ([]framing.Result, error) {
	_, asked := conversations.SearchWords(turn.message.Text)
	find := t.opts.Find
	if t.opts.Search != nil && (asked || t.Searches.On()) {
		find = t.opts.Search
	}
	if find == nil {
		return nil, nil
	}
	return find(ctx, withoutSearchWord(turn.message.Text), excludeURL, maxFound)
}

// promptInput gathers what is stored and a turn is answered from.
func (t *Turns) promptInput(ctx context.Context, turn *Turn) (in answers.Turn, err error) {
	in.Text = withoutSearchWord(turn.message.Text)
	var about conversations.Background
	err = t.hub.Store.View(ctx, func(tx ports.PersonalView) error {
		if _, _, err := pendingMessage(tx, turn); err != nil {
			return err
		}
		var err error
		if about, _, err = stored.Background(tx, turn.conversationID); err != nil {
			return err
		}
		var history conversations.History
		err = tx.MessagesBefore(turn.conversationID, 0, maxVisited, history.Visit)
		for _, p := range history.Pairs() {
			in.History = append(in.History, answers.Exchange{User: withoutSearchWord(p.User), Assistant: p.Assistant})
		}
		return err
	})
	in.Background = answers.Quote{Title: about.Title, URL: about.URL, Text: about.Text}
	return in, err
}

// withoutSearchWord is what a text says to the model.
func withoutSearchWord(text string) string {
	if words, asked := conversations.SearchWords(text); asked {
		return words
	}
	return text
}

// pendingMessage looks the turn's message up; errGone when it is not to be
// answered any more.
func pendingMessage(tx ports.PersonalView, turn *Turn) (c conversations.Conversation, m conversations.Message, err error) {
	if c, err = tx.Conversation(turn.conversationID); err == nil {
		m, err = tx.Message(turn.conversationID, turn.message.ID)
	}
	switch {
	case errors.Is(err, ports.ErrConversationUnknown), errors.Is(err, ports.ErrMessageUnknown):
		return c, m, errGone
	case err == nil && (c.Generation != turn.generation || m.Status != conversations.Pending):
		return c, m, errGone
	}
	return c, m, err
}

// finish stores how a turn has ended and then shows it. failure is nil for a
// whole answer.
func (t *Turns) finish(life context.Context, turn *Turn, answerText string, failure error) error {
	answerText = conversations.TruncateUnits(strings.TrimSpace(answerText), conversations.MaxMessage)
	status, delivery := conversations.Completed, conversations.Delivered
	switch {
	case errors.Is(failure, errDropped):
		status, answerText = conversations.Interrupted, ""
	case endedByModel(failure): // which its text says
		status, delivery, failure = conversations.Interrupted, conversations.CutOff, nil
	case failure != nil:
		status, delivery = conversations.Failed, conversations.CutOff
	}
	err := t.hub.Update(context.WithoutCancel(life), func(tx ports.PersonalTx) error {
		c, m, err := pendingMessage(tx, turn)
		if err != nil {
			return err
		}
		m.Status = status
		if err := tx.SetMessage(m); err != nil {
			return err
		}
		if answerText != "" {
			if _, err := tx.AddMessage(conversations.Message{
				ID: turn.answerID(), ConversationID: c.ID, Role: conversations.Assistant, Text: answerText, CreatedAt: t.hub.Timestamp(),
				TurnID: m.TurnID, ReplyTo: m.ID, Delivery: delivery,
			}); err != nil {
				return err
			}
		}
		if c.Unread, err = stored.Unread(tx, c); err != nil {
			return err
		}
		c.UpdatedAt = t.hub.Timestamp()
		return tx.PutConversation(c)
	})
	if errors.Is(err, errGone) {
		return nil
	}
	if failure != nil && !errors.Is(failure, errDropped) {
		t.hub.Log.Warn("a turn has failed", "cause", failure)
	}
	cause := ""
	switch {
	case err != nil: // an empty final caption takes away what was shown
		answerText, cause = "", "status_persistence_failed"
	case failure != nil:
		cause = "response_failed"
	}
	t.Queue.ifLive(turn, func() {
		turn.partiallySent = false
		t.hub.Caption(turn.caption(answerText, true))
		if cause != "" {
			t.hub.Broadcast(nova.ConversationError{ConversationID: turn.conversationID, Error: cause})
		}
	})
	return err
}
