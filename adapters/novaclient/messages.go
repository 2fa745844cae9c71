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

// handle does what an app does on a message, and passes it to Events. An error ends
// the connection.
func (c *Conn) handle(kind websocket.MessageType, message []byte) error {
	now := time.Now()
	if kind == websocket.MessageBinary {
		h, pcm, err := nova.DecodeAudioFrame(message)
		if err != nil {
			return &Fault{"a binary message is no audio frame", err}
		}
		_ = c.uplink.play(func(p *player) []nova.Control { return p.frame(h, pcm, now) }) // the connection is over if it fails
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
	case nova.Receipt:
		c.receipts.deliver(m.RequestID, m.Status)
	case nova.TextResult:
		c.texts.deliver(m.RequestID, m)
	case nova.Transcription:
		c.transcriptions.deliver(m.ID, m)
	case nova.DesktopCapabilities:
		c.mu.Lock()
		c.input = m
		c.mu.Unlock()
	case nova.ClockPing:
		_ = c.uplink.command(newID(), nova.ClockPong{PingID: m.PingID, RenderMS: c.uplink.renderMS()}) // likewise
	case nova.Caption: // a sequence above the last one: one counter for both roles
		c.mu.Lock()
		isNew := int64(m.Sequence) > c.lastCaption // at most MaxSafeInteger
		c.lastCaption = max(c.lastCaption, int64(m.Sequence))
		c.mu.Unlock()
		if !isNew {
			return nil
		}
	case nova.PlaybackClear:
		_ = c.uplink.play(func(p *player) []nova.Control { return p.clear(m.Generation, now) }) // likewise
	case nova.PlaybackTerminal:
		_ = c.uplink.play(func(p *player) []nova.Control { return p.finish(m.Generation, now) }) // likewise
	case nova.ProjectState, nova.ExecutorApproval:
		err = c.setCard(cardOf(m, now))
	case nova.PersonalState:
		if !c.ready.Personal {
			return nil
		}
		err = c.takeState(m)
	case nova.PersonalResult:
		if !c.ready.Personal {
			return nil
		}
		c.results.deliver(m.RequestID, m)
		err = c.takeResult(m)
	}
	notify(c.options.Events.Message, m)
	return err
}

// setCard shows a card in place of the one of this key, or takes that away.
func (c *Conn) setCard(key cardKey, card *Card) error {
	if c.options.Profile == IOS {
		key.conversation = "" // the old app knows of none
	}
	c.mu.Lock()
	removed, err := c.cards.put(key, card)
	c.mu.Unlock()
	if removed != nil {
		notify(c.options.Events.Removed, *removed)
	}
	if err == nil && card != nil {
		notify(c.options.Events.Card, *card)
	}
	return err
}
