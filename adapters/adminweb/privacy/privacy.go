// Package privacy is the part of the owner's page about what is remembered, for how
// long, and what of it leaves the machine (decisions D15, D16).
package privacy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/personal/privacy"
	"plexus/usecases/personal/topics"
	"plexus/web"
)

// Remembered is what is remembered of pages: *privacy.Privacy.
type Remembered interface {
	Pages(ctx context.Context, q ports.PageList) (list []pages.Listing, total int, err error)
	ForgetPage(ctx context.Context, address string, topicsToo bool) (privacy.Forgotten, error)
	ForgetSite(ctx context.Context, site pages.Site, topicsToo bool) (privacy.Forgotten, error)
	ForgetAll(ctx context.Context, topicsToo bool) (privacy.Forgotten, error)
	Excluded() []pages.Site
	Exclude(ctx context.Context, site pages.Site) error
	Include(ctx context.Context, site pages.Site) error
}

// Switch is a yes or no of the owner's: *choice.Switch.
type Switch interface {
	On() bool
	Fixed() bool
	Set(ctx context.Context, on bool) error
}

// Config is what the pages are about.
type Config struct {
	Remembered Remembered
	Searches   Switch // whether all that is said goes to the search service
	// SearchesFixedBy names what sets Searches above the page, for where it is fixed.
	SearchesFixedBy string
	SearchService   string // "": there is none
	Retention       web.Retention
}

// CanAskElsewhere reports whether a single text can be searched for that would not
// be otherwise.
func (c Config) CanAskElsewhere() bool { return c.SearchService != "" && !c.Searches.On() }

// Pages serves them. Facts gives the rest of the host as the page shows it.
type Pages struct {
	Config
	Facts func(ctx context.Context) (web.Privacy, error)
}

// View makes a page.
type View func(r *http.Request, l web.Layout) (templ.Component, error)

// Main is the page itself.
func (p Pages) Main(r *http.Request, l web.Layout) (templ.Component, error) {
	return p.mainWith(r, l, "", "")
}

// mainWith is the page with a site that was typed and why it was not taken.
func (p Pages) mainWith(r *http.Request, l web.Layout, typed, fault string) (templ.Component, error) {
	v, err := p.Facts(r.Context())
	if err != nil {
		return nil, err
	}
	v.Service, v.Searching.On = text.Printable(p.SearchService), p.Searches.On()
	if p.Searches.Fixed() {
		v.Searching.FixedBy = text.Printable(p.SearchesFixedBy)
	}
	for _, s := range p.Remembered.Excluded() {
		v.Sites = append(v.Sites, string(s))
	}
	v.Retention, v.Typed, v.Fault = p.Retention, typed, fault
	return web.PrivacyPage(l, v), nil
}

// listSize is how many pages are shown at once.
const listSize = 50

