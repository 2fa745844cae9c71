// Package ask is the use case of a question: results from the search service
// and the page index, then an answer by the model or from the sentences of what
// was found. Browsers ask by AnswerQuery; the personal host uses Find and
// Generate, so that both share the same limits on work at once.
package ask

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"plexus/domain/answers"
	"plexus/ports"
	"plexus/usecases/syncx"
)

// Deps are what a Service calls out to. New refuses a missing clock or logger.
type Deps struct {
	Search   ports.SearchProvider // nil: no service, the page index alone
	Model    ports.Generator      // nil: extractive answers
	Index    ports.PageIndex      // nil: switched off
	Recorder ports.AnswerRecorder // nil: nothing is recorded
	Now      func() time.Time
	Log      *slog.Logger
}

// Options are the settings of one process life. The zero value of a limit means
// its default.
type Options struct {
	Language       answers.Language
	NoAnswers      bool // model.kind = "none": every answer is the empty sentinel
	IndexShared    bool
	MaxSearches    int // at once; default 16
	MaxGenerations int // at once; default 2
	MaxPrompt      int // bytes, at least answers.MinPrompt; default 24 KiB
}

// Defaults of the work limits (decision G12).
const (
	DefaultSearches    = 16
	DefaultGenerations = 2 // against a model on this machine
)

// Service answers questions. All methods may be called concurrently.
type Service struct {
	deps Deps
	opts Options

	searches    *syncx.Semaphore
	generations *syncx.Semaphore

	mu sync.Mutex // guards health
	health
}

// New checks the wiring and builds a Service.
func New(deps Deps, opts Options) (*Service, error) {
	var missing []error
	if deps.Now == nil {
		missing = append(missing, errors.New("ask: no clock"))
	}
	if deps.Log == nil {
		missing = append(missing, errors.New("ask: no logger"))
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
	return &Service{
		deps: deps, opts: opts,
		searches:    syncx.NewSemaphore(opts.MaxSearches),
		generations: syncx.NewSemaphore(opts.MaxGenerations),
	}, nil
}
