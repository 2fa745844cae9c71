package manage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/usecases/personal/topics"
)

const indexUsage = "index list | forget URL | forget --site SITE | exclude [SITE] | include SITE | clear --yes"

const indexNotes = `The index holds the pages that were asked about, so that later questions find
them. It stays on this machine. forget removes a page, or those of a site, with the
topics about them; clear removes all pages and leaves the topics. Neither can be
undone. exclude keeps nothing of a site from now on, and lists the excluded sites;
what is there already stays until forget.

A SITE is example.org (with everything below it), *.example.org (below it alone) or
bank.* (bank.com, bank.co.uk and so on). Quote the star.`

// Index is the command plexus index.
func Index(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(indexUsage, indexNotes)
	asJSON := fs.Bool("json", false, "print JSON")
	limit := fs.Int("limit", 50, "largest `number` of pages in the list, newest first")
	yes := fs.Bool("yes", false, "with clear: do it without asking")
	site := fs.String("site", "", "with forget: the `site` whose pages go")
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
	case len(words) == 2 && words[0] == "forget" && *site == "":
		return forgetPage(ctx, env, dir, words[1], *asJSON)
	case verb == "forget" && *site != "":
		return forgetSite(ctx, env, dir, *site, *asJSON)
	case verb == "exclude":
		return changeSites(ctx, env, dir, *asJSON, (*adminapi.Client).Sites)
	case len(words) == 2 && words[0] == "exclude":
		return changeSite(ctx, env, dir, words[1], *asJSON, (*adminapi.Client).ExcludeSite)
	case len(words) == 2 && words[0] == "include":
		return changeSite(ctx, env, dir, words[1], *asJSON, (*adminapi.Client).IncludeSite)
	}
	return cli.Usagef("usage: plexus %s", indexUsage)
}

func forgetPage(ctx context.Context, env cli.Env, dir, address string, asJSON bool) error {
	if _, ok := pages.CanonicalURL(address); !ok {
		return cli.Usagef("the address of a page begins with http:// or https://; for a whole site: plexus index forget --site SITE")
	}
	return forget(ctx, env, dir, asJSON, func(c *adminapi.Client, ctx context.Context) (adminapi.Forgotten, error) {
		return c.ForgetPage(ctx, address)
	})
}

func forgetSite(ctx context.Context, env cli.Env, dir, site string, asJSON bool) error {
	if _, err := pages.ParseSite(site); err != nil {
		return cli.Usagef("%v", err)
	}
	return forget(ctx, env, dir, asJSON, func(c *adminapi.Client, ctx context.Context) (adminapi.Forgotten, error) {
		return c.ForgetSite(ctx, site)
	})
}

func forget(ctx context.Context, env cli.Env, dir string, asJSON bool, call func(*adminapi.Client, context.Context) (adminapi.Forgotten, error)) error {
	done, err := hostclient.Call(ctx, dir, call)
	if err != nil || asJSON {
		return printJSON(env, done, err)
	}
	if done == (adminapi.Forgotten{}) {
		env.Printf("Nothing of that was remembered.\n")
		return nil
	}
	env.Printf("Forgotten: %s and %s.\n", cli.Counted(done.Pages, "page", "pages"), cli.Counted(done.Topics, "topic", "topics"))
	return nil
}

// changeSite excludes or includes a site.
func changeSite(ctx context.Context, env cli.Env, dir, typed string, asJSON bool, call func(*adminapi.Client, context.Context, string) ([]string, error)) error {
	site, err := pages.ParseSite(typed)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	return changeSites(ctx, env, dir, asJSON, func(c *adminapi.Client, ctx context.Context) ([]string, error) {
		return call(c, ctx, string(site))
	})
}

// changeSites prints the excluded sites after a call.
func changeSites(ctx context.Context, env cli.Env, dir string, asJSON bool, call func(*adminapi.Client, context.Context) ([]string, error)) error {
	sites, err := hostclient.Call(ctx, dir, call)
	switch {
	case errors.Is(err, topics.ErrSitesFull):
		return fmt.Errorf("no further site can be excluded; take one back with plexus index include SITE: %w", err)
	case err != nil || asJSON:
		return printJSON(env, sites, err)
	case len(sites) == 0:
		env.Printf("No site is excluded.\n")
		return nil
	}
	env.Printf("Nothing is kept of:\n")
	for _, site := range sites {
		env.Printf("  %s\n", site)
	}
	return nil
}

func listPages(ctx context.Context, env cli.Env, dir string, limit int, asJSON bool) error {
	list, err := hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) ([]adminapi.Page, error) {
		return c.Pages(ctx, limit)
	})
	if err != nil || asJSON {
		return printJSON(env, list, err)
	}
	if len(list) == 0 {
		env.Printf("The index is empty. A page comes in when a question is asked about it.\n")
	}
	for _, page := range list {
		by := "you"
		if page.Origin != "" {
			by = page.Origin
		}
		env.Printf("%s  %s\n    %s\n    %s, asked by %s\n", cli.Minute(page.LastSeen),
			text.Printable(page.Title), text.Printable(page.URL), cli.Size(int64(page.Bytes)), text.Printable(by))
	}
	return nil
}
