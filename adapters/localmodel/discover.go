package localmodel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	places []place
	passed []PassedOver
	using  *Generator // asks the first of Found that is ours; nil: none
	usedBy Found      // what using asks
	tried  bool       // using has been asked for a token, and has not refused
	looked time.Time  // end of the last whole probe
}

// PassedOver is a model of this machine that does not chat, as its server has said.
type PassedOver struct {
	Found
	Cause string // one line, without key and content
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

// Found lists a model of each server that the last probe saw, in order of preference:
// the first that is not passed over. The first that is Ours is in use.
func (a *Auto) Found() []Found {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.findLocked()
}

func (a *Auto) findLocked() []Found {
	var found []Found
	for _, p := range a.places {
		for _, name := range p.models {
			f := p.at
			f.Name = name
			if !slices.ContainsFunc(a.passed, func(o PassedOver) bool { return o.is(f) }) {
				found = append(found, f)
				break
			}
		}
	}
	return found
}

func (f Found) is(other Found) bool { return f.Name == other.Name && f.BaseURL == other.BaseURL }

// PassedOver lists the models that do not chat, as they were asked. One that its server
// no longer lists is left out, and has another chance when it comes back.
func (a *Auto) PassedOver() []PassedOver {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.passed)
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
	places := a.askAll(probeCtx)
	if ctx.Err() != nil {
		return ctx.Err() // cut short by its caller: not a look
	}
	a.useProbe(places)
	return nil
}

// useProbe takes the result of a whole probe.
func (a *Auto) useProbe(places []place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked = a.now()
	before := a.findLocked()
	a.places = places
	a.passed = slices.DeleteFunc(a.passed, func(o PassedOver) bool {
		i := slices.IndexFunc(places, func(p place) bool { return p.at.BaseURL == o.BaseURL })
		return i >= 0 && !slices.Contains(places[i].models, o.Name)
	})
	a.chooseLocked(before)
}

// chooseLocked uses the first model that is ours, if none is in use. before is what was
// found before: only news of what is not used are logged.
func (a *Auto) chooseLocked(before []Found) {
	found := a.findLocked()
	for _, f := range found {
		switch {
		case a.using != nil:
			return
		case !f.Ours:
			if !slices.Contains(before, f) {
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
		a.using, a.usedBy, a.tried = g, f, false
		a.log.Info("local model in use", "model", f.Name, "server", f.Server, "base_url", f.BaseURL)
	}
}

// Usable reports whether there is a model that chats, after a look when none is known. A
// model that has not been asked yet is asked for one token; whether it is slow or out of
// order is not judged here.
func (a *Auto) Usable(ctx context.Context) bool {
	_ = a.Probe(ctx) // without a look in time what is known counts
	for {
		g, f, tried := a.current()
		if g == nil || tried {
			return g != nil
		}
		if err := a.mayAsk(f); err != nil {
			a.forget(f)
			continue
		}
		if err := g.tryChat(ctx); refusesChat(err) {
			a.passOver(f, err)
			continue
		}
		a.setTried(f)
		return true
	}
}

// Try asks a model that was found for one token. The error says that it does not chat,
// and wraps ports.ErrModelUnavailable; the model is then passed over.
func (a *Auto) Try(ctx context.Context, f Found) error {
	g, err := New(Config{BaseURL: f.BaseURL, Model: f.Name, Limits: a.limits, Dial: a.dial})
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.tryChat(ctx); refusesChat(err) {
		a.passOver(f, err)
		return fmt.Errorf("trying a local model: %w: it does not chat: %w", ports.ErrModelUnavailable, err)
	}
	return nil
}

// Generate asks the model in use, after a probe when there is none. One that turns out
// not to chat is passed over, and the same question goes to the next, within the time of
// one answer. ports.ErrNoModel when nothing usable runs here, also when the servers are
// gone: then nothing has been emitted.
func (a *Auto) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	if err := a.Probe(ctx); err != nil {
		return err
	}
	limited, stop := context.WithTimeout(ctx, cmp.Or(a.limits.Total, DefaultTotal))
	defer stop()
	cause := ports.ErrNoModel
	for call := ctx; ; call = limited { // the first call has this limit itself
		g, f, _ := a.current()
		if g == nil {
			return fmt.Errorf("asking a local model: %w", cause)
		}
		// Another user may have taken the port since it was found.
		if err := a.mayAsk(f); err != nil {
			a.forget(f)
			cause = fmt.Errorf("%w: %w", ports.ErrNoModel, err)
			continue
		}
		emitted := false
		err := g.Generate(call, prompt, func(text string) error {
			emitted = true
			return emit(text)
		})
		switch {
		case err == nil:
			a.setTried(f)
			return nil
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil:
			fault := ports.ErrModelUnavailable
			if emitted {
				fault = ports.ErrModelInterrupted
			}
			return fmt.Errorf("asking a local model: %w: %w", fault, errTotal)
		case isGone(err):
			a.forget(f)
			cause = fmt.Errorf("%w: %w", ports.ErrNoModel, safeCause(err))
			continue
		case !refusesChat(err):
			return err
		}
		// It may be this question that is refused, and not every one.
		if again := g.tryChat(limited); !refusesChat(again) {
			return err
		}
		a.passOver(f, err)
	}
}

// isGone reports whether no server could be reached, so that nothing has been sent.
func isGone(err error) bool {
	var unreached *net.OpError
	return errors.As(err, &unreached) && unreached.Op == "dial"
}

// current gives the model in use; nil for none.
func (a *Auto) current() (g *Generator, f Found, tried bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.using, a.usedBy, a.tried
}

// mayAsk gives an error when a model's server may be another user's.
func (a *Auto) mayAsk(f Found) error {
	if ours, err := a.isOurs(f.port); err != nil || !ours {
		return fmt.Errorf("another user may listen on port %d", f.port)
	}
	return nil
}

func (a *Auto) setTried(f Found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tried = a.tried || a.usedBy.is(f)
}

// passOver leaves a model out that does not chat, as long as its server lists it, and
// uses the next.
func (a *Auto) passOver(f Found, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(a.passed, func(o PassedOver) bool { return o.is(f) }) {
		return // another question has met it
	}
	before := a.findLocked()
	var refused *serverError
	errors.As(cause, &refused)
	a.passed = append(a.passed, PassedOver{f, refused.Error()})
	a.log.Info("local model passed over: it does not chat", "model", f.Name, "server", f.Server, "base_url", f.BaseURL, "cause", refused)
	if a.using != nil && a.usedBy.is(f) {
		a.dropLocked(before)
	}
}

// forget drops a server that is gone; the next question may look again.
func (a *Auto) forget(f Found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.findLocked()
	a.places = slices.DeleteFunc(a.places, func(p place) bool { return p.at.BaseURL == f.BaseURL })
	if a.using == nil || a.usedBy.BaseURL != f.BaseURL {
		return // another question has met it
	}
	a.log.Info("local model gone", "model", f.Name, "server", f.Server, "base_url", f.BaseURL)
	a.dropLocked(before)
}

// dropLocked lets another model take the place of the one in use.
func (a *Auto) dropLocked(before []Found) {
	a.using.Close()
	a.using, a.usedBy = nil, Found{}
	a.chooseLocked(before)
}
