package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/domain/text"
)

// textWriter writes labeled lines.
type textWriter struct{ strings.Builder }

func (b *textWriter) line(label, format string, args ...any) {
	fmt.Fprintf(b, "%-12s%s\n", label, text.Printable(fmt.Sprintf(format, args...)))
}

// largeWAL is well above the size at which SQLite writes the log back into the database, in bytes.
const largeWAL = 64 << 20

// shownRefusals keeps the human text short; --json has all.
const shownRefusals = 10

// Text renders a report for a terminal.
func Text(s Report, now time.Time) string {
	var b textWriter
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
	switch {
	case s.Search.Reach == Off:
		b.line("Search", "off (search.kind is none)")
	case s.Search.Reach == BuiltIn && s.Index.Enabled:
		b.line("Search", "the pages you asked about (no search service is configured)")
	default:
		b.line("Search", "%s", serviceText(s.Search))
	}
	b.failures(s.Search.Failures, now)
	b.line("Model", "%s", modelText(s.Model))
	b.failures(s.Model.Failures, now)
	for _, f := range s.Model.Found {
		if !f.Used {
			b.line("", "%s offers %s at %s. To use it, put into the configuration:", f.Server, f.Name, f.BaseURL)
			b.quote(f.Config)
		}
	}
	for _, p := range s.Model.PassedOver[:min(len(s.Model.PassedOver), shownPassedOver)] {
		b.line("", "%s (%s) is passed over, since it does not chat: %s", p.Name, p.Server, p.Cause)
	}
	if more := len(s.Model.PassedOver) - shownPassedOver; more > 0 {
		b.line("", "and %d more; plexus status --json has all", more)
	}
	b.speech(s.Recognizer)
	index := "off"
	switch {
	case s.Index.Enabled && s.Index.Shared:
		index = "on, shared between extensions"
	case s.Index.Enabled:
		index = "on"
	}
	b.line("Index", "%s; %s, %s of text", index, cli.Counted(s.Index.Pages, "page", "pages"), cli.Size(s.Index.Bytes))
	b.failures(s.Index.Failures, now)
	kept := fmt.Sprintf("%d in %s (%s); %s of text", s.Kept.Messages, cli.Counted(s.Kept.Conversations, "conversation", "conversations"),
		cli.Counted(s.Kept.Topics, "topic", "topics"), cli.Size(s.Kept.Bytes))
	if !s.Kept.Browser {
		kept += "; what is asked in the browser is not kept"
	}
	b.line("Messages", "%s", kept)
	if full := s.DiskFull; full != nil {
		b.line("", "the disk is full: %s could not be stored, last %s. Make room on the disk of the data directory; then it works again by itself",
			cli.Counted(full.Unstored, "text or change", "texts or changes"), cli.Ago(full.Last, now))
	}
	b.line("Connections", "%d", s.Connections)
	b.line("Questions", "%d answered, %d cancelled, %d refused", s.Queries.Answered, s.Queries.Canceled, s.Queries.Refused)
	b.latency("results", s.Queries.FirstResult)
	b.latency("whole answer", s.Queries.Answer)
	for _, row := range s.Waiting {
		b.line("Waiting", "%s. If the digits are those in its panel: plexus extensions allow %s", row, row.Digits)
	}
	for _, one := range s.Refused[:min(len(s.Refused), shownRefusals)] {
		b.line("Refused", "%s, %s, last %s. %s", cmp.Or(one.Peer, "a program without Origin"),
			cli.Counted(one.Count, "time", "times"), cli.Ago(one.Last, now), one.Advice)
	}
	if more := len(s.Refused) - shownRefusals; more > 0 {
		b.line("", "and %d more; plexus status --json has all", more)
	}
	return b.String()
}

func (b *textWriter) phones(s Phones) {
	b.line("Phones", "ws://%s; %d paired, %d connected", s.Address, s.Paired, s.Connected)
	if s.PublicURL != "" {
		b.line("", "reached as %s", s.PublicURL)
	} else {
		b.line("", "no public URL is set yet: it is once a phone has paired by plexus pair --public-url wss://NAME; plexus setup tailscale helps to get one")
	}
	if s.Invitation {
		b.line("", "an invitation is open, to %s", s.InvitationTo)
	}
	if s.NoPhone {
		b.line("", "the owner wants no phone for now: every one is turned away")
	}
}

func serviceText(s Service) string {
	out := s.Kind
	if s.URL != "" {
		out += " at " + s.URL
	}
	switch {
	case s.Reach == Unreachable:
		return out + ": cannot be used: " + s.Problem
	case s.Problem != "":
		return out + ": can be reached; " + s.Problem
	}
	return out + ": can be reached"
}

func modelText(m Model) string {
	switch m.Reach {
	case Off:
		return "off (model.kind is none): answers stay empty"
	case BuiltIn:
		return "none: answers quote the page and the results"
	case NotFound:
		if len(m.PassedOver) > 0 {
			return "none on this machine chats: answers quote the page and the results"
		}
		return "none found on this machine: answers quote the page and the results"
	}
	return m.Name + ", " + serviceText(m.Service)
}

func (b *textWriter) failures(f Failures, now time.Time) {
	if f.Last != nil {
		b.line("", "failed %s, last %s: %s", cli.Counted(int(f.Count), "time", "times"), cli.Ago(*f.Last, now), f.Cause)
	}
}

// quote shows lines of the configuration.
func (b *textWriter) quote(config string) {
	for line := range strings.Lines(config) {
		b.line("", "    %s", strings.TrimSuffix(line, "\n"))
	}
}

func (b *textWriter) latency(what string, l Latency) {
	if l.Count > 0 {
		b.line("", "%s: half within %.1f ms, 99 of 100 within %.1f ms", what, l.P50, l.P99)
	}
}

// TextNeedsDictation is the hint for the owner of a host that takes text alone.
const TextNeedsDictation = "Phone apps show their text box only when dictation works"

// speech says what turns speech into text, what phones get, and how they get the rest.
func (b *textWriter) speech(r Recognizer) {
	switch {
	case r.Reach == Off:
		b.line("Speech", "off (recognizer.kind is none)")
	case r.Kind == "command" && r.Reach == Unreachable:
		b.line("Speech", "%s: cannot be used: %s", r.Name, r.Problem)
	case r.Kind == "command":
		b.line("Speech", "%s: can be used", r.Name)
	default:
		b.line("Speech", "%s, %s", r.Name, serviceText(r.Service))
	}
	switch {
	case r.Dictation:
		b.line("", "phones are offered text and dictation")
	case !r.TextInput:
		b.line("", "phones are offered neither text nor dictation, because there is no model")
	default:
		b.line("", "%s. To switch it on, put into the configuration:", TextNeedsDictation)
		b.quote(r.Config)
	}
}
