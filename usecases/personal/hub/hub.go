// Package hub is the middle of the personal host: which clients are attached, the
// dispatch of their commands and the ledger of receipts, and the snapshot that they
// are shown. What a command does and what a snapshot holds is defined by the areas:
// the hub knows their tables and none of their contents.
//
// Locks are taken in the order in which packages import each other, the hub's last:
// the stream of an answer, then the queue of turns; dictation, then voice and
// presentation. The ledger of texts and the erasures of topics are taken alone. None
// is held during a call to a port, except to a client's link, which never blocks.
package hub

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"plexus/domain/nova"
	"plexus/ports"
	"plexus/usecases/personal/stored"
	"plexus/usecases/recovery"
	"plexus/usecases/syncx"
)

// Services are what the hub and all areas call out to.
type Services struct {
	Store  ports.PersonalStore
	Random io.Reader
	Now    func() time.Time
	// Within and After are the timers: context.WithTimeout and time.AfterFunc.
	Within func(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc)
	After  func(wait time.Duration, call func()) (stop func() bool)
	NoRoom func(err error) bool // tells a full disk from other failures of Store; nil: it is never full
	Log    *slog.Logger
}

// Hub connects clients with areas. All methods may be called concurrently.
type Hub struct {
	Services

	commands commandQueue
	changes  syncx.Notifier
	ctx      context.Context // ends with Stop
	end      context.CancelFunc
	running  sync.WaitGroup // what Start began

	// Open sets these, nothing changes them.
	areas    []Area
	methods  map[string]Command
	controls map[string]Control
	members  int // of the snapshot

	mu       sync.Mutex // guards what follows
	stopped  bool
	revision uint64 // of the newest commit
	unstored uint64 // changes of what a snapshot shows and no store keeps
	selected string // conversation, as it is stored
	sequence uint64 // of the last caption
	noRoom   Unstored
	clients  map[*Client]struct{}
}

// New makes a hub without areas. Stop ends it; ctx does not.
func New(ctx context.Context, services Services) *Hub {
	h := &Hub{Services: services, clients: map[*Client]struct{}{}}
	h.commands.turns = syncx.NewSemaphore(1)
	h.ctx, h.end = context.WithCancel(context.WithoutCancel(ctx))
	return h
}

