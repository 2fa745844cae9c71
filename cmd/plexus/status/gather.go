package status

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
	"plexus/domain/admission"
	"plexus/usecases/ask"
	"plexus/usecases/browsers"
	"plexus/usecases/devices"
	"plexus/usecases/personal/hub"
)

// Source is the running host that a report is about.
type Source struct {
	Config    config.Config
	Services  *services.Services
	DataDir   string
	Started   time.Time
	TokenFile string // path of the host token

	Store     *sqlite.Store
	Questions *ask.Service
	Browsers  *browsers.Registry
	Devices   *devices.Service
	Recording func() (on, fixed bool) // whether questions of the browser become topics
	Unstored  func(ctx context.Context) hub.Unstored

	Admin, Nerve, Client net.Addr
	NerveSocket          string // path; "": the system has none
}

// Gather makes a report of what is known now and of what the probes have seen.
func (s *Source) Gather(ctx context.Context, seen Probes) (Report, error) {
	stats, err := s.Store.Stats(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("database figures: %w", err)
	}
	extensions, err := s.Browsers.Extensions(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("extensions: %w", err)
	}
	paired, err := s.Devices.Devices(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("phones: %w", err)
	}
	health := s.Questions.Health()
	r := Report{
		Version: cli.Version(), PID: os.Getpid(),
		StartedAt: s.Started.UTC(), UptimeSeconds: int64(time.Since(s.Started).Seconds()),
		DataDir: s.DataDir, DatabaseBytes: stats.FileBytes + stats.WALBytes, WALBytes: stats.WALBytes,
		Admin:  "http://" + s.Admin.String() + "/",
		Nerve:  Nerve{Address: s.Nerve.String(), Socket: s.NerveSocket, Token: s.TokenFile},
		Phones: s.phones(len(paired)),
		Search: seen.Search, Model: seen.Model, Recognizer: seen.Recognizer,
		Index: Index{
			Enabled: s.Config.UsesIndex(), Shared: s.Config.Index.Shared, Pages: stats.Pages, Bytes: stats.PageBytes,
			Failures: failures(health.Keep),
		},
		Kept: Kept{
			Conversations: stats.Personal.Conversations, Topics: stats.Personal.Topics,
			Messages: stats.Personal.Messages, Bytes: stats.Personal.MessageBytes,
		},
		Connections: s.Browsers.LiveConnections(),
		Queries: Queries{
			Answered: health.Answered, Canceled: health.Canceled, Refused: health.Refused,
			FirstResult: latency(health.FirstResult), Answer: latency(health.Answer),
		},
		Waiting: []adminapi.Extension{},
		Refused: []Refusal{},
	}
	r.Search.Failures, r.Model.Failures = failures(health.Search), failures(health.Model)
	r.Kept.Browser, _ = s.Recording()
	if full := s.Unstored(ctx); full.Count > 0 {
		r.DiskFull = &DiskFull{Unstored: full.Count, Last: full.Last.UTC()}
	}
	r.Queries.Answer.Recent = health.LastAnswers
	for _, row := range extensions {
		if row.State == admission.Waiting {
			r.Waiting = append(r.Waiting, adminapi.NewExtension(row))
		}
	}
	for _, one := range s.Browsers.Refusals() {
		r.Refused = append(r.Refused, Refusal{
			Cause: string(one.Cause), Peer: one.Peer, Count: one.Count, First: one.First, Last: one.Last, Advice: one.Cause.Advice(),
		})
	}
	return r, nil
}

func (s *Source) phones(paired int) Phones {
	p := Phones{
		Address: s.Client.String(), Accepted: []string{}, Paired: paired,
		Connected: s.Devices.LiveClients(), NoPhone: s.Devices.NoPhone(),
	}
	if public, fixed, ok := s.Devices.PublicURL(); ok {
		p.PublicURL, p.Fixed = public.String(), fixed
	}
	for _, h := range s.Devices.AcceptedHosts() {
		p.Accepted = append(p.Accepted, h.Server.Authority())
	}
	if open, ok := s.Devices.OpenInvitation(); ok {
		p.Invitation, p.InvitationTo = true, open.Server.String()
	}
	return p
}

func failures(f ask.Failure) Failures {
	if f.Count == 0 {
		return Failures{}
	}
	at := f.At.UTC()
	return Failures{f.Count, &at, f.Cause}
}

func latency(l ask.Latency) Latency {
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Latency{Count: l.Count, P50: milliseconds(l.P50), P99: milliseconds(l.P99)}
}
