package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/cli"
	"plexus/domain/admission"
	"plexus/domain/usecases/ask"
	"plexus/domain/usecases/devices"
	"plexus/ports"
)

// reachLimit bounds one look at a service for the status.
const reachLimit = 2 * time.Second

// statusSource gathers what `plexus status` shows.
func (i *instance) statusSource(h nerveHost) func(context.Context) (adminapi.Status, error) {
	return func(ctx context.Context) (adminapi.Status, error) {
		stats, err := i.store.Stats(ctx)
		if err != nil {
			return adminapi.Status{}, fmt.Errorf("database figures: %w", err)
		}
		rows, err := h.Extensions(ctx)
		if err != nil {
			return adminapi.Status{}, fmt.Errorf("extensions: %w", err)
		}
		paired, err := i.clients.Devices(ctx)
		if err != nil {
			return adminapi.Status{}, fmt.Errorf("phones: %w", err)
		}
		health := h.Health()
		s := adminapi.Status{
			Version: cli.Version(), PID: os.Getpid(),
			StartedAt: i.started.UTC(), UptimeSeconds: int64(time.Since(i.started).Seconds()),
			DataDir: i.opts.dataDir, DatabaseBytes: stats.FileBytes + stats.WALBytes, WALBytes: stats.WALBytes,
			Admin:       "http://" + i.listeners.admin.Addr().String() + "/",
			Nerve:       i.openListeners(),
			Phones:      i.phoneStatus(paired),
			Index:       i.indexStatus(stats, health.Index),
			Kept:        i.kept(stats.Personal),
			Connections: h.LiveConnections(),
			Queries:     queries(health),
			Waiting:     []adminapi.Extension{},
			Refused:     []adminapi.Refusal{},
		}
		var looking sync.WaitGroup
		looking.Go(func() { s.Search = i.searchStatus(ctx, health.Search) })
		looking.Go(func() { s.Model = i.modelStatus(ctx, health.Model) })
		looking.Go(func() { s.Recognizer = i.recognizerStatus(ctx) })
		looking.Wait()
		offer(&s.Recognizer, s.Model)
		for _, row := range rows {
			if row.State == admission.Waiting {
				s.Waiting = append(s.Waiting, adminapi.NewExtension(row))
			}
		}
		for _, r := range h.Refusals() {
			s.Refused = append(s.Refused, adminapi.Refusal{
				Cause: string(r.Cause), Peer: r.Peer, Count: r.Count, First: r.First, Last: r.Last, Advice: r.Cause.Advice(),
			})
		}
		return s, nil
	}
}

func (i *instance) kept(sizes ports.PersonalSizes) adminapi.Kept {
	browser, _ := i.personal.Recording()
	return adminapi.Kept{
		Conversations: sizes.Conversations, Topics: sizes.Topics, Messages: sizes.Messages, Bytes: sizes.MessageBytes, Browser: browser,
	}
}

func (i *instance) openListeners() adminapi.Listeners {
	l := adminapi.Listeners{Address: i.listeners.nerve.Addr().String(), Token: i.store.token.Token.Path()}
	if i.listeners.nerveSocket != nil {
		l.Socket = i.listeners.nerveSocket.Addr().String()
	}
	return l
}

func (i *instance) phoneStatus(paired []devices.Status) adminapi.PhoneStatus {
	s := adminapi.PhoneStatus{
		Address: i.listeners.client.Addr().String(), Accepted: []string{}, Paired: len(paired),
		Connected: i.clients.LiveClients(), NoPhone: i.clients.NoPhone(),
	}
	if public, fixed, ok := i.clients.PublicURL(); ok {
		s.PublicURL, s.Fixed = public.String(), fixed
	}
	for _, h := range i.clients.AcceptedHosts() {
		s.Accepted = append(s.Accepted, h.Server.Authority())
	}
	_, s.Invitation = i.clients.OpenInvitation()
	return s
}

