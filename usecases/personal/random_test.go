package personal_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
)

var randomSeed = flag.Uint64("seed", 0, "of the random test; 0 is a new one")

// dice are random numbers for several goroutines.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

func (d *dice) nap(most time.Duration) { time.Sleep(time.Duration(d.n(int(most)))) }

// Generate implements ports.Generator: now and then slow, or broken.
func (d *dice) Generate(ctx context.Context, p ports.Prompt, emit func(string) error) error {
	for _, piece := range []string{"answer ", "to " + p.User} {
		select {
		case <-time.After(time.Duration(d.n(int(200 * time.Millisecond)))):
		case <-ctx.Done():
			return ctx.Err()
		}
		if d.n(20) == 0 {
			return ports.ErrModelInterrupted
		}
		if err := emit(piece); err != nil {
			return err
		}
	}
	return nil
}

// attempt is one submission of a text. Times are ticks of the witness.
type attempt struct {
	begun, settled int // settled 0: no receipt yet
	refused        bool
}

type uttered struct {
	conversation, text string
	attempts           []*attempt
}

// emptied is a clearing or deletion that was acknowledged.
type emptied struct{ begun, done int }

// witness remembers what a test did and was told.
type witness struct {
	mu      sync.Mutex
	tick    int
	said    map[string]*uttered // by request ID
	emptied map[string][]emptied
	faults  []string
}

func (w *witness) now() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick++
	return w.tick
}

// begin notes a submission.
func (w *witness) begin(id, conversation, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick++
	if w.said[id] == nil {
		w.said[id] = &uttered{conversation: conversation, text: text}
	}
	w.said[id].attempts = append(w.said[id].attempts, &attempt{begun: w.tick})
}

// settle notes a receipt: it is for every attempt that waits.
func (w *witness) settle(r nova.TextResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick++
	for _, a := range w.said[r.RequestID].attempts {
		if a.settled == 0 {
			a.settled, a.refused = w.tick, r.Error != ""
			return
		}
	}
	w.faults = append(w.faults, "a receipt too many for "+r.RequestID)
}

// empty notes a clearing or deletion, if it happens.
func (w *witness) empty(conversation string, act func() error) {
	begun := w.now()
	if act() != nil {
		return
	}
	done := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.emptied[conversation] = append(w.emptied[conversation], emptied{begun, done})
}

// eye is the link of a client that looks at captions as they come.
type eye struct {
	*witness
	last  uint64
	ended map[string]bool // turn and role
}

func (e *eye) Changed(uint64) {}

func (e *eye) Send(m nova.Message) {
	switch m := m.(type) {
	case nova.TextResult:
		e.settle(m)
	case nova.Caption:
		e.mu.Lock()
		defer e.mu.Unlock()
		key := m.TurnID + string(m.Role)
		if m.Sequence <= e.last || e.ended[key] {
			e.faults = append(e.faults, fmt.Sprintf("caption %+v after sequence %d", m, e.last))
		}
		e.last, e.ended[key] = m.Sequence, m.Final
	}
}

// The store fails now and then, the model too, and the host is restarted in the
// middle. Every acknowledged text is stored exactly once unless it was cleared or
// deleted, nothing that was cleared comes back, and replies pair.
func TestNothingAcknowledgedIsLostOrDoubled(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	d := &dice{rng: rand.New(rand.NewPCG(seed, 0))}
	staged(t, func(s *stage) {
		w := &witness{said: map[string]*uttered{}, emptied: map[string][]emptied{}}
		s.store.BeforeCommit(func() error {
			d.nap(5 * time.Millisecond)
			if d.n(40) == 0 {
				return errors.New("the disk is full")
			}
			return nil
		})
		p := &play{stage: s, dice: d, witness: w, conversations: []string{"chat:main", "", ""}}
		p.connect()
		for range 300 {
			for range 1 + d.n(4) {
				p.act()
			}
			if d.n(15) == 0 {
				p.reopen()
			}
			d.nap(150 * time.Millisecond)
		}
		p.running.Wait()
		s.store.BeforeCommit(nil)
		p.reopen()
		synctest.Wait()
		w.check(s)
	}, func(deps *personal.Deps, _ *personal.Options) { deps.Model = d })
}

// play is a test on its way.
type play struct {
	*stage
	*dice
	*witness
	running       sync.WaitGroup
	conversations []string // of now; "" for one that is to be made
	client        hub.Endpoint
	ids           []string // of texts
	commands      int
}

func (p *play) connect() {
	p.client = p.Attach(&eye{witness: p.witness, ended: map[string]bool{}}, hub.Terms{Personal: true})
}

// reopen starts the host again, which may fail with the store.
func (p *play) reopen() {
	p.Stop()
	p.running.Wait()
	p.Helper()
	for {
		h, err := personal.New(p.Context(), p.deps, p.opts)
		if err == nil {
			p.Host = h
			break
		}
	}
	p.connect()
}

// command sends one, whatever becomes of it.
func (p *play) command(method, params string) {
	p.commands++
	c, m := p.client, command(fmt.Sprint("c", p.commands), method, params)
	p.running.Go(func() { _ = c.Deliver(p.Context(), m) })
}

