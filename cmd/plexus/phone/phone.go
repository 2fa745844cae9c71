// Package phone is a phone in the terminal: it pairs with a host and talks to it as the
// apps do.
package phone

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/cli"
)

// phoneName is what the host lists this phone as.
const phoneName = "Plexus phone"

// Options say how the phone comes to the host and how it prints.
type Options struct {
	PayloadFile string // file with the invitation; "-": the first line of the input
	Dial        string // address on this machine to connect to, without TLS; "": the invitation's
	CAFile      string // PEM file of the authorities to trust; "": the system's
	JSON        bool   // print an object a line
}

// Run pairs, connects and talks until the person quits, the connection is over for good
// or ctx ends.
func Run(ctx context.Context, env cli.Env, f Options) error {
	o := novaclient.Options{Profile: novaclient.Flutter}
	var err error
	if f.Dial != "" {
		if o.Dial, err = novaclient.ParseDial(f.Dial); err != nil {
			return cli.Usagef("--dial %q: %s", f.Dial, err)
		}
	}
	if o.Roots, err = cli.ReadRoots(f.CAFile); err != nil {
		return err
	}
	path, err := credentialsPath(env.Getenv)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(env.Stdin)
	kept, isNew, err := loadOrPair(ctx, env, o, f.PayloadFile, path, lines)
	if err != nil {
		return err
	}
	o.Server, o.Token = kept.server, kept.token
	p := newSession(env.Stdout, o, f)
	if isNew {
		p.view.paired(kept.server.Authority(), kept.deviceID.String())
	}
	err = p.run(ctx, lines)
	var end *novaclient.End
	switch {
	case !errors.As(err, &end):
		return err
	case end.Code == novaclient.CodeRejected:
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("the host no longer knows this phone, and its pairing cannot be erased: %w", err)
		}
		return errors.New("the host no longer knows this phone. Its pairing has been erased from here; pair again with a new invitation")
	case end.Code == novaclient.CodeBusy:
		return fmt.Errorf("another phone is connected to the host, and it takes one at a time: %w", err)
	case end.Code == novaclient.CodeIncompatible, errors.Is(err, novaclient.ErrMismatch):
		return fmt.Errorf("the host and this phone do not understand each other; one of them may need an update: %w", err)
	}
	return fmt.Errorf("giving up after several tries: %w", err)
}
