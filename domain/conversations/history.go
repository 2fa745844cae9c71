package conversations

import "slices"

// MaxPairs bounds the history that a turn is given (nova-personal §7.1).
const MaxPairs = 32

// Pair is a question and its whole answer.
type Pair struct{ User, Assistant string }

// History collects pairs from messages that are visited newest first. The zero
// value is ready.
type History struct {
	answers map[string]string // by the message that they reply to
	pairs   []Pair            // newest first
}

// Visit takes the next older message; false when no more are wanted. What was
// cut off, failed or has no answer is left out.
func (h *History) Visit(m Message) bool {
	switch {
	case m.Role == Assistant && m.ReplyTo != "" && m.Delivery == Delivered:
		if h.answers == nil {
			h.answers = make(map[string]string)
		}
		h.answers[m.ReplyTo] = m.Text
	case m.Role == User && m.Status == Completed:
		if answer, ok := h.answers[m.ID]; ok {
			delete(h.answers, m.ID)
			h.pairs = append(h.pairs, Pair{m.Text, answer})
		}
	}
	return len(h.pairs) < MaxPairs
}

// Pairs gives them, the oldest first.
func (h *History) Pairs() []Pair {
	pairs := slices.Clone(h.pairs)
	slices.Reverse(pairs)
	return pairs
}
