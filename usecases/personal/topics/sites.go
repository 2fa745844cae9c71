package topics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/ports"
)

// sitesKey is the owner's setting: the excluded sites, one a line.
const sitesKey = "excluded_sites"

// ErrSitesFull: no further site can be excluded.
var ErrSitesFull = errors.New("too many excluded sites")

// loadSites reads the excluded sites.
func (t *Topics) loadSites(chosen map[string]string) {
	var sites []pages.Site
	for line := range strings.Lines(chosen[sitesKey]) {
		if site, err := pages.ParseSite(line); err == nil { // another version may have known more
			sites = append(sites, site)
		}
	}
	t.sites.Store(&sites)
}

// Excluded gives the sites of which nothing is kept (decision D15), in order.
func (t *Topics) Excluded() []pages.Site { return slices.Clone(*t.sites.Load()) }

// excludes reports whether nothing of the page at a canonical URL is kept.
func (t *Topics) excludes(address string) bool {
	return slices.ContainsFunc(*t.sites.Load(), func(s pages.Site) bool { return s.Has(address) })
}

// Exclude keeps nothing of a site from now on, durably; an answer that is on its way
// neither. What is kept already stays. A full list is ErrSitesFull.
func (t *Topics) Exclude(ctx context.Context, site pages.Site) error {
	return t.changeSites(ctx, func(sites []pages.Site) []pages.Site {
		at, there := slices.BinarySearch(sites, site)
		if there {
			return sites
		}
		return slices.Insert(sites, at, site)
	})
}

// Include takes an Exclude back.
func (t *Topics) Include(ctx context.Context, site pages.Site) error {
	return t.changeSites(ctx, func(sites []pages.Site) []pages.Site {
		return slices.DeleteFunc(sites, func(s pages.Site) bool { return s == site })
	})
}

// changeSites makes one change after the other.
func (t *Topics) changeSites(ctx context.Context, change func(sites []pages.Site) []pages.Site) error {
	t.changingSites.Lock()
	defer t.changingSites.Unlock()
	sites := change(t.Excluded())
	slices.Sort(sites)
	lines := make([]string, len(sites))
	for i, s := range sites {
		lines[i] = string(s)
	}
	stored := strings.Join(lines, "\n")
	if len(sites) > pages.MaxSites || len(stored) > ports.MaxSettingValue {
		return ErrSitesFull
	}
	ctx = context.WithoutCancel(ctx) // memory has to follow the store
	if err := t.settings.PutSetting(ctx, sitesKey, stored); err != nil {
		return fmt.Errorf("store the excluded sites: %w", err)
	}
	t.sites.Store(&sites)
	t.hub.NotifyPage()
	return nil
}

// PageForgotten notes, before a page is forgotten, that answers about it which are
// on their way are not kept.
func (t *Topics) PageForgotten(address string) { t.erased.note(conversations.SubjectKey(address)) }

// SiteForgotten is PageForgotten for every page of a site.
func (t *Topics) SiteForgotten(site pages.Site) { t.erased.noteSite(site) }

// noteSite is note for every subject of a site.
func (e *erasures) noteSite(site pages.Site) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock++
	if e.running == 0 {
		return
	}
	if e.sites == nil {
		e.sites = map[pages.Site]uint64{}
	}
	e.sites[site] = e.clock
}

// siteSince reports whether the site of an address was erased since.
func (e *erasures) siteSince(address string, began uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for site, at := range e.sites {
		if at > began && site.Has(address) {
			return true
		}
	}
	return false
}
