package answers

import (
	"plexus/domain/framing"
	"plexus/domain/pages"
)

// Merge puts the local results into the room that the service's leave below
// limit. Both keep their order, the service's come first. A local result that
// the list already has, or that is the page in front of the reader (current, an
// URL or ""), is left out; URLs are compared in canonical form. The slice is
// new and never nil.
func Merge(service, local []framing.Result, current string, limit int) []framing.Result {
	merged := make([]framing.Result, 0, min(len(service)+len(local), max(limit, 0)))
	seen := map[string]bool{canonical(current): current != ""}
	for _, r := range service {
		if len(merged) < limit {
			seen[canonical(r.URL)] = true
			merged = append(merged, r)
		}
	}
	for _, r := range local {
		if url := canonical(r.URL); len(merged) < limit && !seen[url] {
			seen[url] = true
			merged = append(merged, r)
		}
	}
	return merged
}

func canonical(url string) string {
	if c, ok := pages.CanonicalURL(url); ok {
		return c
	}
	return url
}
