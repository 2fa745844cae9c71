package main

import (
	"context"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/domain/text"
)

const indexUsage = "index list | clear --yes"

const indexNotes = `The index holds the pages that were asked about, so that later questions find
them. It stays on this machine. clear removes them all and cannot be undone.`

func index(ctx context.Context, p *program, args []string) error {
	fs := p.flags(indexUsage, indexNotes)
	dataDir := p.addDataDir(fs)
	asJSON := fs.Bool("json", false, "print JSON")
	limit := fs.Int("limit", 50, "largest `number` of pages in the list, newest first")
	yes := fs.Bool("yes", false, "with clear: do it without asking")
	words, err := p.parse(fs, args)
	if err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	switch verb := strings.Join(words, " "); {
	case verb == "list" && *limit >= 1 && *limit <= adminapi.MaxPages:
		return p.listPages(ctx, dir, *limit, *asJSON)
	case verb == "list":
		return usagef("--limit has to be a number from 1 to %d", adminapi.MaxPages)
	case verb == "clear" && !*yes:
		return usagef("clear removes every page from the index and cannot be undone. If that is meant: plexus index clear --yes")
	case verb == "clear":
		return p.clearPages(ctx, dir, *asJSON)
	}
	return usagef("usage: plexus %s", indexUsage)
}

func (p *program) listPages(ctx context.Context, dir string, limit int, asJSON bool) error {
	pages, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) ([]adminapi.Page, error) {
		return c.Pages(ctx, limit)
	})
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(pages)
	}
	if len(pages) == 0 {
		p.outf("The index is empty. A page comes in when a question is asked about it.\n")
	}
	for _, page := range pages {
		by := "you"
		if page.Origin != "" {
			by = page.Origin
		}
		p.outf("%s  %s\n    %s\n    %s, asked by %s\n", page.LastSeen.Local().Format("2006-01-02 15:04"),
			text.Printable(page.Title), text.Printable(page.URL), size(int64(page.Bytes)), text.Printable(by))
	}
	return nil
}

func (p *program) clearPages(ctx context.Context, dir string, asJSON bool) error {
	n, err := reach(ctx, dir, func(ctx context.Context, c *adminapi.Client) (int, error) { return c.ClearPages(ctx) })
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(adminapi.Cleared{Pages: n})
	}
	p.outf("The index is empty now; it held %d %s.\n", n, plural(n, "page", "pages"))
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
