package main

import (
	"context"
	"errors"
	"strings"

	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/doctor"
	"plexus/domain/text"
)

const doctorNotes = `Walks the way of a phone to this host: files, database, clock and disk of this
machine, the public URL's name, its certificate, the upgrade to WebSocket, a hello
that has to be refused, and what Tailscale hands on. It changes nothing and says
what to do about each fault. A host need not run, but then less can be seen.`

// errFaults: the findings have been printed.
var errFaults = errors.New("something has to be mended; see above")

func diagnose(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("doctor [--ca-file FILE] [--json]", doctorNotes)
	configPath := fs.ConfigFile()
	caFile := fs.String("ca-file", "", "PEM `file` of the certificate authorities to trust, instead of the system's")
	asJSON := fs.Bool("json", false, "print JSON")
	dir, err := fs.ParseNoneInDir(env, args)
	if err != nil {
		return err
	}
	subject, err := doctor.NewSubject(ctx, env, dir, *configPath)
	if err != nil {
		return err
	}
	if subject.Roots, err = cli.ReadRoots(*caFile); err != nil {
		return err
	}
	findings := subject.Examine(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	faulty := false
	for _, f := range findings {
		faulty = faulty || f.Level == doctor.Fault
		if *asJSON {
			continue
		}
		env.Printf("%-8s %-16s %s\n", f.Level, f.Check, text.Printable(f.Detail))
		if f.Advice != "" {
			env.Printf("%s%s\n", strings.Repeat(" ", 26), text.Printable(f.Advice))
		}
	}
	if *asJSON {
		if err := env.PrintJSON(findings); err != nil {
			return err
		}
	}
	if faulty {
		return errFaults
	}
	return nil
}
