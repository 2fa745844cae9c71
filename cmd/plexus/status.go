package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/domain/text"
)

const statusNotes = `Shows what the running host has configured, what of it can be reached, who is
connected or waiting, and who was refused and why.`

func status(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("status [--json]", statusNotes)
	dataDir := fs.DataDir(env)
	asJSON := fs.Bool("json", false, "print JSON")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	s, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) (adminapi.Status, error) { return c.Status(ctx) })
	if err != nil {
		return err
	}
	if *asJSON {
		return env.PrintJSON(s)
	}
	env.Printf("%s", statusText(s, time.Now()))
	return nil
}

// page is a text of labelled lines.
type page struct{ strings.Builder }

func (b *page) line(label, format string, args ...any) {
	fmt.Fprintf(b, "%-12s%s\n", label, text.Printable(fmt.Sprintf(format, args...)))
}

// largeWAL is well above the size at which the log is folded back, in bytes.
const largeWAL = 64 << 20

func statusText(s adminapi.Status, now time.Time) string {
	var b page
	b.line("Plexus", "%s, process %d, up %s", s.Version, s.PID, (time.Duration(s.UptimeSeconds) * time.Second).String())
	b.line("Page", "%s (plexus open signs in)", s.Admin)
	b.line("NERVE", "ws://%s", s.Nerve.Address)
	if s.Nerve.Socket != "" {
		b.line("", "%s", s.Nerve.Socket)
	}
	b.line("Token", "%s", s.Nerve.Token)
	b.phones(s.Phones)
	b.line("Data", "%s, database %s", s.DataDir, cli.Size(s.DatabaseBytes))
	if s.WALBytes > largeWAL {
		b.line("", "%s of it are its write-ahead log, which does not shrink: something keeps reading %s. Ending that, or restarting Plexus, helps",
			cli.Size(s.WALBytes), hostfiles.DatabaseName)
	}
	b.line("Search", "%s", searchText(s.Search, s.Index))
	b.failure(s.Search.Failures, s.Search.LastFailure, s.Search.LastCause, now)
	b.line("Model", "%s", modelText(s.Model))
	b.failure(s.Model.Failures, s.Model.LastFailure, s.Model.LastCause, now)
	b.found(s.Model)
	b.line("Speech", "%s", recognizerText(s.Recognizer))
	b.offered(s.Recognizer)
	b.line("Index", "%s", indexText(s.Index))
	b.failure(s.Index.Failures, s.Index.LastFailure, s.Index.LastCause, now)
	b.line("Messages", "%s", keptText(s.Kept))
	b.line("Connections", "%d", s.Connections)
	b.queries(s.Queries)
	b.waiting(s.Waiting)
	b.refused(s.Refused, now)
	return b.String()
}

func (b *page) phones(s adminapi.PhoneStatus) {
	b.line("Phones", "ws://%s; %d paired, %d connected", s.Address, s.Paired, s.Connected)
	switch {
	case s.PublicURL != "":
		b.line("", "reached as %s", s.PublicURL)
	default:
		b.line("", "no public URL is set: plexus pair --public-url wss://NAME sets it; plexus setup tailscale helps to get one")
	}
	if s.Invitation {
		b.line("", "an invitation is open")
	}
	if s.NoPhone {
		b.line("", "the owner wants no phone for now: every one is turned away")
	}
}

func searchText(s adminapi.Service, index adminapi.Index) string {
	switch {
	case s.Reach == adminapi.Off:
		return "off (search.kind is none)"
	case s.Reach == adminapi.BuiltIn && index.Enabled:
		return "the pages you asked about (no search service is configured)"
	}
	return serviceText(s)
}

func serviceText(s adminapi.Service) string {
	out := s.Kind
	if s.URL != "" {
		out += " at " + s.URL
	}
	if s.Reach == adminapi.Unreachable {
		return out + ": cannot be reached: " + s.Problem
	}
	return out + ": can be reached"
}

func modelText(m adminapi.Model) string {
	switch m.Reach {
	case adminapi.Off:
		return "off (model.kind is none): answers stay empty"
	case adminapi.BuiltIn:
		return "none: answers quote the page and the results"
	case adminapi.NotFound:
		return "none found on this machine: answers quote the page and the results"
	}
	return m.Name + ", " + serviceText(m.Service)
}

func indexText(i adminapi.Index) string {
	state := "off"
	switch {
	case i.Enabled && i.Shared:
		state = "on, shared between extensions"
	case i.Enabled:
		state = "on"
	}
	return fmt.Sprintf("%s; %s, %s of text", state, cli.Counted(i.Pages, "page", "pages"), cli.Size(i.Bytes))
}

func (b *page) failure(count int64, last *time.Time, cause string, now time.Time) {
	if last != nil {
		b.line("", "failed %s, last %s: %s", cli.Counted(int(count), "time", "times"), cli.Ago(*last, now), cause)
	}
}

// found offers the models of this machine that are not in use.
func (b *page) found(m adminapi.Model) {
	for _, f := range m.Found {
		if f.Used {
			continue
		}
		b.line("", "%s offers %s at %s. To use it, put into the configuration:", f.Server, f.Name, f.BaseURL)
		for line := range strings.Lines(f.Config) {
			b.line("", "    %s", strings.TrimSuffix(line, "\n"))
		}
	}
}

func (b *page) queries(q adminapi.Queries) {
	b.line("Questions", "%d answered, %d cancelled, %d refused", q.Answered, q.Cancelled, q.Refused)
	for _, one := range []struct {
		what string
		adminapi.Latency
	}{{"results", q.FirstResult}, {"whole answer", q.Answer}} {
		if one.Count > 0 {
			b.line("", "%s: half within %.1f ms, 99 of 100 within %.1f ms", one.what, one.P50, one.P99)
		}
	}
}

func (b *page) waiting(rows []adminapi.Extension) {
	for _, row := range rows {
		b.line("Waiting", "%s. If the digits are those in its panel: plexus extensions allow %s", describe(row), row.Digits)
	}
}

// shownRefusals keeps the human text short; --json has all.
const shownRefusals = 10

func (b *page) refused(list []adminapi.Refusal, now time.Time) {
	for _, r := range list[:min(len(list), shownRefusals)] {
		who := r.Peer
		if who == "" {
			who = "a program without Origin"
		}
		b.line("Refused", "%s, %s, last %s. %s", who, cli.Counted(r.Count, "time", "times"), cli.Ago(r.Last, now), r.Advice)
	}
	if more := len(list) - shownRefusals; more > 0 {
		b.line("", "and %d more; plexus status --json has all", more)
	}
}

func keptText(k adminapi.Kept) string {
	said := fmt.Sprintf("%d in %s (%s); %s of text", k.Messages, cli.Counted(k.Conversations, "conversation", "conversations"), cli.Counted(k.Topics, "topic", "topics"), cli.Size(k.Bytes))
	if !k.Browser {
		said += "; what is asked in the browser is not kept"
	}
	return said
}