// Open registers the areas and lets them bring the store into the state in which a
// host begins. It is called once, before any client attaches. A method, control or
// member that two areas claim is an error.
func (h *Hub) Open(ctx context.Context, areas ...Area) error {
	h.areas, h.methods, h.controls = areas, map[string]Command{}, map[string]Control{}
	members := map[string]bool{}
	state := Area{Commands: []Command{{Method: stateMethod, Phone: true, Loose: true, Do: Apply(h.refresh)}}}
	for _, a := range append([]Area{state}, areas...) {
		for _, c := range a.Commands {
			if _, twice := h.methods[c.Method]; twice {
				return fmt.Errorf("two areas have the method %s", c.Method)
			}
			h.methods[c.Method] = c
		}
		for _, c := range a.Controls {
			if _, twice := h.controls[c.kind]; twice {
				return fmt.Errorf("two areas have the control %s", c.kind)
			}
			h.controls[c.kind] = c
		}
		for _, m := range a.Members {
			if members[m.Name] {
				return fmt.Errorf("two areas have the member %s", m.Name)
			}
			members[m.Name] = true
		}
	}
	h.members = len(members)
	return h.Update(ctx, func(tx ports.PersonalTx) error {
		for _, a := range areas {
			if a.Open == nil {
				continue
			}
			if err := a.Open(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// refresh lets every area write what time has changed.
func (h *Hub) refresh(tx ports.PersonalTx, _ Request, _ Nothing) (any, error) {
	for _, a := range h.areas {
		if a.Refresh == nil {
			continue
		}
		if err := a.Refresh(tx); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Stop refuses new work, lets admitted commands store their receipts, closes the
// areas, ends what runs beside, and waits for all of it.
func (h *Hub) Stop() {
	h.commands.close()
	for _, a := range h.areas {
		if a.Close != nil {
			a.Close()
		}
	}
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.end()
	h.running.Wait()
	for _, a := range h.areas {
		if a.Stop != nil {
			a.Stop()
		}
	}
}

// Start runs work beside the caller, with a context that ends with Stop, which
// waits for it; false: the hub has stopped. A panic of work is logged and ends only
// that work. No other place of the core starts a goroutine.
func (h *Hub) Start(work func(ctx context.Context)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return false
	}
	h.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				h.Log.Error("the personal host panicked", "panic", recovery.Describe(p), "stack", string(debug.Stack()))
			}
		}()
		work(h.ctx)
	})
	return true
}

// SafeCall turns a panic of what the host calls into an error.
func SafeCall(call func() error) error { return recovery.Call("the personal host", call) }

// Context ends with Stop.
func (h *Hub) Context() context.Context { return h.ctx }

// Changed gives a channel that is closed at the next change. Take it before
// reading the state, so that no change falls in between.
func (h *Hub) Changed() <-chan struct{} { return h.changes.Wait() }

// Timestamp is the time as it is stored.
func (h *Hub) Timestamp() time.Time { return h.Now().UTC().Truncate(time.Millisecond) }

// NewID is random: prefix and 128 bits in hex.
func (h *Hub) NewID(prefix string) string {
	var random [16]byte
	if _, err := io.ReadFull(h.Random, random[:]); err != nil {
		panic("no random numbers: " + err.Error())
	}
	return prefix + hex.EncodeToString(random[:])
}

// ErrUnchanged ends a change that has nothing to store.
var ErrUnchanged = errors.New("nothing to store")

// Update makes a change, durably, and notifies clients and page. A change that
// gives ErrUnchanged stores nothing and is no error.
func (h *Hub) Update(ctx context.Context, change func(tx ports.PersonalTx) error) error {
	err := h.update(ctx, change)
	if errors.Is(err, ErrUnchanged) {
		return nil
	}
	h.noteRoom(err)
	return err
}

func (h *Hub) update(ctx context.Context, change func(tx ports.PersonalTx) error) error {
	var revision uint64
	var selected string
	err := h.Store.Update(ctx, func(tx ports.PersonalTx) error {
		err := change(tx)
		if err == nil {
			revision, err = stored.RaiseRevision(tx)
		}
		if err == nil {
			selected, err = stored.Selected(tx)
		}
		return err
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	if revision > h.revision { // commits may come out of their order: the newest counts
		h.revision, h.selected = revision, selected
	}
	h.mu.Unlock()
	h.NotifyAll()
	return nil
}

// Change carries out a mutation of the owner's page, which leaves no receipt, in
// turn with the commands of clients.
func (h *Hub) Change(ctx context.Context, m Mutation) error {
	if err := h.commands.enter(ctx); err != nil {
		return err
	}
	defer h.commands.leave()
	ctx = context.WithoutCancel(ctx) // it was admitted: it is seen through
	if m.Prepare != nil {
		if err := m.Prepare(ctx); err != nil {
			return err
		}
	}
	if m.Finally != nil {
		defer m.Finally()
	}
	err := h.Update(ctx, func(tx ports.PersonalTx) error {
		_, err := m.Apply(tx)
		return err
	})
	if err == nil && m.Committed != nil {
		m.Committed()
	}
	return err
}

// RaiseRevision counts a change of what no store keeps. It comes after the change:
// a snapshot reads the count before what it counts, so that no state is shown under
// the revision of a newer one. NotifyAll sends it.
func (h *Hub) RaiseRevision() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unstored++
}

// NotifyAll tells clients and page that the state has changed.
func (h *Hub) NotifyAll() {
	h.mu.Lock()
	for c := range h.clients {
		if c.holding > 0 {
			c.changed = true
			continue
		}
		c.link.Changed(h.revision + h.unstored)
	}
	h.mu.Unlock()
	h.changes.Notify()
}

// NotifyPage tells the owner's page of a change that no client is shown.
func (h *Hub) NotifyPage() { h.changes.Notify() }

// Selected is the conversation that clients show.
func (h *Hub) Selected() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.selected
}

// Send gives a message to every phone, or to every page, that is attached.
func (h *Hub) Send(desktop bool, m nova.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		if c.Terms.Desktop == desktop {
			c.link.Send(m)
		}
	}
}

// Broadcast gives a message to all.
func (h *Hub) Broadcast(m nova.Message) {
	h.Send(false, m)
	h.Send(true, m)
}

// Caption numbers and shows what is being said in a conversation. A client without
// the personal extension shows one stream: that of the selected conversation.
func (h *Hub) Caption(m nova.Caption) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sequence++
	m.Sequence = h.sequence
	for c := range h.clients {
		if c.Terms.Desktop || c.Terms.Personal || m.ConversationID == h.selected {
			c.link.Send(m)
		}
	}
}
