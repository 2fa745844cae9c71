package main

import (
	"context"

	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/phone"
)

const phoneNotes = `A phone in the terminal: it pairs with a host, on this machine or another, and
talks to it as the apps do. What is typed is sent to the conversation that the
host has selected. /list shows the conversations, /help what else there is, and
/quit ends.

The first time it needs an invitation: the text of a code, as the page gives it to
copy and plexus pair --json as payload, in a file or, for -, in the first line of
the input. What it gets for it is kept in $XDG_STATE_HOME/plexus/phone.json,
readable by this account alone.`

func runPhone(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("phone [flags]", phoneNotes)
	var o phone.Options
	fs.StringVar(&o.PayloadFile, "payload-file", "", "`file` with the invitation; - is the first line of the input")
	fs.StringVar(&o.Dial, "dial", "", "`address` on this machine to connect to, without TLS, instead of the invitation's, for instance 127.0.0.1:18787")
	fs.StringVar(&o.CAFile, "ca-file", "", "PEM `file` of the certificate authorities to trust, instead of the system's")
	fs.BoolVar(&o.JSON, "json", false, "print what happens as JSON, an object a line")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	return phone.Run(ctx, env, o)
}
