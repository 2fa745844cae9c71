package memory

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
)

// Personal keeps what the personal host knows as long as the process lives.
// Lists and searches read everything, so it is for tests and for small sets.
//
// A state never changes once it is in force: a change works on a copy of what it
// touches, and a look keeps the state that it began with.
type Personal struct {
	turn   chan struct{} // full: a change runs
	now    atomic.Pointer[personalState]
	before func() error // guarded by turn
	pages  *Pages
}

// personalState is everything at one moment.
type personalState struct {
	threads map[string]*thread
	records map[string][]ports.Record // oldest first
	lastSeq int64
	lastPut int64
}

// thread is a conversation with its messages, in the order of Seq.
type thread struct {
	conversations.Conversation
	day      int64 // the run-day of UpdatedAt
	put      int64 // rises in the order in which conversations were first put
	messages []*conversations.Message
}

var (
	_ ports.PersonalStore   = (*Personal)(nil)
	_ ports.PersonalArchive = (*Personal)(nil)
	_ ports.PersonalTx      = (*personalTx)(nil)
)

// NewPersonal gives an empty store, which writes pages to an index of its own.
func NewPersonal() *Personal { return NewPersonalWith(NewPages(time.Now, pages.DefaultBounds())) }

// NewPersonalWith gives an empty store that writes pages to an index.
func NewPersonalWith(index *Pages) *Personal {
	p := &Personal{turn: make(chan struct{}, 1), pages: index}
	p.now.Store(&personalState{})
	return p
}

// BeforeCommit sets what is called whenever a change is about to be kept; its
// error fails that Update. nil takes it away.
func (p *Personal) BeforeCommit(hook func() error) {
	p.turn <- struct{}{}
	p.before = hook
	<-p.turn
}

// FailNext lets the next Update that would be kept fail with err.
func (p *Personal) FailNext(err error) {
	p.turn <- struct{}{}
	usual := p.before
	p.before = func() error { // runs in its turn
		p.before = usual
		return err
	}
	<-p.turn
}

// Update implements ports.PersonalStore.
func (p *Personal) Update(ctx context.Context, change func(tx ports.PersonalTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	tx := &personalTx{personalView: personalView{*p.now.Load()}, own: map[string]bool{}, day: p.pages.days.day()}
	if err := change(tx); err != nil {
		return err
	}
	if p.before != nil {
		if err := p.before(); err != nil {
			return err
		}
	}
	for _, page := range tx.indexed {
		p.pages.add(page)
	}
	p.now.Store(&tx.personalState)
	return nil
}

// RunDays is the calendar of the store and of its index.
func (p *Personal) RunDays() *RunDays { return &p.pages.days }

// Pages is the index that changes write to.
func (p *Personal) Pages() *Pages { return p.pages }

// View implements ports.PersonalStore.
func (p *Personal) View(ctx context.Context, look func(tx ports.PersonalView) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return look(&personalView{*p.now.Load()})
}

// SearchMessages implements ports.PersonalArchive.
func (p *Personal) SearchMessages(ctx context.Context, wanted string, limit int) ([]ports.FoundMessage, error) {
	words := text.Stems(wanted)
	if err := ctx.Err(); err != nil || len(words) == 0 || limit < 1 {
		return nil, err
	}
	var found []ports.FoundMessage
	for _, t := range p.now.Load().threads {
		for _, m := range t.messages {
			if there := text.Stems(m.Text); !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(there, w) }) {
				found = append(found, ports.FoundMessage{Message: *m, Title: t.Title})
			}
		}
	}
	slices.SortFunc(found, func(a, b ports.FoundMessage) int { return int(b.Seq - a.Seq) })
	return found[:min(len(found), limit)], nil
}

// PersonalSizes implements ports.PersonalArchive.
func (p *Personal) PersonalSizes(ctx context.Context) (ports.PersonalSizes, error) {
	if err := ctx.Err(); err != nil {
		return ports.PersonalSizes{}, err
	}
	state := p.now.Load()
	sizes := ports.PersonalSizes{Conversations: len(state.threads)}
	for _, t := range state.threads {
		if t.Kind == conversations.Topic {
			sizes.Topics++
		}
		sizes.Messages += len(t.messages)
		for _, m := range t.messages {
			sizes.MessageBytes += int64(len(m.Text))
		}
	}
	return sizes, nil
}

// EraseTraces implements ports.PersonalArchive. There are none.
func (*Personal) EraseTraces(ctx context.Context) error { return ctx.Err() }

var (
	// errThere: a message's ID or request ID is taken in its conversation.
	errThere = errors.New("add message: its ID is taken")
	// errValue: a kind or role that is none.
	errValue = errors.New("no such kind or role")
)

// personalTx is a state that is about to be in force, if nothing goes wrong.
type personalTx struct {
	personalView
	own        map[string]bool // threads that this change has copied
	ownRecords bool
	indexed    []pages.Page
	day        int64 // the run-day
}

// IndexPage implements ports.PageWriter.
func (tx *personalTx) IndexPage(page pages.Page) error {
	tx.indexed = append(tx.indexed, page)
	return nil
}