// List is a part of the remembered pages.
func (p Pages) List(r *http.Request, l web.Layout) (templ.Component, error) {
	query := r.URL.Query()
	asked := strings.TrimSpace(query.Get("q"))
	from, err := strconv.Atoi(query.Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	list, total, err := p.Remembered.Pages(r.Context(), ports.PageList{Text: asked, Offset: from, Limit: listSize})
	if err != nil {
		return nil, err
	}
	v := web.RememberedPages{From: from, Size: listSize, Total: total, Asked: text.Printable(asked)}
	for _, row := range list {
		shown := web.RememberedPage{
			URL: row.URL, Address: text.Printable(row.URL), Title: text.Printable(row.Title), Bytes: int64(row.Bytes), LastSeen: row.LastSeen,
		}
		if site, err := pages.ParseSite(row.URL); err == nil {
			shown.Site = string(site)
		}
		v.Pages = append(v.Pages, shown)
	}
	return web.RememberedPagesPage(l, v), nil
}

// what is to be forgotten: a page, a site, or all. ok is false for what is neither.
type what struct {
	page string
	site pages.Site
}

func readWhat(form url.Values) (w what, ok bool) {
	switch {
	case form.Get("page") != "":
		w.page, ok = pages.CanonicalURL(form.Get("page"))
		return w, ok
	case form.Get("site") != "":
		site, err := pages.ParseSite(form.Get("site"))
		return what{site: site}, err == nil
	}
	return w, true
}

// ErrUnknown: what is to be forgotten is no page and no site.
var ErrUnknown = errors.New("no page and no site")

// Confirm asks before something is forgotten.
func (p Pages) Confirm(r *http.Request, l web.Layout) (templ.Component, error) {
	w, ok := readWhat(r.URL.Query())
	if !ok {
		return nil, ErrUnknown
	}
	t := l.T.Privacy
	v := web.Confirm{
		Title: t.ForgetAllTitle, Lead: t.ForgetAllLead, Button: t.ForgetButton, Action: string(web.PrivacyPlace) + "/forget",
		Back: web.PrivacyPlace + "/pages", Option: web.Option{Name: "topics", Label: t.ForgetTopics},
	}
	switch {
	case w.page != "":
		v.Title, v.Lead, v.Fields = t.ForgetPageTitle, text.Printable(w.page)+" — "+t.ForgetLead, []web.Field{{Name: "page", Value: w.page}}
	case w.site != "":
		v.Title, v.Lead, v.Fields = fmt.Sprintf(t.ForgetSiteTitle, w.site), t.ForgetLead, []web.Field{{Name: "site", Value: string(w.site)}}
	}
	return web.ConfirmPage(l, v), nil
}

// Forget does it, and gives where that leads.
func (p Pages) Forget(r *http.Request) (path string, err error) {
	w, ok := readWhat(r.PostForm)
	if !ok {
		return "", ErrUnknown
	}
	ctx, topicsToo := r.Context(), r.PostForm.Get("topics") == "true"
	switch {
	case w.page != "":
		_, err = p.Remembered.ForgetPage(ctx, w.page, topicsToo)
	case w.site != "":
		_, err = p.Remembered.ForgetSite(ctx, w.site, topicsToo)
	default:
		_, err = p.Remembered.ForgetAll(ctx, topicsToo)
	}
	return "privacy/pages?done=pages-forgotten", err
}

// Exclude excludes a site, and forgets what is remembered of it if that is wanted. A
// site that is not taken gives the form to correct.
func (p Pages) Exclude(r *http.Request) (path string, form View, err error) {
	typed, ctx := r.PostForm.Get("site"), r.Context()
	again := func(fault func(l web.Layout) string) View {
		return func(r *http.Request, l web.Layout) (templ.Component, error) { return p.mainWith(r, l, typed, fault(l)) }
	}
	site, wrong := pages.ParseSite(typed)
	if wrong != nil {
		return "", again(func(web.Layout) string { return wrong.Error() }), nil
	}
	switch err := p.Remembered.Exclude(ctx, site); {
	case errors.Is(err, topics.ErrSitesFull):
		return "", again(func(l web.Layout) string { return l.T.Privacy.SitesFull }), nil
	case err != nil:
		return "", nil, err
	}
	if r.PostForm.Get("forget") != "true" {
		return "privacy?done=excluded", nil, nil
	}
	_, err = p.Remembered.ForgetSite(ctx, site, true)
	return "privacy?done=excluded-forgotten", nil, err
}

// Include takes an excluded site back.
func (p Pages) Include(r *http.Request) (path string, err error) {
	site, err := pages.ParseSite(r.PostForm.Get("site"))
	if err != nil {
		return "", ErrUnknown
	}
	return "privacy?done=included", p.Remembered.Include(r.Context(), site)
}

// SetSearches switches whether all that is said goes to the search service.
func (p Pages) SetSearches(r *http.Request) (path string, err error) {
	on, done := r.PostForm.Get("on") == "true", "not-searching"
	if on {
		done = "searching"
	}
	return "privacy?done=" + done, p.Searches.Set(r.Context(), on)
}
