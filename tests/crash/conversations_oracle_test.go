package crash

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
)

// heard counts what the program has said yes to or shown.
type heard struct{ texts, commands, messages, topics, repeated, usedUp, losses int }

func (h *heard) add(other heard) {
	h.texts, h.commands, h.messages = h.texts+other.texts, h.commands+other.commands, h.messages+other.messages
	h.topics, h.repeated, h.usedUp, h.losses = h.topics+other.topics, h.repeated+other.repeated, h.usedUp+other.usedUp, h.losses+other.losses
}

// talks is what an oracle remembers of a phone. What was under way when a life
// ended may have been done or not, once, and is then asked for again.
type talks struct {
	pages *oracle
	model *model

	mu      sync.Mutex
	number  int // of the last text or command
	texts   map[string]*said
	threads map[string]*thread
	order   []string // of threads, as they came to be known
	titles  map[string]bool
	items   []*item
	shown   map[string]shownMessage // by ID

	selected, wanted string // ID, or titled; they differ while an answer is awaited
	revision         uint64 // the highest that was stored or seen, without what no store keeps
	dials            uint64 // of this life
	recent           []*command
	recentTexts      []*said
	heard
}

func newTalks(m *model) *talks {
	o := &talks{
		pages: newOracle(), model: m, texts: map[string]*said{}, threads: map[string]*thread{}, titles: map[string]bool{},
		shown: map[string]shownMessage{}, selected: conversations.MainID, wanted: conversations.MainID,
	}
	o.thread(conversations.MainID, 0)
	return o
}

// said is one text under its request ID. Generations are those of its
// conversation: it was stored in one of from…to.
type said struct {
	id, conversation, text, marker string
	from, to                       uint64
	accepted, refused, gone        bool
	resent                         bool                 // on another connection, within one life
	status                         conversations.Status // once it is stored and does not change any more
	calls                          int                  // of the model, since then
}

// thread is a conversation: cleared counts the clearings that were acknowledged,
// asked those that were sent.
type thread struct {
	cleared, asked uint64
	last           string // message that was shown last, and when
	lastGeneration uint64
	read           string // message up to which reading was acknowledged
	readGeneration uint64
}

// titled stands for a chat whose ID is not known.
func titled(title string) string { return "titled " + title }

// item is one row of the lists.
type item struct {
	kind, request      string
	version, wanted    uint64
	title, wantedTitle string
}

func (i *item) id() string {
	sum := sha256.Sum256([]byte(i.request))
	return hex.EncodeToString(sum[:])
}

// settle: what was wanted was done.
func (i *item) settle(json.RawMessage) { i.version, i.title = i.wanted, i.wantedTitle }

type shownMessage struct {
	conversation, text string
	generation         uint64
	status             conversations.Status
}

// command is one personal.command; effect is what its acknowledgement means.
type command struct {
	id, method string
	params     json.RawMessage
	effect     func(data json.RawMessage)
	done       bool
}

// add makes a command. The caller holds mu.
func (o *talks) add(method string, params map[string]any, effect func(json.RawMessage)) *command {
	o.number++
	c := &command{id: fmt.Sprintf("command-%d", o.number), method: method, params: parameters(params), effect: effect}
	o.recent = append(o.recent, c)
	return c
}

// thread gives a conversation, which is new in a generation. The caller holds mu.
func (o *talks) thread(id string, generation uint64) *thread {
	if o.threads[id] == nil {
		o.threads[id] = &thread{cleared: generation, asked: generation}
		o.order = append(o.order, id)
		if strings.HasPrefix(id, "topic:") {
			o.topics++
		}
	}
	return o.threads[id]
}

func (o *talks) done(c *command, data json.RawMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.done = true
	c.effect(data)
	o.commands++
}

func (o *talks) undone(c *command) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recent = slices.DeleteFunc(o.recent, func(other *command) bool { return other == c })
}

