// Package personal is the personal host: it builds the hub and the areas, each a
// folder below this one, and wires them. Whatever the host accepts is stored before
// it is confirmed.
package personal

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"plexus/domain/answers"
	"plexus/domain/nova"
	"plexus/ports"
	"plexus/usecases/personal/absent"
	"plexus/usecases/personal/chats"
	"plexus/usecases/personal/choice"
	"plexus/usecases/personal/dictation"
	"plexus/usecases/personal/feed"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/presentation"
	"plexus/usecases/personal/privacy"
	"plexus/usecases/personal/tasks"
	"plexus/usecases/personal/topics"
	"plexus/usecases/personal/turns"
	"plexus/usecases/personal/voice"
)

// Deps are what the personal host calls out to. New refuses a missing one,
// except where nil is said to mean something.
type Deps struct {
	hub.Services
	Archive  ports.PersonalArchive
	Settings ports.Settings
	Index    ports.PageIndex // the pages that are remembered; nil: none are
	// Model answers turns; nil: there is none. HasModel says whether one is known
	// now; nil: whenever Model is there.
	Model    ports.Generator
	HasModel func() bool
	// Find looks up on this machine what a turn can quote; nil: nothing. Search asks
	// the search service too; nil: there is none.
	Find, Search turns.Find
	Transcriber  ports.Transcriber  // nil: no dictation
	Voice        ports.VoiceRuntime // nil: the host cannot speak
}

// Options are the settings of one process life. Without MaxPrompt it is
// answers.DefaultPrompt.
type Options struct {
	InputInstanceID string // UUID of this process's text input
	Language        answers.Language
	PageLanguage    nova.Language // of answers on the owner's page; "": Language
	TimeZone        string        // IANA name
	MaxPrompt       int           // bytes
	Topics          topics.Options
	Searches        choice.Start // whether every text goes to Search
}

// Host is the personal host: the hub that clients attach to, and those areas that
// the owner's page and the browser's questions use directly. All methods may be
// called concurrently.
type Host struct {
	*hub.Hub
	Chats   *chats.Chats
	Life    *life.Life
	Privacy *privacy.Privacy
	Topics  *topics.Topics
	Turns   *turns.Turns
}

// Input says what a client can hand in now (decision K10).
func (h *Host) Input() nova.Input { return h.Turns.Input() }

// InputInstance names this process's text input, which lives as long.
func (h *Host) InputInstance() string { return h.Turns.InputInstance() }

// New checks the wiring, builds the areas and opens what is stored: what was pending
// is interrupted, and the two permanent conversations are there. ctx bounds the
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
	host, err := open(ctx, deps, opts)
	if err != nil {
		return nil, fmt.Errorf("open the personal host: %w", err)
	}
	return host, nil
}

// searchesKey is the owner's setting: whether conversations go to the search service.
const searchesKey = "search_conversations"

// open wires hub and areas. An area gets the areas that it uses; none knows those
// that use it.
func open(ctx context.Context, deps Deps, opts Options) (_ *Host, err error) {
	h := hub.New(ctx, deps.Services)
	defer func() {
		if err != nil {
			h.Stop()
		}
	}()
	host := &Host{Hub: h}
	hasModel := func() bool { return deps.Model != nil && (deps.HasModel == nil || deps.HasModel()) }

	queue := turns.NewQueue(h)
	shown := presentation.New(h)
	spoken := voice.New(h, deps.Voice, queue.Busy)
	dictated := dictation.New(h, spoken, shown, deps.Transcriber, hasModel)
	host.Topics, err = topics.New(ctx, h, deps.Settings, deps.Archive, spoken, queue.Drop, opts.Topics)
	if err != nil {
		return nil, err
	}
	searches, err := choice.Load(ctx, deps.Settings, searchesKey, opts.Searches)
	if err != nil {
		return nil, err
	}
	host.Turns = turns.New(h, queue, spoken, dictated, host.Topics, searches, turns.Options{
		Model: deps.Model, Answered: hasModel, Find: deps.Find, Search: deps.Search, Language: opts.Language, PageLanguage: opts.PageLanguage,
		MaxPrompt: cmp.Or(opts.MaxPrompt, answers.DefaultPrompt), InputInstanceID: opts.InputInstanceID,
	})
	host.Chats = chats.New(h, deps.Archive, queue, host.Topics, spoken, opts.Language)
	host.Life = life.New(h)
	host.Privacy = privacy.New(h, deps.Index, host.Chats, host.Topics)

	// The members of the snapshot stand in this order.
	err = h.Open(ctx,
		absent.Memory(),
		absent.Sources(),
		absent.Discovery(opts.TimeZone),
		absent.Agents(),
		absent.News(),
		absent.Cards(),
		shown.Area(),
		absent.Understanding(),
		absent.Connectors(),
		host.Life.Area(),
		host.Chats.Area(),
		feed.New(h, host.Chats, host.Turns, spoken, opts.Language).Area(),
		tasks.New(h).Area(),
		host.Turns.Area(),
		host.Topics.Area(),
		dictated.Area(),
		spoken.Area(),
	)
	if err == nil {
		err = host.Topics.KeepBounds(ctx)
	}
	return host, err
}
