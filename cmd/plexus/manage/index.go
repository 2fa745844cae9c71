package manage

import (
	"context"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/text"
)

const indexUsage = "index list | clear --yes"

const indexNotes = `The index holds the pages that were asked about, so that later questions find
them. It stays on this machine. clear removes them all and cannot be undone.`

// Index is the command plexus index.
func Index(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(indexUsage, indexNotes)
	asJSON := fs.Bool("json", false, "print JSON")
	limit := fs.Int("limit", 50, "largest `number` of pages in the list, newest first")
	yes := fs.Bool("yes", false, "with clear: do it without asking")
	words, dir, err := fs.ParseInDir(env, args)
	if err != nil {
		return err
	}
	switch verb := strings.Join(words, " "); {
	case verb == "list" && *limit >= 1 && *limit <= adminapi.MaxPages:
		return listPages(ctx, env, dir, *limit, *asJSON)
	case verb == "list":
		return cli.Usagef("--limit has to be a number from 1 to %d", adminapi.MaxPages)
	case verb == "clear" && !*yes:
		return cli.Usagef("clear removes every page from the index and cannot be undone. If that is meant: plexus index clear --yes")
	case verb == "clear":
		n, err := hostclient.Call(ctx, dir, (*adminapi.Client).ClearPages)
		if err != nil || *asJSON {
			return printJSON(env, adminapi.Cleared{Pages: n}, err)
		}
		env.Printf("The index is empty now; it held %s.\n", cli.Counted(n, "page", "pages"))
		return nil
	}
	return cli.Usagef("usage: plexus %s", indexUsage)
}

func listPages(ctx context.Context, env cli.Env, dir string, limit int, asJSON bool) error {
	pages, err := hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) ([]adminapi.Page, error) {
		return c.Pages(ctx, limit)
	})
	if err != nil || asJSON {
		return printJSON(env, pages, err)
	}
	if len(pages) == 0 {
		env.Printf("The index is empty. A page comes in when a question is asked about it.\n")
	}
	for _, page := range pages {
		by := "you"
		if page.Origin != "" {
			by = page.Origin
		}
		env.Printf("%s  %s\n    %s\n    %s, asked by %s\n", cli.Minute(page.LastSeen),
			text.Printable(page.Title), text.Printable(page.URL), cli.Size(int64(page.Bytes)), text.Printable(by))
	}
	return nil
}
