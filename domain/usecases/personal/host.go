// Package personal is the personal host: the use cases of conversations, of the
// owner's lists and of what clients see of them, behind the ports. What it has
// said yes to is stored before it says so. Turns belong to it and not to the
// connection that asked for them.
package personal

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/nova"
	"plexus/domain/usecases/syncx"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Deps are what the personal host calls out to. New refuses a missing one,
// except where nil is said to mean something.
type Deps struct {
	Store    ports.PersonalStore
	Archive  ports.PersonalArchive
	Settings ports.Settings
	// Model answers turns; nil: there is none. HasModel says whether one is known
	// now; nil: whenever Model is there.
	Model    ports.Generator
	HasModel func() bool
	// Find looks up what a turn can quote; nil: nothing.
	Find        func(ctx context.Context, text, excludeURL string, limit int) ([]framing.Result, error)
	Transcriber ports.Transcriber  // nil: no dictation
	Voice       ports.VoiceRuntime // nil: the host cannot speak
	Random      io.Reader
	Now         func() time.Time
	// Within and After are the clocks of what may not last: context.WithTimeout and
	// time.AfterFunc.
	Within func(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc)
	After  func(wait time.Duration, call func()) (stop func() bool)
	Log    *slog.Logger
}

// Options are the settings of one process life. The zero value of a limit means
// its default.
type Options struct {
	InputInstanceID string // UUID of this process's text input
	Language        answers.Language
	TimeZone        string // IANA name
	MaxPrompt       int    // bytes; default answers.DefaultPrompt
	MaxTopics       int
	MaxBytes        int64 // of the texts of all messages
	TopicAge        time.Duration
	// Record says whether browser questions become topics. Fixed: a flag, the
	// environment or the file says so, and the page cannot change it.
	Record      bool
	RecordFixed bool
}

// Host is the personal host. All methods may be called concurrently.
type Host struct {
	deps Deps
	opts Options

	group    group
	commands commandQueue
	changes  syncx.Notifier
	lines    lines // text turns: see text.go and turns.go
	topics   topics

	mu        sync.Mutex // guards what follows; never held during a call to a port but a link
	revision  uint64     // of the newest commit
	unstored  uint64     // changes of what a snapshot shows and no store keeps
	selected  string     // conversation, as it is stored
	sequence  uint64     // of the last caption
	endpoints map[*endpoint]struct{}
	texts     map[bool]*conversations.TextLedger // of the page (true) and of phones: neither uses up the other's
	voice     voice
	recording bool

	full atomic.Bool // there is more text than may be kept, and nothing to remove
}

