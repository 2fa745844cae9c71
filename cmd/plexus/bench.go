package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"plexus/cmd/plexus/bench"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
)

const benchUsage = "bench [--quick] [--soak DURATION] [--json] | --live"

const benchNotes = `Measures a host of its own, with scripted services and in a temporary folder,
and bare sockets beside it in the same run; a running host is not touched.
--live measures only the Ping of the running host, and changes nothing there.`

// benchChild is the hidden word with which bench starts its own children.
const benchChild = "bench-child"

func benchmark(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(benchUsage, benchNotes)
	dataDir := fs.DataDir(env)
	quick := fs.Bool("quick", false, "take a tenth of the samples")
	soak := fs.Duration("soak", 0, "then ask, cancel and reconnect 200 times a second for this `duration`")
	live := fs.Bool("live", false, "measure the Ping of the running host")
	asJSON := fs.Bool("json", false, "print JSON")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	if *live {
		dir, err := dataDir()
		if err != nil {
			return err
		}
		client, err := hostclient.DialNERVE(ctx, env, dir)
		if err != nil {
			return err
		}
		err = bench.Live(ctx, func() error { return client.Ping(ctx, nil) }, env.Stdout, *asJSON)
		return errors.Join(err, client.Close())
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	options := bench.Options{
		Divide: 1, Soak: *soak, JSON: *asJSON,
		Child: func(kind string) []string { return []string{self, benchChild, kind} },
	}
	if *quick {
		options.Divide = 10
	}
	progress := io.Discard // a line that is written over is for terminals
	if cli.IsTerminal(env.Stderr) {
		progress = env.Stderr
	}
	return bench.Run(ctx, options, env.Stdout, progress)
}

func runBenchChild(ctx context.Context, env cli.Env, args []string) error {
	if len(args) != 1 || args[0] != bench.KindHost && args[0] != bench.KindFloor {
		return cli.Usagef("%s is started by plexus bench alone.", benchChild)
	}
	return bench.RunChild(ctx, args[0], env.Stdin, env.Stdout)
}
