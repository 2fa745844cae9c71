package novaclient

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plexus/domain/nova"
)

// maxCards is how many cards a phone holds at once. One more is an error.
const maxCards = 16

// Card is a question to the person: a proposal to confirm, or an executor's
// request for leave.
type Card struct {
	ID             string
	Executor       string // "" on a project's card
	DisplayName    string // of the executor
	ConversationID string // "" is the global one
	Proposal       nova.Proposal
	Approval       nova.Approval
	Deadline       time.Time // zero while the host holds the question
	Busy           bool      // an answer is being carried out
}

// IsProject tells a project's card from an approval's.
func (c Card) IsProject() bool { return c.Executor == "" }

// Why a card cannot be answered.
var (
	ErrNoCard     = errors.New("there is no such card")
	ErrAnswered   = errors.New("the card has been answered on this connection")
	ErrBusy       = errors.New("an answer is being carried out")
	ErrHeld       = errors.New("the host holds the question back")
	ErrExpired    = errors.New("the time for an answer is over")
	ErrNotOffered = errors.New("this answer is not offered")
)

// Answerable says why the card cannot be answered at now, nil if it can.
func (c Card) Answerable(now time.Time) error {
	switch {
	case c.Busy:
		return ErrBusy
	case c.Deadline.IsZero():
		return ErrHeld
	case !now.Before(c.Deadline):
		return ErrExpired
	}
	return nil
}

// Offers reports whether an answer is among those that the host takes. A
// project's card is accepted or declined.
func (c Card) Offers(d nova.Decision) bool {
	if c.IsProject() || len(c.Approval.Allowed) == 0 {
		return d == nova.Accept || d == nova.Decline
	}
	return slices.Contains(c.Approval.Allowed, d)
}

// cardKey: there is one card per executor and conversation, and one for the
// project of a conversation, whose executor is "".
type cardKey struct{ executor, conversation string }

// cardSet is the cards of one connection.
type cardSet struct {
	open     map[cardKey]Card
	answered map[string]bool // by ID
}

func newCardSet() cardSet { return cardSet{make(map[cardKey]Card), make(map[string]bool)} }

// put replaces the card of a key; nil only removes it.
func (s *cardSet) put(key cardKey, c *Card) (removed *Card, err error) {
	if old, ok := s.open[key]; ok {
		removed = &old
		delete(s.open, key)
	}
	if c == nil {
		return removed, nil
	}
	if removed != nil && removed.ID == c.ID {
		removed = nil // the same question, changed
	}
	if len(s.open) == maxCards {
		return removed, &Fault{fmt.Sprintf("there are more than %d cards", maxCards), nil}
	}
	s.open[key] = *c
	return removed, nil
}

// answer finds the card and marks it as answered.
func (s *cardSet) answer(id string, decision nova.Decision, now time.Time) (Card, error) {
	for _, c := range s.open {
		if c.ID != id {
			continue
		}
		if s.answered[id] {
			return c, ErrAnswered
		}
		if err := c.Answerable(now); err != nil {
			return c, err
		}
		if !c.Offers(decision) {
			return c, ErrNotOffered
		}
		s.answered[id] = true
		return c, nil
	}
	return Card{}, ErrNoCard
}

// list gives the cards, by their IDs.
func (s *cardSet) list() []Card {
	return slices.SortedFunc(maps.Values(s.open), func(a, b Card) int { return strings.Compare(a.ID, b.ID) })
}

// cardOf reads a project.state or an executor.approval: which card it is about, and
// that card, nil if nothing is asked.
func cardOf(m nova.Message, now time.Time) (key cardKey, card *Card) {
	switch m := m.(type) {
	case nova.ProjectState:
		key.conversation = m.ConversationID
		if p := m.Pending.Value; m.Pending.Set {
			card = &Card{ID: p.ID, Proposal: p, Busy: p.Busy, Deadline: deadline(p.ExpiresIn, now)}
		}
	case nova.ExecutorApproval:
		key = cardKey{m.Executor, m.ConversationID}
		if a := m.Pending.Value; m.Pending.Set {
			card = &Card{ID: a.ID, DisplayName: m.DisplayName, Approval: a, Busy: a.Busy, Deadline: deadline(a.ExpiresIn, now)}
		}
	}
	if card != nil {
		card.Executor, card.ConversationID = key.executor, key.conversation
	}
	return key, card
}

// deadline counts from the moment of receipt.
func deadline(seconds nova.Optional[float64], now time.Time) time.Time {
	if !seconds.Set {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds.Value * float64(time.Second)))
}
