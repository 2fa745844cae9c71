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
	dataDir := fs.DataDir(env)
	asJSON := fs.Bool("json", false, "print JSON")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	dir, err := dataDir()
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
