package manage

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

// Token is the command plexus token.
func Token(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(tokenUsage, tokenNotes)
	configPath := fs.ConfigFile()
	file := fs.String("nerve-token-file", "", "with path: `path` of the host token (PLEXUS_NERVE_TOKEN_FILE)")
	words, dir, err := fs.ParseInDir(env, args)
	if err != nil {
		return err
	}
	switch strings.Join(words, " ") {
	case "path":
		flags := make(map[string][]string)
		if *file != "" {
			flags["nerve-token-file"] = []string{*file}
		}
		cfg, err := config.Read(env, dir, *configPath, flags) // as serve does; no host is needed
		if err != nil {
			return err
		}
		env.Printf("%s\n", cfg.Listen.NerveTokenFile)
		return nil
	case "rotate":
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
	return cli.Usagef("usage: plexus %s", tokenUsage)
}
