package main

import (
	"context"
	"errors"
	"time"

	"plexus/adapters/adminapi"
)

const openNotes = `Opens the owner's page in the browser and signs it in. --print-code prints a code
instead, to type into the page within a minute, for a browser elsewhere on this
machine's own screen or behind an SSH tunnel.`

func open(ctx context.Context, p *program, args []string) error {
	fs := p.flags("open [--print-code]", openNotes)
	dataDir := p.addDataDir(fs)
	printCode := fs.Bool("print-code", false, "print a code to type into the page")
	if err := p.parseNone(fs, args); err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	if *printCode {
		_, err := p.printSignInCode(ctx, dir)
		return err
	}
	if p.browserIsConfined(ctx) {
		page, err := p.printSignInCode(ctx, dir)
		if err != nil {
			return err
		}
		if err := p.openBrowser(ctx, page); err != nil && !errors.Is(err, errNoBrowser) {
			return err
		}
		return nil // the code has been printed
	}
	link, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) (adminapi.SignInLink, error) { return c.SignInLink(ctx) })
	if err != nil {
		return err
	}
	if err := p.openBrowser(ctx, link.File); errors.Is(err, errNoBrowser) {
		p.outf("No browser could be opened from here.\n")
		_, err := p.printSignInCode(ctx, dir)
		return err
	}
	p.outf("%s opens in your browser. If it does not ask you in: plexus open --print-code\n", link.Page)
	return nil
}

// printSignInCode gives the address of the page.
func (p *program) printSignInCode(ctx context.Context, dir string) (page string, err error) {
	code, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) (adminapi.SignInCode, error) { return c.SignInCode(ctx) })
	if err != nil {
		return "", err
	}
	half := len(code.Code) / 2
	p.outf("Open %s and type this code; it works once, for %s:\n\n    %s-%s\n\n",
		code.Page, time.Until(code.ExpiresAt).Round(time.Second), code.Code[:half], code.Code[half:])
	return code.Page, nil
}
