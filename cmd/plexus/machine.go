package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/adminweb"
	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/doctor"
	"plexus/domain/usecases/ask"
	"plexus/domain/usecases/devices"
	"plexus/web"
)

// lookEvery is how old what the page shows of the world outside may be: the next
// drawing then has it looked at again.
const lookEvery = 30 * time.Second

// machine is the rest of the host as the page shows it. It looks at services and
// at Tailscale beside the drawing of pages, which take what was seen last.
type machine struct {
	*instance
	host nerveHost
	ctx  context.Context // ends with the instance; looks end with it

	mu      sync.Mutex
	seen    view
	at      time.Time // of the last look; zero: none yet
	looking bool
	changed chan struct{} // closed at the next change of seen
	looks   sync.WaitGroup
}

// view is what one look has seen.
type view struct {
	search adminapi.Service
	model  adminapi.Model
	speech adminapi.Recognizer
	path   adminweb.Path
}

func newMachine(ctx context.Context, i *instance, h nerveHost) *machine {
	return &machine{instance: i, host: h, ctx: ctx, changed: make(chan struct{})}
}

// Changed gives a channel that is closed at the next change of what was seen.
func (m *machine) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// look gives what was seen last and looks again, unless that is fresh or a look
// is under way. Only the very first one is waited for.
func (m *machine) look(ctx context.Context) view {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.looking && time.Since(m.at) >= lookEvery && m.ctx.Err() == nil {
		m.looking = true
		m.looks.Go(m.lookNow)
	}
	if first := m.changed; m.at.IsZero() && m.looking {
		m.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
		}
		m.mu.Lock()
	}
	return m.seen
}

func (m *machine) lookNow() {
	health := m.host.Health()
	var v view
	var looking sync.WaitGroup
	looking.Go(func() { v.search = m.searchStatus(m.ctx, health.Search) })
	looking.Go(func() { v.model = m.modelStatus(m.ctx, health.Model) })
	looking.Go(func() { v.speech = m.recognizerStatus(m.ctx) })
	looking.Go(func() { v.path = m.lookAtPath(m.ctx) })
	looking.Wait()
	offer(&v.speech, v.model)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.at, m.looking = v, time.Now(), false
	close(m.changed)
	m.changed = make(chan struct{})
}

// lookAtPath asks Tailscale, where there is one, for its name and for what it
// hands on.
func (m *machine) lookAtPath(ctx context.Context) adminweb.Path {
	path := adminweb.Path{FixedBy: m.opts.cfg.PublicURLFrom}
	ts, err := findTailnet(ctx, m.env)
	if err != nil {
		return path
	}
	path.Offered = ts.url()
	forwards, err := ts.Forwards(ctx)
	client, parseErr := netip.ParseAddrPort(m.listeners.client.Addr().String())
	if err := errors.Join(err, parseErr); err != nil {
		return path
	}
	handed := doctor.HandedOn(forwards, ts.Name, 443, client)
	if !handed {
		path.Command = "tailscale " + strings.Join(tailscale.ServeArgs(443, client), " ")
	}
	if public, _, ok := m.clients.PublicURL(); ok {
		for _, f := range doctor.Tailnet(forwards, ts.Name, public, client, m.privateAddresses()) {
			if f.Level == doctor.Fault || f.Level == doctor.Warning {
				path.Warning = f.Detail + " " + f.Advice
				break
			}
		}
	}
	return path
}

// privateAddresses are the listeners that nobody but this machine may reach.
func (m *machine) privateAddresses() []string {
	return []string{m.listeners.admin.Addr().String(), m.listeners.nerve.Addr().String()}
}

// Path implements adminweb.Machine.
func (m *machine) Path(ctx context.Context) adminweb.Path { return m.look(ctx).path }

// Overview implements adminweb.Machine.
func (m *machine) Overview(ctx context.Context) (web.Overview, error) {
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return web.Overview{}, fmt.Errorf("database figures: %w", err)
	}
	seen, health := m.look(ctx), m.host.Health()
	o := web.Overview{
		Version: cli.Version(), Started: m.started, DataDir: m.opts.dataDir, DatabaseBytes: stats.FileBytes + stats.WALBytes,
		Search: shown(seen.search, health.Search, ""), Model: shown(seen.model.Service, health.Model, seen.model.Name),
		Recognizer: shown(seen.speech.Service, ask.Failure{}, seen.speech.Name), DictationConfig: seen.speech.Config,
		Index:      web.Index{Enabled: m.opts.cfg.UsesIndex(), Pages: stats.Pages, Bytes: stats.PageBytes},
		Extensions: m.host.LiveConnections(),
		Answered:   health.Answered, Cancelled: health.Cancelled, Refused: health.Refused,
		FirstResult: web.Latency{Count: health.FirstResult.Count, P50: health.FirstResult.P50, P99: health.FirstResult.P99},
		Answer:      web.Latency{Count: health.Answer.Count, P50: health.Answer.P50, P99: health.Answer.P99, Recent: health.LastAnswers},
	}
	for _, f := range seen.model.Found {
		if !f.Used {
			o.Found = append(o.Found, web.FoundModel{Name: f.Name, BaseURL: f.BaseURL, Server: f.Server})
		}
	}
	return o, nil
}

// shown joins what was seen last with the failures of this moment.
func shown(s adminapi.Service, f ask.Failure, name string) web.Service {
	return web.Service{
		Kind: s.Kind, Name: name, URL: s.URL, Reach: web.Reach(s.Reach), Problem: s.Problem,
		Failures: f.Count, LastFailure: f.At, LastCause: f.Cause,
	}
}

// UseModel implements adminweb.Machine. Only a model that was found on this
// machine can be taken: nothing goes elsewhere by one click.
func (m *machine) UseModel(ctx context.Context, name, baseURL string) error {
	local := m.services.auto
	if local == nil {
		return devices.ErrSettingFixed
	}
	found := false
	for _, f := range local.Found() {
		found = found || f.Name == name && f.BaseURL == baseURL
	}
	if !found {
		return errors.New("use a model: none of that name was found at that address")
	}
	if err := m.store.Settings().PutSetting(ctx, keyModel, baseURL+"\n"+name); err != nil {
		return fmt.Errorf("use a model: %w", err)
	}
	if err := local.use(name, baseURL); err != nil {
		return err
	}
	m.mu.Lock()
	m.at = time.Time{} // it is out of date
	m.mu.Unlock()
	return nil
}
