package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"plexus/cmd/plexus/app"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
)

const serveNotes = `Runs the host until it is interrupted. It works with nothing configured; every
flag is also an environment variable PLEXUS_<NAME>, and most are keys of the
configuration file. The order is flag, environment, file, what was set on the
page or by plexus pair, default.`

func serve(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("serve [flags]", serveNotes)
	configPath := fs.ConfigFile()
	readyFile := fs.String("ready-file", env.Getenv("PLEXUS_READY_FILE"), "`file` that is written once everything accepts connections (PLEXUS_READY_FILE)")
	opens, err := strconv.ParseBool(env.Getenv("PLEXUS_OPEN_BROWSER"))
	if err != nil {
		opens = cli.IsTerminal(env.Stdout)
	}
	browser := fs.Bool("open-browser", opens, "open the owner's page once the host is ready; default on in a terminal (PLEXUS_OPEN_BROWSER)")
	given := config.AddFlags(fs)
	dir, err := fs.ParseNoneInDir(env, args)
	if err != nil {
		return err
	}
	src, err := config.Find(env, dir, *configPath, given)
	if err != nil {
		return err
	}
	cfg, warnings, err := config.Load(env, src)
	if err != nil {
		// The faults of search and model settings belong to the same list.
		_, more := services.Build(cfg, slog.New(slog.DiscardHandler))
		return config.Unusable(errors.Join(err, more))
	}
	return app.Run(ctx, env, app.Options{DataDir: dir, ReadyFile: *readyFile, OpenBrowser: *browser, Config: cfg, Warnings: warnings})
}
