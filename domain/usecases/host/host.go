// Package host is the application: the use cases of Plexus behind its ports. It
// is the one package of domain that may wait, log and start goroutines (in
// group.go only).
package host

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"plexus/domain/admission"
	"plexus/domain/answers"
	"plexus/domain/usecases/syncx"
	"plexus/ports"
)

// Deps are what the host calls out to. New refuses a missing one, except where
// nil is said to mean something.
type Deps struct {
	Search     ports.SearchProvider // nil: no service, the page index alone
	Model      ports.Generator      // nil: extractive answers
	Index      ports.PageIndex      // nil: switched off
	Recorder   ports.AnswerRecorder // nil: nothing is recorded
	Extensions ports.ExtensionRegistry
	Token      ports.TokenKeeper
	Now        func() time.Time
	Log        *slog.Logger
}

// Options are the settings of one process life. The zero value of a limit means
// its default.
type Options struct {
	Language       answers.Language
	NoAnswers      bool // model.kind = "none": every answer is the empty sentinel
	IndexShared    bool
	AllowedOrigins []string          // admitted without a key
	TokenHash      admission.KeyHash // of the host token as the process starts
	MaxSearches    int               // at once; default 16
	MaxGenerations int               // at once; default 2
	MaxPrompt      int               // bytes, at least answers.MinPrompt; default 24 KiB
}

// Defaults of the work limits (decision G12).
const (
	DefaultSearches    = 16
	DefaultGenerations = 2 // against a model on this machine
)

// Host answers questions and decides who may ask. All methods may be called
// concurrently.
type Host struct {
	deps Deps
	opts Options

	searches    *syncx.Semaphore
	generations *syncx.Semaphore

	door    door // admission: see extensions.go
	changes syncx.Notifier
	mu      sync.Mutex // guards health
	health
}

// Changed gives a channel that is closed at the next change of what the page
// shows of extensions: rows, live connections, refused attempts. Take it before
// reading the state, so that no change falls in between.
func (h *Host) Changed() <-chan struct{} { return h.changes.Wait() }

// New checks the wiring and builds a Host.
func New(deps Deps, opts Options) (*Host, error) {
	var missing []error
	if deps.Extensions == nil {
		missing = append(missing, errors.New("host: no extension registry"))
	}
	if deps.Token == nil {
		missing = append(missing, errors.New("host: no token keeper"))
	}
	if deps.Now == nil {
		missing = append(missing, errors.New("host: no clock"))
	}
	if deps.Log == nil {
		missing = append(missing, errors.New("host: no logger"))
	}
	if opts.TokenHash == (admission.KeyHash{}) {
		missing = append(missing, errors.New("host: no host token"))
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	if opts.MaxSearches == 0 {
		opts.MaxSearches = DefaultSearches
	}
	if opts.MaxGenerations == 0 {
		opts.MaxGenerations = DefaultGenerations
	}
	if opts.MaxPrompt == 0 {
		opts.MaxPrompt = answers.DefaultPrompt
	}
	h := &Host{
		deps:        deps,
		opts:        opts,
		searches:    syncx.NewSemaphore(opts.MaxSearches),
		generations: syncx.NewSemaphore(opts.MaxGenerations),
	}
	h.door.open(opts.TokenHash)
	return h, nil
}
