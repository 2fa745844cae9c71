package pages

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// CanonicalURL gives the form under which a page is kept and compared: scheme
// and host in lower case, without user, fragment, default port and without the
// query parameters that carry secrets or campaign marks. The rest of the query
// keeps its order and spelling. It is false for anything but an http or https
// address with a host, and when the result is longer than MaxURLBytes.
func CanonicalURL(raw string) (string, bool) {
	if !utf8.ValidString(raw) {
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Hostname() == "" {
		return "", false
	}
	defaultPort := ""
	switch u.Scheme { // Parse has made it lower case
	case "http":
		defaultPort = "80"
	case "https":
		defaultPort = "443"
	default:
		return "", false
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == defaultPort || port == "" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery, u.ForceQuery = keptQuery(u.RawQuery), false
	canonical := u.String()
	return canonical, len(canonical) <= MaxURLBytes
}

// keptQuery leaves out the parameters that give access to somebody's page, or only
// say where a visitor came from.
func keptQuery(raw string) string {
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		switch name = strings.ToLower(name); name {
		case "token", "key", "code", "sig", "auth", "password", "session", "access_token", "id_token":
			continue
		}
		if part != "" && !strings.HasPrefix(name, "utm_") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}
