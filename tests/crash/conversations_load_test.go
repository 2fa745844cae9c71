package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/tests/program"
)

// phoneAddress is where phones find the host; nobody looks it up.
const phoneAddress = "wss://box.example.net"

const (
	writers   = 4    // who send texts at the same time
	maxChats  = 100  // that are made in one data directory; the host takes 128
	usedUp    = 4008 // close code of a connection that remembers 256 commands
	patience  = 20 * time.Second
	busyAgain = 5 * time.Millisecond // until another try to be the one phone
)

// phone is one phone that dials again when a connection is used up.
type phone struct {
	t       *testing.T
	o       *talks
	options novaclient.Options

	mu   sync.Mutex
	conn *novaclient.Conn
	over chan struct{} // closed with conn

	hearing sync.Mutex // apart: a connection that is waited for still hears
	results map[string]chan nova.PersonalResult
}

func newPhone(t *testing.T, d *daemon, o *talks) (*phone, error) {
	options, err := program.Phone(d.data(), d.run.Client, phoneAddress)
	if err != nil {
		return nil, err
	}
	p := &phone{t: t, o: o, options: options, results: map[string]chan nova.PersonalResult{}}
	p.options.Events = novaclient.Events{Message: p.hear, Snapshot: o.saw}
	return p, p.dial()
}

// dial connects. The host may still be leaving the connection before.
func (p *phone) dial() error {
	for deadline := time.Now().Add(patience); ; {
		conn, err := novaclient.Dial(p.t.Context(), p.options)
		if err == nil {
			p.o.dialed()
			over := make(chan struct{})
			go func() { conn.Wait(); close(over) }()
			p.conn, p.over = conn, over
			return nil
		}
		var end *novaclient.End
		if !errors.As(err, &end) || end.Code != novaclient.CodeBusy || time.Now().After(deadline) {
			return err
		}
		<-time.After(busyAgain)
	}
}

func (p *phone) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn.Close()
	<-p.over
}

func (p *phone) line() (*novaclient.Conn, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn, p.over
}

// renew replaces a connection that is used up; for another end it gives the cause.
func (p *phone) renew(old *novaclient.Conn, cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != old {
		return nil
	}
	select {
	case <-p.over:
	case <-time.After(patience):
		return cause
	}
	if end := old.Wait(); end.Code != usedUp {
		return errors.Join(cause, end)
	}
	p.o.wasUsedUp()
	return p.dial()
}

// hear hands a result to who waits for it.
func (p *phone) hear(m nova.Message) {
	result, ok := m.(nova.PersonalResult)
	if !ok {
		return
	}
	p.hearing.Lock()
	defer p.hearing.Unlock()
	if ch := p.results[result.RequestID]; ch != nil {
		ch <- result
		delete(p.results, result.RequestID)
	}
}

// command sends a personal.command under an ID, again when the connection was
// used up before its result came.
func (p *phone) command(c *command) (nova.PersonalResult, error) {
	for {
		result, conn, err := p.try(c)
		if err == nil {
			return result, nil
		}
		if err := p.renew(conn, err); err != nil {
			return result, err
		}
	}
}

func (p *phone) try(c *command) (nova.PersonalResult, *novaclient.Conn, error) {
	ch := make(chan nova.PersonalResult, 1)
	p.hearing.Lock()
	p.results[c.id] = ch
	p.hearing.Unlock()
	conn, over := p.line()
	status, err := conn.Command(p.t.Context(), nova.PersonalCommand{RequestID: c.id, Method: c.method, Params: c.params})
	if err == nil && status != nova.Applied {
		err = novaclient.ErrNotApplied
	}
	if err != nil {
		select {
		case result := <-ch: // its receipt alone is lost
			return result, conn, nil
		default:
			return nova.PersonalResult{}, conn, err
		}
	}
	select {
	case result := <-ch:
		return result, conn, nil
	case <-over:
		return nova.PersonalResult{}, conn, novaclient.ErrNoResult
	case <-time.After(patience):
		return nova.PersonalResult{}, conn, novaclient.ErrNoResult
	}
}

