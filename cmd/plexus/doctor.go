package main

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/doctor"
	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/domain/usecases/ask"
)

const doctorNotes = `Walks the way of a phone to this host: files, database, clock and disk of this
machine, the public URL's name, its certificate, the upgrade to WebSocket, a hello
that has to be refused, and what Tailscale hands on. It changes nothing and says
what to do about each fault. A host need not run, but then less can be seen.`

// errFaults: the findings have been printed.
var errFaults = errors.New("something has to be mended; see above")

func diagnose(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("doctor [--ca-file FILE] [--json]", doctorNotes)
	dataDir := fs.DataDir(env)
	configPath := fs.ConfigFile()
	caFile := fs.String("ca-file", "", "PEM `file` of the certificate authorities to trust, instead of the system's")
	asJSON := fs.Bool("json", false, "print JSON")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	subject, err := subject(ctx, env, dir, *configPath)
	if err != nil {
		return err
	}
	if *caFile != "" {
		if subject.Roots, err = readRoots(*caFile); err != nil {
			return err
		}
	}
	findings := subject.Examine(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	return tellFindings(env, findings, *asJSON)
}

// subject gathers what is known of the host: from itself where it runs, else from
// the configuration.
func subject(ctx context.Context, env cli.Env, dir, configPath string) (doctor.Subject, error) {
	cfg, err := config.Read(env, dir, configPath, nil)
	if err != nil {
		return doctor.Subject{}, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	database := in(hostfiles.DatabaseName)
	s := doctor.Subject{
		Directory: dir, Database: database, Now: time.Now,
		Private: []string{
			database, database + "-wal", database + "-shm", in(hostfiles.MasterTokenName), in(hostfiles.RevokedName),
			in(hostfiles.RunName), cfg.Listen.NerveTokenFile,
		},
		Client: cfg.Listen.Client, Local: []string{cfg.Listen.Admin.String(), cfg.Listen.Nerve.String()},
	}
	if env.UnixSockets {
		s.Sockets = []string{in(hostfiles.AdminSocketName), cfg.Listen.NerveSocket}
	}
	public := cfg.PublicURL
	if s.Running, _, err = hostfiles.HostRuns(dir); err == nil && s.Running {
		public = askForSubject(ctx, env, dir, &s, public)
	}
	if public != "" {
		if s.Server, err = pairing.ParseServer(public); err != nil {
			return s, err
		}
	}
	if !s.Running {
		s.Speech = speechOf(ctx, env, cfg)
	}
	if tool, err := tailscale.Find(env.Environ); err == nil {
		s.Tailscale = tool
	}
	return s, nil
}

// askForSubject takes the addresses that are really open. A host that does not
// answer is found out by the steps.
func askForSubject(ctx context.Context, env cli.Env, dir string, s *doctor.Subject, public string) string {
	if run, err := hostfiles.ReadRun(dir); err == nil {
		if addr, err := netip.ParseAddrPort(run.Client); err == nil {
			s.Client = addr
		}
		s.Local = []string{run.Admin, run.Nerve}
		if run.NerveSocket != "" {
			s.Sockets = []string{run.AdminSocket, run.NerveSocket}
		}
	}
	status, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) (adminapi.Status, error) { return c.Status(ctx) })
	if err != nil {
		return public
	}
	s.Speech = speech(status.Model, status.Recognizer)
	return status.Phones.PublicURL
}

// speechOf looks at model and recogniser as a host with this configuration
// would. A configuration with faults gives nil.
func speechOf(ctx context.Context, env cli.Env, cfg config.Config) *doctor.Speech {
	if _, problems := config.ReadSecrets(env, &cfg); len(problems) > 0 {
		return nil
	}
	services, err := buildServices(cfg, slog.New(slog.DiscardHandler))
	defer func() { _ = services.close.close() }() // they only drop idle connections
	if err != nil {
		return nil
	}
	i := &instance{env: env, opts: serveOptions{cfg: cfg}, services: services}
	return speech(i.modelStatus(ctx, ask.Failure{}), i.recognizerStatus(ctx))
}

func speech(m adminapi.Model, r adminapi.Recognizer) *doctor.Speech {
	s := &doctor.Speech{Model: hasModel(m), Problem: r.Problem}
	if r.Reach != adminapi.Off {
		s.Recognizer = r.Name
	}
	return s
}

func tellFindings(env cli.Env, findings []doctor.Finding, asJSON bool) error {
	faulty := false
	for _, f := range findings {
		faulty = faulty || f.Level == doctor.Fault
	}
	if asJSON {
		if err := env.PrintJSON(findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			env.Printf("%-8s %-16s %s\n", f.Level, f.Check, text.Printable(f.Detail))
			if f.Advice != "" {
				env.Printf("%s%s\n", strings.Repeat(" ", 26), text.Printable(f.Advice))
			}
		}
	}
	if faulty {
		return errFaults
	}
	return nil
}
