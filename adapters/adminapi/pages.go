package adminapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal/privacy"
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

// Page is one row of the page index. It holds no page text.
type Page struct {
	URL      string    `json:"url"`
	Title    string    `json:"title"`
	Origin   string    `json:"origin,omitempty"` // extension that brought it; none for the owner's own tools
	Bytes    int       `json:"bytes"`            // of text
	LastSeen time.Time `json:"last_seen"`
}

// Cleared says how many pages were removed.
type Cleared struct {
	Pages int `json:"pages"`
}

// Forgotten says how much was removed.
type Forgotten struct {
	Pages  int `json:"pages"`
	Topics int `json:"topics"`
}

func (s *server) pages(r *http.Request) (any, error) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > MaxPages {
		return nil, errNumber
	}
	rows, _, err := s.Remembered.Pages(r.Context(), ports.PageList{Limit: limit})
	return convert(rows, func(row pages.Listing) Page {
		return Page{URL: row.URL, Title: row.Title, Origin: row.Origin, Bytes: row.Bytes, LastSeen: row.LastSeen}
	}), err
}

func (s *server) clearPages(r *http.Request) (any, error) {
	done, err := s.Remembered.ForgetAll(r.Context(), false)
	return Cleared{Pages: done.Pages}, err
}

// forgetPages forgets a page or a site, with the topics.
func (s *server) forgetPages(r *http.Request) (any, error) {
	query := r.URL.Query()
	var done privacy.Forgotten
	if site := query.Get("site"); site != "" {
		named, err := pages.ParseSite(site)
		if err != nil {
			return nil, errSite
		}
		done, err = s.Remembered.ForgetSite(r.Context(), named, true)
		return Forgotten(done), err
	}
	address, ok := pages.CanonicalURL(query.Get("url"))
	if !ok {
		return nil, errPage
	}
	done, err := s.Remembered.ForgetPage(r.Context(), address, true)
	return Forgotten(done), err
}

func (s *server) changeSites(r *http.Request) (any, error) {
	site, err := pages.ParseSite(r.URL.Query().Get("site"))
	if err != nil {
		return nil, errSite
	}
	change := s.Remembered.Exclude
	if r.PathValue("verb") == "include" {
		change = s.Remembered.Include
	}
	err = change(r.Context(), site)
	return sites(s.Remembered.Excluded()), err
}

func sites(list []pages.Site) []string {
	return convert(list, func(s pages.Site) string { return string(s) })
}
