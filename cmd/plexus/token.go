package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/domain/text"
)

const tokenUsage = "token path | rotate"

const tokenNotes = `A program without a browser comes in with the host token; path prints where its
file lies. rotate makes a new one and ends every connection that came with the
old one. The token itself is never printed.`

func token(ctx context.Context, p *program, args []string) error {
	fs := p.flags(tokenUsage, tokenNotes)
	dataDir := p.addDataDir(fs)
	configPath := fs.String("config", "", "configuration `file` (PLEXUS_CONFIG)")
	file := fs.String("nerve-token-file", "", "with path: `path` of the host token (PLEXUS_NERVE_TOKEN_FILE)")
	words, err := p.parse(fs, args)
	if err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	switch strings.Join(words, " ") {
	case "path":
		return p.tokenPath(dir, *configPath, *file)
	case "rotate":
		return p.rotateToken(ctx, dir)
	}
	return usagef("usage: plexus %s", tokenUsage)
}

// tokenFile needs no host: it reads the settings as serve does.
func (p *program) tokenFile(dir, configPath, given string) (string, error) {
	file, named, err := p.configFile(configPath)
	if err != nil {
		return "", fmt.Errorf("finding the configuration: %w", err)
	}
	flags := make(map[string][]string)
	if given != "" {
		flags["nerve-token-file"] = []string{given}
	}
	cfg, problems := p.readSettings(sources{file: file, named: named, flags: flags, dataDir: dir})
	if err := errors.Join(problems...); err != nil {
		return "", configError(err)
	}
	return cfg.nerveTokenFile, nil
}

func (p *program) tokenPath(dir, configPath, given string) error {
	path, err := p.tokenFile(dir, configPath, given)
	if err == nil {
		p.outf("%s\n", path)
	}
	return err
}

func (p *program) rotateToken(ctx context.Context, dir string) error {
	done, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) (adminapi.Rotated, error) { return c.RotateToken(ctx) })
	if err != nil {
		return err
	}
	p.outf("A new host token is in %s. Programs that used the old one need it.\n", text.Printable(done.TokenFile))
	for _, row := range done.Extensions {
		p.outf("%s came with the old token: put the new one into its settings.\n", describe(row))
	}
	return nil
}
