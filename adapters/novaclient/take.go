package novaclient

import (
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
)

// take acts on one message. An error ends the connection.
func (c *Conn) take(kind websocket.MessageType, message []byte) error {
	now := time.Now()
	if kind == websocket.MessageBinary {
		h, pcm, err := nova.DecodeAudioFrame(message)
		if err != nil {
			return &Fault{"a binary message is no audio frame", err}
		}
		c.play(func(p *player) []nova.Control { return p.frame(h, pcm, now) })
		return nil
	}
	m, err := readMessage(message, textLimit(c.o.Profile, c.ready.Personal), c.o.Profile)
	if err != nil {
		return err
	}
	return c.act(m, now)
}

// play lets the player do something and sends its reports.
func (c *Conn) play(do func(*player) []nova.Control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.post(do(&c.player))
	c.rouse() // when to look next may have changed
}

// place is where a card lies. The old app knows of no conversations.
func (c *Conn) place(executor, conversation string) place {
	if c.o.Profile == IOS {
		conversation = ""
	}
	return place{executor, conversation}
}

// lay puts a card on its place, or clears the place.
func (c *Conn) lay(at place, card *Card) error {
	c.mu.Lock()
	removed, err := c.deck.put(at, card)
	c.mu.Unlock()
	if err != nil {
		card = nil
	}
	c.o.Events.cards(removed, card)
	return err
}

// act does what an app does on a message, and hands it on.
func (c *Conn) act(m nova.Message, now time.Time) error {
	var err error
	switch m := m.(type) {
	case nova.Caption:
		if !c.isNews(m) {
			return nil
		}
	case nova.PlaybackClear:
		c.play(func(p *player) []nova.Control { return p.clear(m.Generation, now) })
	case nova.PlaybackTerminal:
		c.play(func(p *player) []nova.Control { return p.finish(m.Generation, now) })
	case nova.ProjectState:
		err = c.lay(c.place("", m.ConversationID), projectCard(m, now))
	case nova.ExecutorApproval:
		err = c.lay(c.place(m.Executor, m.ConversationID), approvalCard(m, now))
	case nova.PersonalState, nova.PersonalResult:
		if !c.ready.Personal {
			return nil
		}
		c.resolve(m)
		err = c.show(m)
	default:
		c.resolve(m)
	}
	c.o.Events.message(m)
	return err
}

// isNews wants a sequence above the last one: one counter for both roles.
func (c *Conn) isNews(m nova.Caption) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if int64(m.Sequence) <= c.captions {
		return false
	}
	c.captions = int64(m.Sequence) // at most MaxSafeInteger
	return true
}

// resolve hands an answer to whoever waits for it.
func (c *Conn) resolve(m nova.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case nova.Receipt:
		hand(c.receipts, m.RequestID, m.Status)
	case nova.TextResult:
		hand(c.texts, m.RequestID, m)
	case nova.Transcription:
		hand(c.drafts, m.ID, m)
	case nova.PersonalResult:
		hand(c.results, m.RequestID, m)
	case nova.DesktopCapabilities:
		c.input = m
	case nova.ClockPing:
		c.post([]nova.Control{nova.ClockPong{PingID: m.PingID, RenderMS: c.renderMS()}})
	}
}

// hand gives the first answer to its waiter; others find nobody.
func hand[T any](waiting map[string]chan T, id string, answer T) {
	if ch, ok := waiting[id]; ok {
		ch <- answer // it has room for one
		delete(waiting, id)
	}
}

// renderMS is this client's own clock.
func (c *Conn) renderMS() float64 { return float64(time.Since(c.since).Microseconds()) / 1000 }