// thread gives a conversation's own copy to change, or nil.
func (tx *personalTx) thread(id string) *thread {
	t := tx.threads[id]
	if t == nil || tx.own[id] {
		return t
	}
	fresh := *t
	return tx.keep(&fresh)
}

// keep puts a thread that nobody else sees in its place.
func (tx *personalTx) keep(t *thread) *thread {
	if len(tx.own) == 0 {
		tx.threads = maps.Clone(tx.threads)
	}
	if tx.threads == nil {
		tx.threads = map[string]*thread{}
	}
	tx.own[t.ID] = true
	tx.threads[t.ID] = t
	return t
}

// PutConversation implements ports.ConversationWriter.
func (tx *personalTx) PutConversation(c conversations.Conversation) error {
	if !slices.Contains([]conversations.Kind{conversations.Chat, conversations.Topic, conversations.Proactive}, c.Kind) {
		return errValue
	}
	if taken, err := tx.TopicBySubject(c.SubjectKey); err == nil && taken.ID != c.ID {
		return ports.ErrSubjectTaken
	}
	c.CreatedAt, c.UpdatedAt = toMillis(c.CreatedAt), toMillis(c.UpdatedAt)
	if t := tx.thread(c.ID); t != nil {
		if !t.UpdatedAt.Equal(c.UpdatedAt) {
			t.day = tx.day
		}
		t.Conversation = c
		return nil
	}
	tx.lastPut++
	tx.keep(&thread{Conversation: c, day: tx.day, put: tx.lastPut})
	return nil
}

// DropConversation implements ports.ConversationWriter.
func (tx *personalTx) DropConversation(id string) error {
	if tx.thread(id) == nil {
		return ports.ErrConversationUnknown
	}
	delete(tx.threads, id)
	return nil
}

// AddMessage implements ports.MessageWriter.
func (tx *personalTx) AddMessage(m conversations.Message) (int64, error) {
	t := tx.thread(m.ConversationID)
	if t == nil {
		return 0, ports.ErrConversationUnknown
	}
	if m.Role != conversations.User && m.Role != conversations.Assistant {
		return 0, errValue
	}
	if slices.ContainsFunc(t.messages, func(old *conversations.Message) bool { return old.ID == m.ID || sameRequest(old, &m) }) {
		return 0, errThere
	}
	tx.lastSeq++
	m.Seq, m.CreatedAt = tx.lastSeq, toMillis(m.CreatedAt)
	t.messages = append(t.messages, &m) // behind the end of what older states see
	return m.Seq, nil
}

func sameRequest(a, b *conversations.Message) bool {
	return a.RequestID != "" && a.RequestID == b.RequestID
}

// SetMessage implements ports.MessageWriter.
func (tx *personalTx) SetMessage(m conversations.Message) error {
	t := tx.thread(m.ConversationID)
	if t == nil {
		return ports.ErrMessageUnknown
	}
	i := slices.IndexFunc(t.messages, func(old *conversations.Message) bool { return old.ID == m.ID })
	if i < 0 {
		return ports.ErrMessageUnknown
	}
	m.Seq, m.CreatedAt = t.messages[i].Seq, toMillis(m.CreatedAt)
	t.messages = slices.Clone(t.messages)
	t.messages[i] = &m
	return nil
}

// DropMessages implements ports.MessageWriter.
func (tx *personalTx) DropMessages(conversationID string) (int, error) {
	t := tx.thread(conversationID)
	if t == nil {
		return 0, nil
	}
	n := len(t.messages)
	t.messages = nil
	return n, nil
}

// InterruptPending implements ports.MessageWriter.
func (tx *personalTx) InterruptPending() (n int, err error) {
	for id, t := range tx.threads {
		for i, m := range t.messages {
			if m.Status != conversations.Pending {
				continue
			}
			changed := *m
			changed.Status = conversations.Interrupted
			own := tx.thread(id)
			own.messages = slices.Clone(own.messages)
			own.messages[i] = &changed
			n++
		}
	}
	return n, nil
}

// PutRecord implements ports.RecordWriter.
func (tx *personalTx) PutRecord(kind, id string, body []byte, keep int) error {
	list := slices.Clone(tx.records[kind])
	if i := recordIndex(list, id); i >= 0 {
		list[i].Body = slices.Clone(body)
	} else {
		list = append(list, ports.Record{ID: id, Body: slices.Clone(body)})
	}
	if keep > 0 {
		list = list[max(0, len(list)-keep):]
	}
	tx.putRecords(kind, list)
	return nil
}

// DropRecord implements ports.RecordWriter.
func (tx *personalTx) DropRecord(kind, id string) error {
	if i := recordIndex(tx.records[kind], id); i >= 0 {
		tx.putRecords(kind, slices.Delete(slices.Clone(tx.records[kind]), i, i+1))
	}
	return nil
}

func (tx *personalTx) putRecords(kind string, list []ports.Record) {
	if !tx.ownRecords {
		tx.records = maps.Clone(tx.records)
		tx.ownRecords = true
	}
	if tx.records == nil {
		tx.records = map[string][]ports.Record{}
	}
	tx.records[kind] = list
}

func recordIndex(list []ports.Record, id string) int {
	return slices.IndexFunc(list, func(r ports.Record) bool { return r.ID == id })
}
