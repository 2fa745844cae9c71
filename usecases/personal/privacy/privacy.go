// Package privacy is what the owner does about what is remembered of pages: looks at
// it, forgets it, and excludes sites (decision D15).
package privacy

import (
	"context"
	"fmt"

	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal/chats"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/topics"
)

// Privacy looks after what is remembered of pages.
type Privacy struct {
	hub    *hub.Hub
	index  ports.PageIndex
	chats  *chats.Chats
	topics *topics.Topics
}

// New makes one. index may be nil: no page is remembered then.
func New(h *hub.Hub, index ports.PageIndex, c *chats.Chats, t *topics.Topics) *Privacy {
	return &Privacy{h, index, c, t}
}

// Pages gives a part of the list of remembered pages, and how many there are in all.
func (p *Privacy) Pages(ctx context.Context, q ports.PageList) (list []pages.Listing, total int, err error) {
	if p.index == nil {
		return nil, 0, nil
	}
	if list, total, err = p.index.Pages(ctx, q); err != nil {
		return nil, 0, fmt.Errorf("list remembered pages: %w", err)
	}
	return list, total, nil
}

// Forgotten counts what is gone.
type Forgotten struct {
	Pages  int
	Topics int
}

// ForgetPage forgets the page at a canonical URL, and its topic if that is wanted.
// What an answer on its way would bring back is not kept.
func (p *Privacy) ForgetPage(ctx context.Context, address string, topicsToo bool) (Forgotten, error) {
	p.topics.PageForgotten(address)
	return p.forget(ctx, func(url string) bool { return url == address }, topicsToo)
}

// ForgetSite is ForgetPage for every page of a site.
func (p *Privacy) ForgetSite(ctx context.Context, site pages.Site, topicsToo bool) (Forgotten, error) {
	p.topics.SiteForgotten(site)
	return p.forget(ctx, site.Has, topicsToo)
}

func (p *Privacy) forget(ctx context.Context, goes func(url string) bool, topicsToo bool) (done Forgotten, err error) {
	defer p.hub.NotifyPage()
	if topicsToo {
		if done.Topics, err = p.chats.DeleteTopicsAbout(ctx, goes); err != nil {
			return done, err
		}
	}
	if p.index == nil {
		return done, nil
	}
	if done.Pages, err = p.index.ForgetPages(ctx, goes); err != nil {
		return done, fmt.Errorf("forget pages: %w", err)
	}
	return done, nil
}

// ForgetAll forgets every page, and every topic if that is wanted.
func (p *Privacy) ForgetAll(ctx context.Context, topicsToo bool) (done Forgotten, err error) {
	defer p.hub.NotifyPage()
	p.topics.AllErased()
	if topicsToo {
		if done.Topics, err = p.chats.DeleteTopics(ctx); err != nil {
			return done, err
		}
	}
	if p.index == nil {
		return done, nil
	}
	if done.Pages, err = p.index.ClearPages(ctx); err != nil {
		return done, fmt.Errorf("forget all pages: %w", err)
	}
	return done, nil
}

// Excluded gives the excluded sites, in order.
func (p *Privacy) Excluded() []pages.Site { return p.topics.Excluded() }

// Exclude keeps nothing of a site from now on, durably. A full list is
// topics.ErrSitesFull.
func (p *Privacy) Exclude(ctx context.Context, site pages.Site) error {
	return p.topics.Exclude(ctx, site)
}

// Include takes an Exclude back.
func (p *Privacy) Include(ctx context.Context, site pages.Site) error {
	return p.topics.Include(ctx, site)
}