func (o *talks) accepted(s *said) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.accepted, s.to = true, o.threads[s.conversation].asked
	o.heard.texts++
}

func (o *talks) refused(s *said) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.refused = true
}

func (o *talks) repeats() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.repeated++
}

func (o *talks) dialed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dials++
}

func (o *talks) wasUsedUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.usedUp++
}

// saw remembers what a snapshot shows: it has to stay. Each connection says once
// how it presents the host, which raises the revision and is not stored.
func (o *talks) saw(s workbench.MobileSnapshot) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.revision = max(o.revision, s.Revision-min(s.Revision, o.dials+1))
	generations := map[string]uint64{}
	for _, c := range s.Conversations.Items {
		generations[c.ID] = c.Generation
		if c.Kind != conversations.Proactive {
			o.thread(c.ID, c.Generation)
		}
	}
	for _, m := range s.Conversations.Messages {
		if _, again := o.shown[m.ID]; !again {
			o.heard.messages++
		}
		o.shown[m.ID] = shownMessage{m.ConversationID, m.Text, generations[m.ConversationID], m.Status}
		if th := o.threads[m.ConversationID]; th != nil {
			th.last, th.lastGeneration = m.ID, generations[m.ConversationID]
		}
	}
}

// loss reports something acknowledged that is not there, or that came twice.
func (o *talks) loss(t *testing.T, format string, args ...any) {
	t.Helper()
	if o.losses++; o.losses <= shownLosses {
		t.Errorf("lost: "+format, args...)
	}
}

// check holds a life that has just begun against the record, asks again for what
// the one before it was asked last, and looks once more.
func (o *talks) check(t *testing.T, d *daemon) {
	t.Helper()
	checkDatabase(t, d.database())
	cleared := clearedTopics(t, d.database())
	o.pages.checkPages(t, storedPages(t, d.database()), cleared)
	o.pages.checkTopics(t, d.database(), cleared)
	o.compare(t, storedTalks(t, d.database()), true)
	o.mu.Lock()
	o.dials = 0
	o.mu.Unlock()
	p, err := newPhone(t, d, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	o.askAgain(t, p)
	o.compare(t, storedTalks(t, d.database()), false)
}

// Of each kind that many are asked for again.
const againAtMost = 12

func (o *talks) askAgain(t *testing.T, p *phone) {
	t.Helper()
	o.mu.Lock()
	texts, commands := o.recentTexts, o.recent
	o.recentTexts, o.recent = nil, nil
	o.mu.Unlock()
	for _, s := range texts[max(0, len(texts)-againAtMost):] {
		o.submitAgain(t, p, s)
	}
	for _, c := range commands[max(0, len(commands)-againAtMost):] {
		if c.done {
			if err := p.again(c); err != nil {
				o.loss(t, "%v", err)
			}
			if err := p.contradict(c); err != nil {
				o.loss(t, "%v", err)
			}
			continue
		}
		result, err := p.command(c)
		if err == nil && c.mayRefuse(result) {
			continue
		}
		if err != nil || result.Error != "" {
			o.loss(t, "a %s that was under way, again: %q, %v", c.method, result.Error, err)
			continue
		}
		o.done(c, result.Data)
	}
}

// submitAgain repeats a text that is there, or that nobody had said yes to.
func (o *talks) submitAgain(t *testing.T, p *phone, s *said) {
	t.Helper()
	if s.refused || s.gone && s.accepted || s.gone && s.from != o.threads[s.conversation].cleared {
		return // it would rightly be a new one
	}
	o.repeats()
	o.mu.Lock()
	s.gone = false
	o.mu.Unlock()
	refused, err := p.submit(s, s.text)
	if err != nil || refused != nil {
		o.loss(t, "a text, again: %v, %v", refused, err)
		return
	}
	o.accepted(s)
	if refused, err = p.submit(s, "not "+s.text); err != nil || refused == nil {
		o.loss(t, "another text under the ID of one that is there: %v, %v", refused, err)
	}
}
