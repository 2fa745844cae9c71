package localmodel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"plexus/adapters/outbound"
	"plexus/ports"
)

const (
	probeTimeout  = time.Second
	probeInterval = time.Minute
)

// AutoConfig says where Auto looks. Now is required; every other zero value has
// a default.
type AutoConfig struct {
	Candidates []Candidate                  // nil: Candidates()
	IsOurs     func(port int) (bool, error) // nil: ListenerIsOurs
	Limits     Limits
	Dial       outbound.Dial // nil: the network, loopback only
	Now        func() time.Time
	Log        *slog.Logger // nil: none
}

// Auto is the model that runs on this machine, if one does. It uses a server of
// this user only; one of another user is in Found, to be offered. Nothing it
// does leaves the machine. Methods may be called concurrently.
type Auto struct {
	candidates []Candidate
	isOurs     func(int) (bool, error)
	limits     Limits
	dial       outbound.Dial
	now        func() time.Time
	log        *slog.Logger

	probing chan struct{} // holds one token while a probe runs

	mu     sync.Mutex // guards the rest
	found  []Found
	using  *Generator // asks the first of found that is ours; nil: none
	usedBy Found      // what using asks
	looked time.Time  // end of the last whole probe
}

var _ ports.Generator = (*Auto)(nil)

// NewAuto builds an Auto that knows nothing yet.
func NewAuto(cfg AutoConfig) (*Auto, error) {
	if cfg.Now == nil {
		return nil, errors.New("model: no clock")
	}
	if cfg.Candidates == nil {
		cfg.Candidates = Candidates()
	}
	if cfg.IsOurs == nil {
		cfg.IsOurs = ListenerIsOurs
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Auto{
		candidates: cfg.Candidates,
		isOurs:     cfg.IsOurs,
		limits:     cfg.Limits,
		dial:       cfg.Dial,
		now:        cfg.Now,
		log:        cfg.Log,
		probing:    make(chan struct{}, 1),
	}, nil
}

// Close drops idle connections.
func (a *Auto) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.using != nil {
		a.using.Close()
	}
}

// Found lists what the last probe saw, in order of preference. The first that is
// Ours is in use.
func (a *Auto) Found() []Found {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.found)
}

// Probe looks at the candidates now unless a model is in use or the last look is
// less than a minute old. It takes a second at most; a probe that is under way
// is waited for instead of begun again. The only error is that of ctx.
func (a *Auto) Probe(ctx context.Context) error {
	select {
	case a.probing <- struct{}{}:
		defer func() { <-a.probing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	a.mu.Lock()
	due := a.using == nil && (a.looked.IsZero() || a.now().Sub(a.looked) >= probeInterval)
	a.mu.Unlock()
	if !due {
		return nil
	}
	probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	found := a.askAll(probeCtx)
	if ctx.Err() != nil {
		return ctx.Err() // cut short by its caller: not a look
	}
	a.useProbe(found)
	return nil
}

// useProbe takes the result of a whole probe.
func (a *Auto) useProbe(found []Found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked = a.now()
	news := !slices.Equal(a.found, found)
	a.found = found
	for _, f := range found {
		if !f.Ours {
			if news {
				a.log.Info("local model found, not used: its server belongs to another user or its owner is not known",
					"model", f.Name, "server", f.Server, "base_url", f.BaseURL, "config", f.ConfigLines())
			}
			continue
		}
		g, err := New(Config{BaseURL: f.BaseURL, Model: f.Name, Limits: a.limits, Dial: a.dial})
		if err != nil {
			a.log.Error("local model cannot be used", "server", f.Server, "error", err)
			continue
		}
		a.using, a.usedBy = g, f
		a.log.Info("local model in use", "model", f.Name, "server", f.Server, "base_url", f.BaseURL)
		return
	}
}

// Generate asks the model in use, after a probe when there is none.
// ports.ErrNoModel when nothing usable runs here, also when the server that was
// in use is gone: then nothing has been sent.
func (a *Auto) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	if err := a.Probe(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	g, f := a.using, a.usedBy
	a.mu.Unlock()
	if g == nil {
		return fmt.Errorf("asking a local model: %w", ports.ErrNoModel)
	}
	// Another user may have taken the port since it was found.
	if ours, err := a.isOurs(f.port); err != nil || !ours {
		a.forget(g, f)
		return fmt.Errorf("asking a local model: %w: another user may listen on port %d", ports.ErrNoModel, f.port)
	}
	err := g.Generate(ctx, prompt, emit)
	var unreached *net.OpError
	var refused *serverError
	switch {
	case errors.As(err, &unreached) && unreached.Op == "dial":
		a.forget(g, f)
		return fmt.Errorf("asking a local model: %w: %w", ports.ErrNoModel, unreached)
	case errors.As(err, &refused) && refused.status == http.StatusNotFound: // the model was removed there
		a.forget(g, f)
	}
	return err
}

// forget drops a model that is gone; the next question may look again.
func (a *Auto) forget(g *Generator, f Found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.using != g {
		return
	}
	a.using, a.usedBy = nil, Found{}
	a.found = slices.DeleteFunc(a.found, func(other Found) bool { return other == f })
	g.Close()
	a.log.Info("local model gone", "model", f.Name, "server", f.Server, "base_url", f.BaseURL)
}
