// Package browsers is the use case of who may open a NERVE connection: browser
// extensions by their key, native tools by the host token. It keeps the rows that
// the owner decides on, the live connections, and the refused attempts.
package browsers

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"plexus/domain/admission"
	"plexus/domain/loglimit"
	"plexus/ports"
	"plexus/usecases/syncx"
)

// Deps are what a Registry calls out to. New refuses a missing one.
type Deps struct {
	Extensions ports.ExtensionRegistry
	Token      ports.TokenKeeper
	Now        func() time.Time
	Log        *slog.Logger
}

// Options are the settings of one process life.
type Options struct {
	AllowedOrigins []string          // admitted without a key
	TokenHash      admission.KeyHash // of the host token as the process starts
}

// Registry decides which browser extensions and native tools may connect. All
// methods may be called concurrently.
type Registry struct {
	deps    Deps
	opts    Options
	changes syncx.Notifier

	mu       sync.Mutex // guards what follows; never held during a call to a port
	token    admission.KeyHash
	live     map[ports.NerveLink]admission.Peer
	round    uint64 // rises with every removal and rotation
	refusals refusals
	logLimit loglimit.PerMinute

	rotating sync.Mutex // one rotation at a time, so that file and memory agree
}

// New checks the wiring and builds a Registry.
func New(deps Deps, opts Options) (*Registry, error) {
	var missing []error
	for _, d := range []struct {
		absent bool
		name   string
	}{
		{deps.Extensions == nil, "extension registry"},
		{deps.Token == nil, "token keeper"},
		{deps.Now == nil, "clock"},
		{deps.Log == nil, "logger"},
		{opts.TokenHash == (admission.KeyHash{}), "host token"},
	} {
		if d.absent {
			missing = append(missing, errors.New("browsers: no "+d.name))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	return &Registry{
		deps: deps, opts: opts, token: opts.TokenHash,
		live: map[ports.NerveLink]admission.Peer{}, logLimit: loglimit.PerMinute{},
	}, nil
}

// Changed gives a channel that is closed at the next change of what the page
// shows of extensions: rows, live connections, refused attempts. Take it before
// reading the state, so that no change falls in between.
func (r *Registry) Changed() <-chan struct{} { return r.changes.Wait() }

// inForce gives the host token's hash and the round as they are now.
func (r *Registry) inForce() (token admission.KeyHash, round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token, r.round
}