// New checks the wiring and opens what is stored: what was pending is
// interrupted, and the two permanent conversations are there. ctx bounds the
// opening alone; Stop ends the host.
func New(ctx context.Context, deps Deps, opts Options) (*Host, error) {
	var missing []error
	for _, d := range []struct {
		absent bool
		name   string
	}{
		{deps.Store == nil || deps.Archive == nil, "store"},
		{deps.Settings == nil, "settings"},
		{deps.Random == nil, "random source"},
		{deps.Now == nil || deps.Within == nil || deps.After == nil, "clock"},
		{deps.Log == nil, "logger"},
		{opts.InputInstanceID == "", "input instance"},
	} {
		if d.absent {
			missing = append(missing, errors.New("personal host: no "+d.name))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	if opts.MaxPrompt == 0 {
		opts.MaxPrompt = answers.DefaultPrompt
	}
	if opts.MaxTopics == 0 {
		opts.MaxTopics = conversations.MaxTopics
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = conversations.MaxBytes
	}
	if opts.TopicAge == 0 {
		opts.TopicAge = conversations.TopicAge
	}
	h := &Host{deps: deps, opts: opts, endpoints: map[*endpoint]struct{}{}, texts: map[bool]*conversations.TextLedger{true: {}, false: {}}}
	h.group.host = h
	h.commands.turns = syncx.NewSemaphore(1)
	h.group.ctx, h.group.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.lines.open = map[string]*line{}
	if err := h.open(ctx); err != nil {
		h.group.cancel()
		return nil, fmt.Errorf("open the personal host: %w", err)
	}
	if err := h.keepBounds(ctx); err != nil {
		h.group.cancel()
		return nil, fmt.Errorf("open the personal host: %w", err)
	}
	return h, nil
}

// open brings the store into the state in which a host begins.
func (h *Host) open(ctx context.Context) error {
	if err := h.loadRecording(ctx); err != nil {
		return err
	}
	return h.update(ctx, func(tx ports.PersonalTx) error {
		if _, err := tx.InterruptPending(); err != nil {
			return err
		}
		for _, c := range []conversations.Conversation{
			{ID: conversations.MainID, Kind: conversations.Chat, Title: conversations.FreeTitle(h.words().chat, nil)},
			{ID: conversations.ProactiveID, Kind: conversations.Proactive, Title: h.words().reminders},
		} {
			if err := h.ensure(tx, c); err != nil {
				return err
			}
		}
		selected, err := selectedID(tx)
		if err != nil {
			return err
		}
		if _, err := tx.Conversation(selected); errors.Is(err, ports.ErrConversationUnknown) {
			selected = conversations.MainID
			if err := selectConversation(tx, selected); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		return h.expireTopics(tx, "")
	})
}

func (h *Host) ensure(tx ports.PersonalTx, c conversations.Conversation) error {
	stored, err := tx.Conversation(c.ID)
	switch {
	case err == nil && stored.Title != c.Title: // the host's language has changed
		stored.Title = c.Title
		return tx.PutConversation(stored)
	case !errors.Is(err, ports.ErrConversationUnknown):
		return err
	}
	c.CreatedAt = h.now()
	c.UpdatedAt = c.CreatedAt
	return tx.PutConversation(c)
}

// Stop refuses new work, lets admitted commands store their receipts, ends the
// turns, which the next start will call interrupted, and waits for all of it.
func (h *Host) Stop() {
	h.commands.close()
	h.lines.close()
	h.group.stop()
	h.stopVoice(nil)
}

// Changed gives a channel that is closed at the next change. Take it before
// reading the state, so that no change falls in between.
func (h *Host) Changed() <-chan struct{} { return h.changes.Wait() }

// Input says what a client can hand in now (decision K10).
func (h *Host) Input() nova.Input {
	switch {
	case !h.hasModel():
		return nova.NoInput
	case h.deps.Transcriber == nil:
		return nova.TextInput
	}
	return nova.TextAndDictation
}

// InputInstance names this process's text input, which lives as long.
func (h *Host) InputInstance() string { return h.opts.InputInstanceID }

func (h *Host) hasModel() bool {
	return h.deps.Model != nil && (h.deps.HasModel == nil || h.deps.HasModel())
}

// now is the time as it is stored.
func (h *Host) now() time.Time { return h.deps.Now().UTC().Truncate(time.Millisecond) }

// errUnchanged ends a change that has nothing to store.
var errUnchanged = errors.New("nothing to store")

// update makes a change, durably, and tells everybody. A change that gives
// errUnchanged is none, and no error.
func (h *Host) update(ctx context.Context, change func(tx ports.PersonalTx) error) error {
	var revision uint64
	var selected string
	err := h.deps.Store.Update(ctx, func(tx ports.PersonalTx) error {
		err := change(tx)
		if err == nil {
			revision, err = raiseRevision(tx)
		}
		if err == nil {
			selected, err = selectedID(tx)
		}
		return err
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err == nil {
		h.noteCommit(revision, selected)
		h.announce()
	}
	return err
}

// noteCommit keeps what a commit has made of the state. Commits may come out of
// their order: the newest counts.
func (h *Host) noteCommit(revision uint64, selected string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if revision > h.revision {
		h.revision, h.selected = revision, selected
	}
}

// announce tells clients and page of a commit, or of what is not stored.
func (h *Host) announce() {
	h.mu.Lock()
	for e := range h.endpoints {
		if e.holding > 0 {
			e.held = true
			continue
		}
		e.link.Changed(h.revision + h.unstored)
	}
	h.mu.Unlock()
	h.changes.Notify()
}

// newID is random: prefix and 128 bits.
func (h *Host) newID(prefix string) string {
	var random [16]byte
	if _, err := io.ReadFull(h.deps.Random, random[:]); err != nil {
		panic("no random numbers: " + err.Error())
	}
	return prefix + hex.EncodeToString(random[:])
}

// words are the few texts of the host that clients show.
func (h *Host) words() words {
	if h.opts.Language == answers.Chinese {
		return words{chat: "新对话", reminders: "主动提醒", discuss: "聊聊这条建议"}
	}
	return words{chat: "Chat", reminders: "Reminders", discuss: "Let's talk about this suggestion"}
}

type words struct{ chat, reminders, discuss string }

// Terms are what a client and the host have agreed upon.
type Terms struct {
	Desktop  bool          // the owner's own page, else a phone
	Personal bool          // the personal extension was granted
	Language nova.Language // of answers; "" is the host's default
}

// Caller is who the client is to commands.
func (t Terms) Caller() workbench.Caller {
	if t.Desktop {
		return workbench.Caller{ClientID: workbench.DesktopClient, CanTakeover: true}
	}
	return workbench.Caller{ClientID: workbench.RemoteClient}
}
