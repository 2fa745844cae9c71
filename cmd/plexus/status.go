package main

import (
	"context"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/cmd/plexus/status"
)

const statusNotes = `Shows what the running host has configured, what of it can be reached, who is
connected or waiting, and who was refused and why.`

func runStatus(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("status [--json]", statusNotes)
	asJSON := fs.Bool("json", false, "print JSON")
	dir, err := fs.ParseNoneInDir(env, args)
	if err != nil {
		return err
	}
	report, err := hostclient.Call(ctx, dir, adminapi.Status[status.Report])
	if err != nil {
		return err
	}
	if *asJSON {
		return env.PrintJSON(report)
	}
	env.Printf("%s", status.Text(report, env.Now()))
	return nil
}