func (i *instance) indexStatus(stats sqlite.Stats, f ask.Failure) adminapi.Index {
	cfg := i.opts.cfg
	return adminapi.Index{
		Enabled: cfg.UsesIndex(), Shared: cfg.Index.Shared, Pages: stats.Pages, Bytes: stats.PageBytes,
		Failures: f.Count, LastFailure: lastOf(f), LastCause: f.Cause,
	}
}

func (i *instance) searchStatus(ctx context.Context, f ask.Failure) adminapi.Service {
	cfg := i.opts.cfg
	s := service(cfg.Search.Kind, cfg.Search.URL, f)
	switch {
	case cfg.Search.Kind == "none":
		s.Reach = adminapi.Off
	case i.services.warm == nil:
		s.Reach = adminapi.BuiltIn
	default:
		reached(&s, within(ctx, i.services.warm))
	}
	return s
}

func (i *instance) modelStatus(ctx context.Context, f ask.Failure) adminapi.Model {
	cfg := i.opts.cfg
	m := adminapi.Model{Service: service(cfg.Model.Kind, cfg.Model.BaseURL, f), Name: cfg.Model.Name}
	switch {
	case cfg.Model.Kind == "none":
		m.Reach = adminapi.Off
	case i.services.model == nil:
		m.Reach = adminapi.BuiltIn
	case i.services.auto != nil:
		if err := within(ctx, i.services.auto.Probe); err != nil {
			m.Problem = err.Error()
		}
		addFound(&m, i.services.auto)
		if name, url := i.services.auto.inUse(); name != "" {
			m.Name, m.URL = name, url
			reached(&m.Service, within(ctx, func(ctx context.Context) error { return connectTo(ctx, url) }))
		}
	default:
		reached(&m.Service, within(ctx, func(ctx context.Context) error { return connectTo(ctx, cfg.Model.BaseURL) }))
	}
	return m
}

// addFound lists the models of this machine. In use is the one that the owner
// took, else the first that is ours.
func addFound(m *adminapi.Model, local *localModel) {
	m.Reach = adminapi.NotFound
	name, url := local.inUse()
	for _, f := range local.Found() {
		used := f.Ours && m.Reach != adminapi.Reachable
		if name != "" {
			used = f.Name == name && f.BaseURL == url
		}
		if used {
			m.Reach, m.Name, m.URL = adminapi.Reachable, f.Name, f.BaseURL
		}
		m.Found = append(m.Found, adminapi.Found{
			Name: f.Name, BaseURL: f.BaseURL, Server: f.Server, Used: used, Config: f.ConfigLines(),
		})
	}
}

func service(kind, rawURL string, f ask.Failure) adminapi.Service {
	return adminapi.Service{Kind: kind, URL: rawURL, Failures: f.Count, LastFailure: lastOf(f), LastCause: f.Cause}
}

// lastOf is nil when nothing has failed.
func lastOf(f ask.Failure) *time.Time {
	if f.Count == 0 {
		return nil
	}
	at := f.At.UTC()
	return &at
}

func reached(s *adminapi.Service, err error) {
	s.Reach = adminapi.Reachable
	if err != nil {
		s.Reach, s.Problem = adminapi.Unreachable, err.Error()
	}
}

func within(ctx context.Context, try func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, reachLimit)
	defer stop()
	return try(ctx)
}

// connectTo opens and closes a TCP connection; nothing is sent.
func connectTo(ctx context.Context, rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return errors.New("the address is no URL")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	_ = conn.Close() // nothing was exchanged
	return nil
}

func queries(h ask.Health) adminapi.Queries {
	return adminapi.Queries{
		Answered: h.Answered, Cancelled: h.Cancelled, Refused: h.Refused,
		FirstResult: latency(h.FirstResult), Answer: latency(h.Answer),
	}
}

func latency(l ask.Latency) adminapi.Latency {
	return adminapi.Latency{Count: l.Count, P50: milliseconds(l.P50), P99: milliseconds(l.P99)}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
