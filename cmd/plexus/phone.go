package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/cli"
)

const phoneNotes = `A phone in the terminal: it pairs with a host, on this machine or another, and
talks to it as the apps do. What is typed is sent to the conversation that the
host has selected. /list shows the conversations, /help what else there is, and
/quit ends.

The first time it needs an invitation: the text of a code, as the page gives it to
copy and plexus pair --json as payload, in a file or, for -, in the first line of
the input. What it gets for it is kept in $XDG_STATE_HOME/plexus/phone.json,
readable by this account alone.`

// phoneName is what the host lists this phone as.
const phoneName = "Plexus phone"

// phoneFlags is the command line of phone.
type phoneFlags struct {
	payloadFile, dial, caFile string
	json                      bool
}

func phone(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("phone [flags]", phoneNotes)
	var f phoneFlags
	fs.StringVar(&f.payloadFile, "payload-file", "", "`file` with the invitation; - is the first line of the input")
	fs.StringVar(&f.dial, "dial", "", "`address` on this machine to connect to, without TLS, instead of the invitation's, for instance 127.0.0.1:18787")
	fs.StringVar(&f.caFile, "ca-file", "", "PEM `file` of the certificate authorities to trust, instead of the system's")
	fs.BoolVar(&f.json, "json", false, "print what happens as JSON, an object a line")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	return runPhone(ctx, env, f)
}

// runPhone is the command without its command line.
func runPhone(ctx context.Context, env cli.Env, f phoneFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	path, err := phoneStatePath(env.Getenv)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(env.Stdin)
	state, isNew, err := phonePairing(ctx, env, o, f.payloadFile, path, lines)
	if err != nil {
		return err
	}
	o.Server, o.Token = state.server, state.token
	h := newHandset(env.Stdout, o, f)
	if isNew {
		h.view.paired(state.server.Authority(), state.deviceID.String())
	}
	err = h.run(ctx, lines)
	var end *novaclient.End
	if errors.As(err, &end) && end.Code == novaclient.CodeRejected {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("the host no longer knows this phone, and its pairing cannot be erased: %w", err)
		}
		return errors.New("the host no longer knows this phone. Its pairing has been erased from here; pair again with a new invitation")
	}
	return phoneError(err)
}

// phoneError says what a person can do about the end of a connection.
func phoneError(err error) error {
	var end *novaclient.End
	switch {
	case !errors.As(err, &end):
		return err
	case end.Code == novaclient.CodeBusy:
		return fmt.Errorf("another phone is connected to the host, and it takes one at a time: %w", err)
	case end.Code == novaclient.CodeIncompatible, errors.Is(err, novaclient.ErrMismatch):
		return fmt.Errorf("the host and this phone do not understand each other; one of them may need an update: %w", err)
	}
	return fmt.Errorf("giving up after several tries: %w", err)
}

// options gives what the flags decide.
func (f phoneFlags) options() (o novaclient.Options, err error) {
	o.Profile = novaclient.Flutter
	if f.dial != "" {
		if o.Dial, err = novaclient.ParseDial(f.dial); err != nil {
			return o, cli.Usagef("--dial %q: %s", f.dial, err)
		}
	}
	if f.caFile != "" {
		o.Roots, err = cli.ReadRoots(f.caFile)
	}
	return o, err
}
