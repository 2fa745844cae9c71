package novaclient

import (
	"errors"
	"slices"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
)

// errUnusable: a message of a known type that cannot be used.
var errUnusable = errors.New("a member is wrong or missing")

// decodeMessage reads a text message. limit is its longest length in bytes. Of the
// strict family it refuses also what nova.DecodeMessage has passed over for the
// lenient one: a message of a type that is acted upon, and a question that is not
// shown.
func decodeMessage(text []byte, limit int, p Profile) (nova.Message, error) {
	if len(text) > limit {
		return nil, &Fault{"a text message is too long", nil}
	}
	m, err := nova.DecodeMessage(text)
	if err != nil {
		return nil, &Fault{"a text message cannot be read", err}
	}
	isFalse := func(member string) bool {
		token, _ := jsonform.Read(text).Token(member)
		return token == "false"
	}
	unusable := false
	switch m := m.(type) {
	case nova.Unknown: // the other types are status texts, or nothing at all to an app
		unusable = slices.Contains([]string{
			"client.command_result", "desktop.capabilities", "caption", "input.text_result", "input.transcription",
			"personal.result", "executor.state", "executor.progress", "executor.result",
		}, m.Name)
	case nova.ProjectState:
		unusable = !m.Pending.Set && !isFalse("pending_confirmation")
	case nova.ExecutorApproval:
		unusable = !m.Pending.Set && !isFalse("pending_approval")
	}
	if unusable && p == Flutter {
		return nil, &Fault{"a " + m.Type() + " cannot be used", errUnusable}
	}
	return m, nil
}

// handle does what an app does on a message, and hands it on. An error ends the
// connection.
func (c *Conn) handle(kind websocket.MessageType, message []byte) error {
	now := time.Now()
	if kind == websocket.MessageBinary {
		h, pcm, err := nova.DecodeAudioFrame(message)
		if err != nil {
			return &Fault{"a binary message is no audio frame", err}
		}
		c.play(func(p *player) []nova.Control { return p.frame(h, pcm, now) })
		return nil
	}
	limit := nova.MaxText
	if c.ready.Personal {
		limit = nova.MaxPersonalText
	}
	m, err := decodeMessage(message, limit, c.options.Profile)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case nova.Caption:
		if !c.isNewCaption(m) {
			return nil
		}
	case nova.PlaybackClear:
		c.play(func(p *player) []nova.Control { return p.clear(m.Generation, now) })
	case nova.PlaybackTerminal:
		c.play(func(p *player) []nova.Control { return p.finish(m.Generation, now) })
	case nova.ProjectState:
		err = c.setCard("", m.ConversationID, projectCard(m, now))
	case nova.ExecutorApproval:
		err = c.setCard(m.Executor, m.ConversationID, approvalCard(m, now))
	case nova.PersonalState:
		if !c.ready.Personal {
			return nil
		}
		err = c.takeState(m)
	case nova.PersonalResult:
		if !c.ready.Personal {
			return nil
		}
		c.resolve(m)
		err = c.takeResult(m)
	default:
		c.resolve(m)
	}
	c.options.Events.message(m)
	return err
}

// play lets the player do something and sends its reports.
func (c *Conn) play(do func(*player) []nova.Control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.enqueueAll(do(&c.player)) // an error is the end of the connection
	c.signal()                      // when to look next may have changed
}

// setCard shows a card in place of the one of this executor and conversation, or
// takes that away.
func (c *Conn) setCard(executor, conversation string, card *Card) error {
	if c.options.Profile == IOS {
		conversation = "" // the old app knows of none
	}
	c.mu.Lock()
	removed, err := c.cards.put(cardKey{executor, conversation}, card)
	c.mu.Unlock()
	if err != nil {
		card = nil
	}
	c.options.Events.cards(removed, card)
	return err
}

// isNewCaption wants a sequence above the last one: one counter for both roles.
func (c *Conn) isNewCaption(m nova.Caption) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if int64(m.Sequence) <= c.lastCaption {
		return false
	}
	c.lastCaption = int64(m.Sequence) // at most MaxSafeInteger
	return true
}

// resolve gives an answer to whoever waits for it.
func (c *Conn) resolve(m nova.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case nova.Receipt:
		deliver(c.receipts, m.RequestID, m.Status)
	case nova.TextResult:
		deliver(c.texts, m.RequestID, m)
	case nova.Transcription:
		deliver(c.transcriptions, m.ID, m)
	case nova.PersonalResult:
		deliver(c.results, m.RequestID, m)
	case nova.DesktopCapabilities:
		c.input = m
	case nova.ClockPing:
		_ = c.enqueueAll([]nova.Control{nova.ClockPong{PingID: m.PingID, RenderMS: c.renderMS()}}) // as in play
	}
}

// deliver gives the first answer to its waiter; others find nobody.
func deliver[T any](waiting map[string]chan T, id string, answer T) {
	if ch, ok := waiting[id]; ok {
		ch <- answer // it has room for one
		delete(waiting, id)
	}
}

// renderMS is this client's own clock.
func (c *Conn) renderMS() float64 { return float64(time.Since(c.since).Microseconds()) / 1000 }