// submit sends a text and gives the refusal, or nil when it was taken.
func (p *phone) submit(s *said, text string) (*novaclient.TextRefused, error) {
	for {
		conn, _ := p.line()
		err := conn.SubmitText(p.t.Context(), nova.InputText{Text: text, RequestID: s.id, ConversationID: s.conversation})
		var refused *novaclient.TextRefused
		if err == nil || errors.As(err, &refused) {
			return refused, nil
		}
		if err := p.renew(conn, err); err != nil {
			return nil, err
		}
		s.resent = true
	}
}

// talking is the load on one life.
type talking struct {
	*load
	o     *talks
	phone *phone
}

func startTalking(t *testing.T, d *daemon, o *talks, seed uint64) *talking {
	l := &talking{load: &load{t: t, d: d, o: o.pages}, o: o}
	var err error
	if l.phone, err = newPhone(t, d, o); err != nil {
		t.Fatal(err)
	}
	own := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	for n := range uint64(writers) {
		random := own(n)
		l.working.Go(func() { l.repeat("writing", func() error { return l.write(random) }) })
	}
	chats, lists := own(writers), own(writers+1)
	l.working.Go(func() {
		l.repeat("changing conversations", func() error { return l.carryOut(chats, o.nextChat(chats)) })
	})
	l.working.Go(func() { l.repeat("changing the lists", func() error { return l.carryOut(lists, o.nextItem(lists)) }) })
	for n := range uint64(clients) {
		random := own(writers + 2 + n)
		l.working.Go(func() {
			client, err := d.dialUnix(t.Context())
			if err != nil {
				l.excuse("connecting", err)
				return
			}
			l.askOn(client, random)
		})
	}
	return l
}

func (l *talking) kill() {
	l.load.kill()
	l.phone.close()
}

// write sends one text, and sometimes the same or another one under its ID.
func (l *talking) write(random *rand.Rand) error {
	s := l.o.newText(random)
	refused, err := l.phone.submit(s, s.text)
	if err != nil {
		return err
	}
	if refused != nil {
		l.o.refused(s)
		if refused.Reason == nova.RequestCapacity { // until the next life
			<-time.After(busyAgain)
			return nil
		}
		if refused.Reason != nova.SubmissionFailed {
			return refused
		}
		return nil
	}
	l.o.accepted(s)
	again := random.IntN(6)
	if s.resent {
		again = 0 // both answers may be on their way; one must not pass for another's
	}
	switch again {
	case 0:
		if refused, err = l.phone.submit(s, s.text); err == nil && refused != nil {
			err = fmt.Errorf("an accepted text, again: %w", refused)
		}
	case 1:
		refused, err = l.phone.submit(s, "not "+s.text)
		if err == nil && (refused == nil || refused.Reason != nova.RequestIDConflict) {
			err = fmt.Errorf("another text under the ID of an accepted one gave %v", refused)
		}
	}
	return err
}

// carryOut sends one command, and sometimes the same or another one under its ID.
func (l *talking) carryOut(random *rand.Rand, c *command) error {
	result, err := l.phone.command(c)
	if err != nil {
		return err
	}
	if result.Error != "" {
		l.o.undone(c)
		if c.mayRefuse(result) {
			return nil
		}
		return fmt.Errorf("%s was refused: %s", c.method, result.Error)
	}
	l.o.done(c, result.Data)
	switch random.IntN(8) {
	case 0:
		return l.phone.again(c)
	case 1:
		return l.phone.contradict(c)
	}
	return nil
}

// mayRefuse: what was to be read was cleared since it was seen.
func (c *command) mayRefuse(r nova.PersonalResult) bool {
	return c.method == "conversations.read" && r.Error == string(workbench.MessageNotFound)
}

// again sends an acknowledged command once more: its receipt comes, without data.
func (p *phone) again(c *command) error {
	p.o.repeats()
	result, err := p.command(c)
	if err == nil && (result.Error != "" || !result.ReloadRequired || len(result.Data) > 0) {
		err = fmt.Errorf("an acknowledged %s, again: error %q, reload %v, %d bytes", c.method, result.Error, result.ReloadRequired, len(result.Data))
	}
	return err
}

