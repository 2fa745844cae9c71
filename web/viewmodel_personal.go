package web

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Places of the personal host. They are there with Layout.Personal only.
const (
	ConversationsPlace Place = "conversations"
	ListsPlace         Place = "lists"
)

// Kept is how much the host keeps.
type Kept struct {
	Conversations int // topics included
	Topics        int
	Messages      int
	MessageBytes  int64 // of their texts
}

// ConversationKind says what a conversation is for.
type ConversationKind string

// The values of ConversationKind.
const (
	MainChat  ConversationKind = "main"
	Reminders ConversationKind = "reminders"
	Chat      ConversationKind = "chat"
	Topic     ConversationKind = "topic"
)

// Permanent reports whether such a conversation cannot be deleted.
func (k ConversationKind) Permanent() bool { return k == MainChat || k == Reminders }

// Conversation is one row of the list, and the head of its own page.
type Conversation struct {
	ID      string
	Kind    ConversationKind
	Title   string
	Address string // of the page that a topic is about, when it can be linked; else ""
	Unread  int
	Updated time.Time
}

// Path is the conversation's page below Layout.Base.
func (c Conversation) Path() string { return ConversationPath(c.ID) }

// ConversationPath is the page of the conversation with that ID, below Layout.Base.
func ConversationPath(id string) string { return string(ConversationsPlace) + "/" + url.PathEscape(id) }

// Input says what can be written and said to the host (decision K10).
type Input string

// The values of Input.
const (
	NoInput   Input = "none"     // there is no model
	TextInput Input = "text"     // there is no recognizer
	AllInput  Input = "speaking" // text and dictation
)

// Conversations is one page of the list, or of what a search has found.
type Conversations struct {
	Pinned []Conversation // main chat and reminders; on the first page alone
	Rest   []Conversation // the others, the most recently touched first
	From   int            // how many conversations come before Rest
	Size   int            // at most so many in Rest
	Total  int            // conversations in all
	Topics bool           // there may be topics among them
	Input  Input

	Asked string // what was searched for; "" for the list
	Found []Found
	Most  bool // there may be more than what Found holds

	Recording bool   // what is asked in the browser is remembered
	FixedBy   string // what sets Recording above this page; "" for nothing
}

// Found is one message that a search has found.
type Found struct {
	Conversation Conversation
	Role         Role
	At           time.Time
	Before       string // the words around
	Match        string
	After        string
}

// Role says whose words a message holds.
type Role string

// The values of Role.
const (
	Owner Role = "owner"
	Host  Role = "host"
)

// MessageState says what is special about a message.
type MessageState string

// The values of MessageState. "" is nothing.
const (
	MessageWaiting     MessageState = "waiting"     // for its answer
	MessageFailed      MessageState = "failed"      // there is no answer, or a part of one
	MessageInterrupted MessageState = "interrupted" // its answer was stopped
	MessageCutOff      MessageState = "cut_off"     // it is an answer, and not whole
)

// Message is one utterance.
type Message struct {
	Seq   int64 // rises with time
	Role  Role
	Text  string // with its line breaks
	At    time.Time
	State MessageState
}

// ConversationView is the page of one conversation.
type ConversationView struct {
	Conversation Conversation
	Messages     []Message // oldest first
	Older        bool      // there are older ones than the first
	Past         bool      // these are not the newest
	Quoted       bool      // the text of a page goes to the model, as a quotation
	Input        Input
	Search       bool   // a single text can be searched for elsewhere
	Draft        string // what was typed and did not go through
	Fault        string // why, or ""
}

// canAskAgain reports whether a message of the owner got no answer, so that its words
// can be sent once more as a new one.
func (v ConversationView) canAskAgain(m Message) bool {
	return m.Role == Owner && (m.State == MessageFailed || m.State == MessageInterrupted) && !v.Past && v.Input != NoInput
}

// List names one of the owner's lists.
type List string

// The lists, whose values end their paths.
const (
	Todos   List = "todos"
	Ideas   List = "ideas"
	Goals   List = "goals"
	AboutMe List = "about"
)

// path is the list's page below Layout.Base.
func (l List) path() string {
	if l == Todos {
		return string(ListsPlace)
	}
	return string(ListsPlace) + "/" + string(l)
}

// Bounds of what is typed, in UTF-16 units, as browsers count.
const (
	MaxItemTitle = 200
	MaxItemNote  = 4000
	MaxCriteria  = 2000
	MaxAbout     = 5000
	MaxWritten   = 4000
	MaxChatTitle = 120
)

// Item is one entry of a list.
type Item struct {
	ID          string
	Version     uint64
	Title       string
	Note        string
	Status      string // as in the protocol
	Due         string // YYYY-MM-DD, or ""
	Late        bool   // Due has passed and it is not done
	Goal        string // title of the goal that it belongs to, or ""
	Criteria    string
	Done, Total int // of a goal's to-dos
	Updated     time.Time
}

// Lists is the page of one list. Open holds what there is to do, Closed the rest,
// each in the order in which it is shown.
type Lists struct {
	List   List
	Open   []Item
	Closed []Item
	Hidden int    // so many more are closed and not in Closed
	Typed  string // title that was typed and not taken
	Fault  string // why, or why something else was not done
}

// Edit is the form for one entry. Item holds its texts as they are.
type Edit struct {
	List  List
	Name  string // Item's title, fit to be shown
	Item  Item
	Goal  string // ID of the goal that it belongs to, or ""
	Goals []Goal // that it may belong to
	Fault string // why the last try was not taken, or ""
}

// Goal is one that an entry may belong to.
type Goal struct{ ID, Title string }

// About is what the owner writes about themselves.
type About struct {
	Text    string
	Version uint64
	Fault   string
}

// roleName names the speaker.
func (l Layout) roleName(r Role) string {
	if r == Owner {
		return l.T.You
	}
	return l.T.Product
}

// statusName names an entry's status.
func (l Layout) statusName(s string) string { return cmp.Or(l.T.Statuses[s], s) }

// span says which of how many are shown.
func (l Layout) span(from, size, total int) string {
	return fmt.Sprintf(l.T.Span, from+1, min(from+size, total), total)
}

// Heading gives the title of a conversation, also where it has none.
func (l Layout) Heading(c Conversation) string {
	if strings.TrimSpace(c.Title) == "" {
		return l.T.Kinds[c.Kind]
	}
	return c.Title
}

// progressText says how many of a goal's to-dos are done.
func (l Layout) progressText(i Item) string { return fmt.Sprintf(l.T.Progress, i.Done, i.Total) }

// dueDate reads a due date for people; any other text is shown as it is.
func (l Layout) dueDate(date string) string {
	day, err := time.ParseInLocation(time.DateOnly, date, l.Now.Location())
	if err != nil {
		return date
	}
	return l.day(day)
}
