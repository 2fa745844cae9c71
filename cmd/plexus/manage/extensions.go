package manage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/admission"
	"plexus/domain/text"
	"plexus/ports"
)

const extensionsUsage = "extensions list | allow DIGITS | remove [--forget] DIGITS"

const extensionsNotes = `An extension that knocks for the first time waits until it is allowed. Its panel
and the list show the same four digits: compare them, so that no look-alike
slips in. remove ends its connections and keeps it out; with --forget its row is
deleted and its next knock waits like a first one. Any row can be named by its
digits, by the ID of the list, or by its origin where no other has it.`

// Extensions is the command plexus extensions.
func Extensions(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(extensionsUsage, extensionsNotes)
	asJSON := fs.Bool("json", false, "print JSON")
	forget := fs.Bool("forget", false, "with remove: delete the row instead of blocking it")
	words, dir, err := fs.ParseInDir(env, args)
	if err != nil {
		return err
	}
	switch verb := strings.Join(words[:min(1, len(words))], ""); {
	case verb == "list" && len(words) == 1:
		return listExtensions(ctx, env, dir, *asJSON)
	case verb == "allow" && len(words) == 2 && !*forget:
		return changeExtension(ctx, env, dir, words[1], *asJSON, allow)
	case verb == "remove" && len(words) == 2 && !*forget:
		return changeExtension(ctx, env, dir, words[1], *asJSON, remove)
	case verb == "remove" && len(words) == 2:
		return changeExtension(ctx, env, dir, words[1], *asJSON, forgetRow)
	}
	return cli.Usagef("usage: plexus %s", extensionsUsage)
}

// change is what is done to an extension, as the sentence that is printed; %s is
// the extension.
type change string

const (
	allow     change = "%s is allowed. Nothing has to be restarted; its panel connects by itself.\n"
	remove    change = "%s is removed: its connections are closed and it is kept out.\n"
	forgetRow change = "%s is forgotten: its connections are closed, and its next knock waits like a first one.\n"
)

func listExtensions(ctx context.Context, env cli.Env, dir string, asJSON bool) error {
	rows, err := hostclient.Call(ctx, dir, (*adminapi.Client).Extensions)
	if err != nil || asJSON {
		return printJSON(env, rows, err)
	}
	if len(rows) == 0 {
		env.Printf("No extension has knocked yet. Load the one in web/extension and open its panel.\n")
		return nil
	}
	waiting := false
	env.Printf("%4s  %-6s  %-8s  %-16s  %s\n", "ID", "DIGITS", "STATE", "LAST SEEN", "ORIGIN")
	for _, row := range rows {
		waiting = waiting || row.State == string(admission.Waiting)
		digits := row.Digits
		if digits == "" {
			digits = "-"
		}
		env.Printf("%4d  %-6s  %-8s  %-16s  %s\n", row.ID, digits, row.State, cli.Minute(row.LastSeen), text.Printable(row.Origin))
	}
	if waiting {
		env.Printf("\nCompare the digits of a waiting one with those in its panel, then let it in:\n    plexus extensions allow DIGITS\n")
	}
	return nil
}

func changeExtension(ctx context.Context, env cli.Env, dir, which string, asJSON bool, what change) error {
	row, err := hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) (adminapi.Extension, error) {
		rows, err := c.Extensions(ctx)
		if err != nil {
			return adminapi.Extension{}, err
		}
		row, err := pickExtension(rows, which, what)
		if err != nil {
			return row, err
		}
		switch what {
		case allow:
			return c.AllowExtension(ctx, row.ID)
		case remove:
			return c.RemoveExtension(ctx, row.ID)
		}
		return row, c.ForgetExtension(ctx, row.ID)
	})
	if errors.Is(err, ports.ErrExtensionUnknown) {
		err = fmt.Errorf("there is no extension %s: no row has these digits, this ID or this origin. plexus extensions list shows all", which)
	}
	if err != nil || asJSON {
		return printJSON(env, row, err)
	}
	env.Printf(string(what), row)
	return nil
}

// pickExtension finds the one row that which names: by its four digits, by its ID or by
// its origin. What could mean two rows is refused, since the wrong one would be let in;
// but digits that are to be allowed are those of a panel that is not let in yet.
func pickExtension(rows []adminapi.Extension, which string, what change) (adminapi.Extension, error) {
	var byDigits, others []adminapi.Extension
	for _, row := range rows {
		switch {
		case row.Digits == which && which != "":
			byDigits = append(byDigits, row)
		case strconv.FormatInt(row.ID, 10) == which || row.Origin == which:
			others = append(others, row)
		}
	}
	isIn := func(row adminapi.Extension) bool { return row.State == string(admission.Allowed) }
	if knocking := slices.DeleteFunc(slices.Clone(byDigits), isIn); what == allow && len(knocking) > 0 {
		byDigits = knocking
	}
	match := append(byDigits, others...)
	switch {
	case len(match) == 0:
		return adminapi.Extension{}, ports.ErrExtensionUnknown
	case len(match) == 1:
		return match[0], nil
	case len(byDigits) > 1:
		return adminapi.Extension{}, ambiguous("several rows have these digits", match)
	case len(byDigits) == 1:
		return adminapi.Extension{}, ambiguous("this number is the ID of one row and the digits of another", match)
	}
	return adminapi.Extension{}, ambiguous("several rows have this origin", match)
}

func ambiguous(why string, match []adminapi.Extension) error {
	var choices strings.Builder
	for _, row := range match {
		fmt.Fprintf(&choices, "\n    %d  digits %s  %s  %s", row.ID, row.Digits, row.State, row.Origin)
	}
	return cli.Usagef("%s; say which by its ID, or by its origin where that is its own:%s", why, choices.String())
}
