package main

import (
	"context"
	"errors"
	"time"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
)

const openNotes = `Opens the owner's page in the browser and signs it in. --print-code prints a code
instead, to type into the page within a minute, for a browser elsewhere on this
machine's own screen or behind an SSH tunnel.`

func open(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("open [--print-code]", openNotes)
	printCode := fs.Bool("print-code", false, "print a code to type into the page")
	dir, err := fs.ParseNoneInDir(env, args)
	if err != nil {
		return err
	}
	if *printCode {
		_, err := printSignInCode(ctx, env, dir)
		return err
	}
	if cli.BrowserIsConfined(ctx, env) {
		page, err := printSignInCode(ctx, env, dir)
		if err != nil {
			return err
		}
		if err := cli.OpenBrowser(ctx, env, page); err != nil && !errors.Is(err, cli.ErrNoBrowser) {
			return err
		}
		return nil // the code has been printed
	}
	link, err := hostclient.Call(ctx, dir, (*adminapi.Client).SignInLink)
	if err != nil {
		return err
	}
	if err := cli.OpenBrowser(ctx, env, link.File); errors.Is(err, cli.ErrNoBrowser) {
		env.Printf("No browser could be opened from here.\n")
		_, err := printSignInCode(ctx, env, dir)
		return err
	}
	env.Printf("%s opens in your browser. If it does not ask you in: plexus open --print-code\n", link.Page)
	return nil
}

// printSignInCode gives the address of the page.
func printSignInCode(ctx context.Context, env cli.Env, dir string) (page string, err error) {
	code, err := hostclient.Call(ctx, dir, (*adminapi.Client).SignInCode)
	if err != nil {
		return "", err
	}
	half := len(code.Code) / 2
	env.Printf("Open %s and type this code; it works once, for %s:\n\n    %s-%s\n\n",
		code.Page, time.Until(code.ExpiresAt).Round(time.Second), code.Code[:half], code.Code[half:])
	return code.Page, nil
}
