package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/status"
	"plexus/domain/pairing"
)

// Subject is the host that is looked at, and what it is looked at with.
type Subject struct {
	Running    bool               // a host has the data directory
	Directory  string             // the data directory
	Database   string             // path
	Private    []string           // files that nobody else may read; they need not exist
	TokenFile  string             // of the host token
	Sockets    []string           // that a running host has open
	Client     netip.AddrPort     // the client listener, or where it would be
	Local      []string           // addresses that only this machine may reach
	Server     pairing.Server     // the public URL; zero: none is known
	Tailscale  *tailscale.Tool    // nil: it is not installed
	Model      *status.Model      // nil: not known
	Recognizer *status.Recognizer // and what phones are offered with it; nil: not known

	Roots  *x509.CertPool // authorities that are trusted; nil: those of this system
	Now    func() time.Time
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)                  // nil: the system's
	Dial   func(ctx context.Context, network, address string) (conn net.Conn, err error) // nil: TCP
}

// stepLimit bounds one step over the network.
const stepLimit = 10 * time.Second

// Examine takes every step that can be taken and gives the findings in the order
// of the steps: this machine first, then the way from the phone to it. An end of
// ctx cuts it short.
func (s Subject) Examine(ctx context.Context) []Finding {
	if s.Lookup == nil {
		s.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if s.Dial == nil {
		s.Dial = (&net.Dialer{}).DialContext
	}
	var found []Finding
	for _, step := range []func(context.Context) []Finding{
		s.host, s.files, s.token, s.disk, s.database, s.clock, s.code, s.listener, s.phonePath, s.tailnet, s.model, s.dictation,
	} {
		if ctx.Err() != nil {
			break
		}
		stepCtx, stop := context.WithTimeout(ctx, 3*stepLimit)
		found = append(found, step(stepCtx)...)
		stop()
	}
	return found
}

func (s Subject) host(context.Context) []Finding {
	if s.Running {
		return []Finding{ok("host", "A host runs on "+s.Directory+".")}
	}
	return []Finding{fault("host", "No host runs on "+s.Directory+".", "Start one: plexus serve")}
}

// tailnet judges Tailscale where it is installed.
func (s Subject) tailnet(ctx context.Context) []Finding {
	if s.Tailscale == nil {
		return []Finding{skipped(tailnetCheck, "Tailscale is not installed here.")}
	}
	name, err := s.Tailscale.Name(ctx)
	if errors.Is(err, tailscale.ErrNotConnected) {
		return []Finding{warning(tailnetCheck, "Tailscale is installed and not connected to a tailnet with names.", "Run tailscale up, and switch MagicDNS on in the tailnet's settings.")}
	}
	var forwards []tailscale.Forward
	if err == nil {
		forwards, err = s.Tailscale.Forwards(ctx)
	}
	if err != nil {
		return []Finding{skipped(tailnetCheck, "Tailscale could not be asked: "+err.Error())}
	}
	found := Tailnet(forwards, name, s.Server, s.Client, s.Local)
	if len(found) == 0 {
		found = append(found, ok(tailnetCheck, "This machine is "+name+"; the public URL is another name."))
	}
	return found
}

// model says whether questions are answered by a model, and why not.
func (s Subject) model(context.Context) []Finding {
	const check = "model"
	m := s.Model
	switch {
	case m == nil:
		return []Finding{skipped(check, "The model is not known: the host did not tell, or the configuration has faults, which plexus serve lists.")}
	case m.Reach == status.NotFound && len(m.PassedOver) > 0:
		p := m.PassedOver[0]
		return []Finding{warning(check, fmt.Sprintf("No model on this machine chats, so answers quote the page and the results. %s (%s) says: %s.", p.Name, p.Server, p.Cause),
			"Get a model that chats, such as llama3.2. It is found within a minute.")}
	case m.Reach == status.NotFound:
		return []Finding{skipped(check, "No model runs on this machine, so answers quote the page and the results.")}
	case m.Reach == status.Off, m.Reach == status.BuiltIn:
		return []Finding{skipped(check, "None is configured: model.kind is "+m.Kind+".")}
	case m.Problem != "":
		return []Finding{warning(check, m.Name+" at "+m.URL+": "+m.Problem+".", "Start it, or see what is set under [model] in the configuration.")}
	}
	return []Finding{ok(check, m.Name+" at "+m.URL+" answers.")}
}

// dictation says what phones are offered, and why it is not more.
func (s Subject) dictation(context.Context) []Finding {
	const check = "dictation"
	r := s.Recognizer
	switch {
	case r == nil:
		return []Finding{skipped(check, "Model and recogniser are not known: the host did not tell, or the configuration has faults, which plexus serve lists.")}
	case !r.TextInput:
		return []Finding{skipped(check, "There is no model, so phones are offered neither text nor dictation.")}
	case r.Reach == status.Off:
		return []Finding{warning(check, "Nothing turns speech into text. "+status.TextNeedsDictation+".",
			`Set recognizer.kind in the configuration to "command" or "openai", and name the program or the service there.`)}
	case r.Problem != "":
		return []Finding{warning(check, "What was said cannot be turned into text: "+r.Name+": "+r.Problem+".",
			"Start or install it, or name another under [recognizer] in the configuration.")}
	}
	return []Finding{ok(check, "Phones are offered text and dictation, by "+r.Name+".")}
}
