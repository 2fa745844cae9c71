// Package conversations holds what the owner and the host have said to each
// other as plain values: conversations, their messages, and the rules for
// titles, subjects and history. Pure.
package conversations

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Kind says what a conversation is for.
type Kind string

// The kinds.
const (
	Chat      Kind = "chat"      // made by hand
	Topic     Kind = "topic"     // about one page or one suggestion
	Proactive Kind = "proactive" // what the host says of its own accord; there is one
)

// The two conversations that are always there.
const (
	MainID      = "chat:main"
	ProactiveID = "chat:proactive"
)

// Bounds of conversations (nova-personal §14, decision K13).
const (
	MaxChats   = 128     // made by hand
	MaxTopics  = 5_000   // default; beyond it the oldest go
	TopicDays  = 365     // default; untouched for more run-days, a topic goes
	MaxBytes   = 1 << 30 // default; of the texts of all messages: beyond it the oldest topics go
	MaxTitle   = 120     // UTF-16 units
	MaxSubject = 512     // UTF-16 units of a subject key
)

// Conversation is one thread of messages with a history of its own.
type Conversation struct {
	ID          string // ≤ 128 UTF-16 units
	Kind        Kind
	Title       string
	SubjectKey  string // what a topic is about; "" for none
	CreatedAt   time.Time
	UpdatedAt   time.Time // of the last message, or of the last clearing
	Generation  uint64    // one more with every clearing: what belongs to an older one is dropped
	Unread      int       // assistant messages after ReadThrough, in Proactive only
	ReadThrough int64     // Seq of the last message that was acknowledged as read; 0: none
}

// Permanent reports whether a conversation can be neither deleted nor expire.
func (c Conversation) Permanent() bool { return c.ID == MainID || c.ID == ProactiveID }

// Background is what a topic is about, in words that somebody else wrote. It is
// untrusted: it may be quoted to a model and never authorizes anything.
type Background struct {
	URL   string // canonical; "" when it is no page
	Title string
	Text  string // at most MaxBackground bytes
	Refs  []string
}

// MaxBackground bounds a background's text, in bytes (decision T2).
const MaxBackground = 16 << 10

// Role says whose words a message holds.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Status says how far the host has come with a user's message.
type Status string

// The states. Only a pending one changes.
const (
	Pending     Status = "pending"     // admitted, durably
	Completed   Status = "completed"   // answered
	Failed      Status = "failed"      // no answer, or only a part of one
	Interrupted Status = "interrupted" // the host stopped, or the asker cancelled
)

// Delivery says how complete an assistant's message is.
type Delivery string

// The deliveries. "" is what did not answer a message.
const (
	Delivered Delivery = "completed"
	CutOff    Delivery = "interrupted"
)

// MaxMessage bounds a stored message, in UTF-16 units.
const MaxMessage = 16_000

// Message is one utterance.
type Message struct {
	Seq            int64  // given by the store: rises within and across conversations
	ID             string // ≤ 128 UTF-16 units, unique within its conversation
	ConversationID string
	Role           Role
	Text           string // at most MaxMessage UTF-16 units
	CreatedAt      time.Time
	TurnID         string   // ≤ 256 code points; "" for none
	ReplyTo        string   // ID of the user's message that an assistant's answers; "" for none
	RequestID      string   // the client's ID of an input.text; "" for none, unique within its conversation
	Status         Status   // of a user's message; "" for none
	Delivery       Delivery // of an assistant's message
	Todo           TodoRef  // the to-do that a user's message is about; zero for none
}

// TodoRef names a version of a to-do.
type TodoRef struct {
	ID      string
	Version uint64
}

// NewTitle makes one line of at most MaxTitle units out of a text from outside;
// "" when nothing is left.
func NewTitle(s string) string {
	return TruncateUnits(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "), MaxTitle)
}

// TruncateUnits shortens s to at most n UTF-16 units, at a code point.
func TruncateUnits(s string, n int) string {
	for i, r := range s {
		if n--; r > 0xFFFF {
			n--
		}
		if n < 0 {
			return s[:i]
		}
	}
	return s
}

// SubjectKey is what a topic about the page at a canonical address is found by:
// the address, or its hash when it is longer than MaxSubject (decision T1).
func SubjectKey(canonicalURL string) string {
	if TruncateUnits(canonicalURL, MaxSubject) == canonicalURL {
		return canonicalURL
	}
	sum := sha256.Sum256([]byte(canonicalURL))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// FreeTitle is prefix with the lowest number, from 1, that no title in use has.
func FreeTitle(prefix string, inUse []Conversation) string {
	taken := make(map[string]bool, len(inUse))
	for _, c := range inUse {
		taken[c.Title] = true
	}
	for n := 1; ; n++ {
		if title := prefix + " " + strconv.Itoa(n); !taken[title] {
			return title
		}
	}
}
