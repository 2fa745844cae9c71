package main

import (
	"context"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/text"
)

const tokenUsage = "token path | rotate"

const tokenNotes = `A program without a browser comes in with the host token; path prints where its
file lies. rotate makes a new one and ends every connection that came with the
old one. The token itself is never printed.`

func token(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(tokenUsage, tokenNotes)
	dataDir := fs.DataDir(env)
	configPath := fs.ConfigFile()
	file := fs.String("nerve-token-file", "", "with path: `path` of the host token (PLEXUS_NERVE_TOKEN_FILE)")
	words, err := fs.Parse(env, args)
	if err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	switch strings.Join(words, " ") {
	case "path":
		return tokenPath(env, dir, *configPath, *file)
	case "rotate":
		return rotateToken(ctx, env, dir)
	}
	return cli.Usagef("usage: plexus %s", tokenUsage)
}

// tokenFile needs no host: it reads the settings as serve does.
func tokenFile(env cli.Env, dir, configPath, given string) (string, error) {
	flags := make(map[string][]string)
	if given != "" {
		flags["nerve-token-file"] = []string{given}
	}
	cfg, err := config.Read(env, dir, configPath, flags)
	return cfg.Listen.NerveTokenFile, err
}

func tokenPath(env cli.Env, dir, configPath, given string) error {
	path, err := tokenFile(env, dir, configPath, given)
	if err == nil {
		env.Printf("%s\n", path)
	}
	return err
}

func rotateToken(ctx context.Context, env cli.Env, dir string) error {
	done, err := hostclient.Call(ctx, dir, (*adminapi.Client).RotateToken)
	if err != nil {
		return err
	}
	env.Printf("A new host token is in %s. Programs that used the old one need it.\n", text.Printable(done.TokenFile))
	for _, row := range done.Extensions {
		env.Printf("%s came with the old token: put the new one into its settings.\n", row)
	}
	return nil
}