// act does one thing, beside those that are under way.
func (p *play) act() {
	i := p.n(len(p.conversations))
	id := p.conversations[i]
	if id == "" {
		if made, err := p.CreateChat(p.Context(), ""); err == nil {
			p.conversations[i] = made
		}
		return
	}
	switch h := p.host; p.n(12) {
	case 0:
		p.running.Go(func() { p.empty(id, func() error { return h.Clear(p.Context(), id) }) })
	case 1:
		if id == conversations.MainID {
			p.command("conversations.clear", `{"id":"chat:main","expected_generation":1000000}`) // in vain
			return
		}
		p.running.Go(func() { p.empty(id, func() error { return h.Delete(p.Context(), id) }) })
		p.conversations[i] = ""
	case 2:
		p.command("conversations.select", `{"id":"`+id+`"}`)
	case 3:
		p.command("conversations.read", `{"id":"`+id+`","through_message_id":"x"}`)
	case 4:
		c := p.client
		p.running.Go(func() { p.look(c) })
	case 5:
		if len(p.ids) > 0 {
			again := p.ids[p.n(len(p.ids))]
			p.utter(again, p.said[again].conversation, p.said[again].text)
		}
	default:
		request := fmt.Sprint("t", len(p.ids))
		p.ids = append(p.ids, request)
		p.utter(request, id, "text "+request)
	}
}

func (p *play) utter(request, id, text string) {
	p.begin(request, id, text)
	c := p.client
	p.running.Go(func() { _ = c.Deliver(p.Context(), submit(request, id, text)) })
}

// look decodes a snapshot, whose selected conversation is there.
func (p *play) look(c hub.Endpoint) {
	state, err := c.Snapshot(p.Context())
	if err != nil {
		return
	}
	seen, err := workbench.DecodeSnapshot(state.Frame)
	if err != nil || item(seen, seen.Conversations.SelectedID) == nil {
		p.Errorf("snapshot with %q selected, %v", seen.Conversations.SelectedID, err)
	}
}

// check compares what is stored with what was promised.
func (w *witness) check(s *stage) {
	list, _, err := s.Conversations(s.Context(), 0, 1000)
	if err != nil {
		s.Fatal(err)
	}
	stored := map[string]int{}
	for _, c := range list {
		all := s.messages(c.ID)
		checkPairs(s, all)
		for _, m := range all {
			if m.Role == conversations.User {
				stored[m.RequestID]++
				if u := w.said[m.RequestID]; u.conversation != c.ID || u.text != m.Text {
					s.Errorf("%s is in %s as %q", m.RequestID, c.ID, m.Text)
				}
			}
		}
	}
	accepted := 0
	for _, id := range slices.Sorted(maps.Keys(w.said)) {
		least, most, told := w.promised(w.said[id])
		if n := stored[id]; n < least || n > most {
			s.Errorf("%s is stored %d times, not %d to %d", id, n, least, most)
		}
		if told {
			accepted++
		}
	}
	for _, fault := range w.faults {
		s.Error(fault)
	}
	if accepted < 50 {
		s.Errorf("only %d texts were accepted: the test tests little", accepted)
	}
}

// promised says how often a text may be stored, and whether it was accepted.
func (w *witness) promised(u *uttered) (least, most int, told bool) {
	most = 1
	lastSettled, open, refused := 0, false, true
	for _, a := range u.attempts {
		open = open || a.settled == 0
		refused = refused && a.refused
		lastSettled = max(lastSettled, a.settled)
	}
	first := u.attempts[0]
	told = first.settled != 0 && !first.refused
	if told {
		least = 1
	}
	for _, e := range w.emptied[u.conversation] {
		if e.done > first.begun {
			least = 0
		}
		if !open && e.begun > lastSettled {
			most = 0
		}
	}
	if !open && refused {
		most = 0
	}
	return least, most, told
}

// checkPairs checks a conversation in which nothing runs.
func checkPairs(s *stage, all []conversations.Message) {
	replies := map[string][]conversations.Message{}
	before := map[string]bool{}
	for _, m := range all {
		switch before[m.ID] = true; {
		case m.Role == conversations.User:
		case !before[m.ReplyTo]:
			s.Errorf("a reply to %q, which is not there", m.ReplyTo)
		default:
			replies[m.ReplyTo] = append(replies[m.ReplyTo], m)
		}
	}
	for _, m := range all {
		if m.Role != conversations.User {
			continue
		}
		r := replies[m.ID]
		right := false
		switch m.Status {
		case conversations.Completed:
			right = len(r) == 1 && r[0].Delivery == conversations.Delivered && r[0].Text == "answer to "+m.Text
		case conversations.Failed:
			right = len(r) == 0 || len(r) == 1 && r[0].Delivery == conversations.CutOff && strings.HasPrefix("answer to "+m.Text, r[0].Text)
		case conversations.Interrupted:
			right = len(r) == 0
		}
		if !right {
			s.Errorf("%s message %q has replies %+v", m.Status, m.Text, r)
		}
	}
}
