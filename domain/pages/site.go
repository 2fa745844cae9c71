package pages

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Bounds of a list of sites.
const (
	MaxSites     = 200
	maxSiteBytes = 253 // of one, as of a host name
)

// Site names the hosts of a site:
//
//	example.org    this host and every one below it, such as www.example.org
//	*.example.org  those below it alone
//	bank.*         bank.com, bank.co.uk and every host below one of these
//	192.168.1.*    addresses that begin like this
//
// A star stands for one or more whole parts between dots, at the beginning or the
// end. Ports do not count. Make one with ParseSite.
type Site string

// SiteError says in a sentence why a site was not taken.
type SiteError struct{ Reason string }

func (e *SiteError) Error() string { return e.Reason }

// ParseSite reads what a person typed: a site, or the address of a page of it. What
// is wrong with it is a *SiteError.
func ParseSite(typed string) (Site, error) {
	s := strings.ToLower(strings.TrimSpace(typed))
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", &SiteError{"Only pages with http or https are remembered. Name the site alone, such as example.org."}
		}
		s = u.Hostname()
	}
	s = strings.TrimSuffix(s, ".")
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil && addr.Zone() == "" {
		return Site(addr.Unmap().String()), nil
	}
	name, _, hasPort := strings.Cut(s, ":")
	core := strings.TrimSuffix(strings.TrimPrefix(s, "*."), ".*")
	switch {
	case s == "":
		return "", &SiteError{"Name a site, such as example.org."}
	case s == "*" || strings.Trim(s, "*.") == "":
		return "", &SiteError{"A star alone would mean every site. To remember nothing at all, switch remembering off."}
	case strings.ContainsAny(s, "/?#@ \t"):
		return "", &SiteError{"Name the site alone, such as example.org, without a path: a site is left out as a whole."}
	case hasPort:
		return "", &SiteError{fmt.Sprintf("Leave the port away and write %s: a site is left out with all its ports.", name)}
	case len(s) > maxSiteBytes:
		return "", &SiteError{"This is too long for the name of a site."}
	case strings.Contains(core, "*"):
		return "", &SiteError{"A star stands for whole parts of a name, at the beginning or the end: *.example.org or bank.*"}
	}
	for part := range strings.SplitSeq(core, ".") {
		if !isLabel(part) {
			return "", &SiteError{"A site has letters, digits, hyphens and dots, such as example.org. A name in another script is written as browsers send it, with xn--: open a page of the site, and copy its address."}
		}
	}
	return Site(s), nil
}

// isLabel: what may stand between two dots.
func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && !strings.HasPrefix(s, "-") && !strings.HasSuffix(s, "-") &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// Has reports whether the page at a canonical URL belongs to the site.
func (s Site) Has(canonical string) bool {
	u, err := url.Parse(canonical)
	return err == nil && u.Host != "" && s.hasHost(u.Hostname())
}

func (s Site) hasHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	pattern, below := strings.CutPrefix(string(s), "*.")
	pattern, open := strings.CutSuffix(pattern, ".*")
	if addr, err := netip.ParseAddr(host); err == nil { // has nothing below it
		host = addr.Unmap().String()
		return !below && (host == pattern || open && strings.HasPrefix(host, pattern+"."))
	}
	parts, wanted := strings.Split(host, "."), strings.Split(pattern, ".")
	for at := range parts {
		rest := parts[at:]
		switch {
		case below && at == 0, len(rest) < len(wanted), !slices.Equal(rest[:len(wanted)], wanted):
		case open && len(rest) > len(wanted), !open && len(rest) == len(wanted):
			return true
		}
	}
	return false
}