// contradict sends another command under the ID of an acknowledged one.
func (p *phone) contradict(c *command) error {
	p.o.repeats()
	other := &command{id: c.id, method: "conversations.create", params: parameters(map[string]any{"title": forbiddenTitle})}
	result, err := p.command(other)
	if err == nil && result.Error != string(workbench.RequestIDConflict) {
		err = fmt.Errorf("another command under the ID of a %s gave %q", c.method, result.Error)
	}
	return err
}

// forbiddenTitle is of a chat that must never come to be.
const forbiddenTitle = "Never"

func parameters(members map[string]any) json.RawMessage {
	encoded, err := json.Marshal(members)
	if err != nil {
		panic(err) // strings and numbers
	}
	return encoded
}

// nextChat chooses what to do with conversations.
func (o *talks) nextChat(random *rand.Rand) *command {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := o.pick(random)
	switch n := random.IntN(12); {
	case n < 2 && len(o.titles) < maxChats:
		title := fmt.Sprintf("Talk %d", len(o.titles))
		o.titles[title] = false
		o.wanted = titled(title)
		return o.add("conversations.create", map[string]any{"title": title}, func(data json.RawMessage) {
			o.titles[title], o.selected = true, titled(title)
			o.learn(data)
		})
	case n < 4:
		th := o.threads[id]
		before := th.asked
		th.asked++
		params := map[string]any{"id": id}
		if random.IntN(2) == 0 {
			params["expected_generation"] = before
		}
		return o.add("conversations.clear", params, func(json.RawMessage) { th.cleared = before + 1 })
	case n < 6 && o.threads[id].last != "":
		th := o.threads[id]
		generation, last := th.lastGeneration, th.last
		return o.add("conversations.read", map[string]any{"id": id, "through_message_id": last}, func(json.RawMessage) {
			th.read, th.readGeneration = last, generation
		})
	case n < 10:
		o.wanted = id
		return o.add("conversations.select", map[string]any{"id": id}, func(json.RawMessage) { o.selected = id })
	}
	return o.add("state", map[string]any{}, func(json.RawMessage) {})
}

// learn takes the ID of the chat that was made: it is selected.
func (o *talks) learn(data json.RawMessage) {
	var shown workbench.ConversationsMember
	if json.Unmarshal(data, &shown) == nil && shown.SelectedID != "" {
		o.thread(shown.SelectedID, 0)
	}
}

// nextItem chooses a change of the lists.
func (o *talks) nextItem(random *rand.Rand) *command {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 || random.IntN(5) == 0 {
		kind := []string{"todo", "idea"}[random.IntN(2)]
		i := &item{kind: kind, wantedTitle: fmt.Sprintf("Item %d of version 1", len(o.items)), wanted: 1}
		o.items = append(o.items, i)
		c := o.add("life.mutate", map[string]any{"op": "create", "kind": kind, "title": i.wantedTitle}, i.settle)
		i.request = c.id
		return c
	}
	i := o.items[random.IntN(len(o.items))]
	i.wanted = i.version + 1
	i.wantedTitle = fmt.Sprintf("%s of version %d", strings.TrimSuffix(i.title, fmt.Sprintf(" of version %d", i.version)), i.wanted)
	return o.add("life.mutate", map[string]any{
		"op": "update", "kind": i.kind, "id": i.id(), "expected_version": i.version, "title": i.wantedTitle,
	}, i.settle)
}

// newText makes a text for one of the conversations.
func (o *talks) newText(random *rand.Rand) *said {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.number++
	s := &said{id: fmt.Sprintf("text-%d", o.number), conversation: o.pick(random), marker: textMarker(o.number)}
	if random.IntN(4) == 0 {
		s.conversation = conversations.MainID
	}
	s.text = fmt.Sprintf("When was %s opened?%s", s.marker, strings.Repeat(" Tell me more.", random.IntN(100)))
	s.from = o.threads[s.conversation].cleared
	o.texts[s.id] = s
	o.recentTexts = append(o.recentTexts, s)
	return s
}

// pick chooses among the newest conversations. The caller holds mu.
func (o *talks) pick(random *rand.Rand) string {
	return o.order[len(o.order)-1-random.IntN(min(8, len(o.order)))]
}
