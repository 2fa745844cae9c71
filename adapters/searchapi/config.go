package searchapi

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"plexus/adapters/outbound"
	"plexus/domain/admission"
)

// Default time limits of one search.
const (
	DefaultConnectTimeout = 2 * time.Second
	DefaultTimeout        = 8 * time.Second
)

// The settings that errors and the log name, so that the owner knows where to
// look.
const (
	settingURL = "search.url"
	settingKey = "search.api_key_file"
)

// Config describes one service. Log and Now are required; the zero value of
// everything else means its default.
type Config struct {
	// BaseURL is where the service lives, perhaps with a path before the
	// service's own. https, or http to a loopback host; no user, query or
	// fragment. Empty means the public address for Brave and is refused for the
	// others.
	BaseURL string
	// Key is sent in a header and never anywhere else. Empty: none is sent.
	Key admission.Secret
	// Cache keeps the last 64 answers for 60 s in memory.
	Cache bool

	ConnectTimeout time.Duration // TCP and TLS together; 0: 2 s
	Timeout        time.Duration // a whole search, retries included; 0: 8 s

	Log *slog.Logger
	Now func() time.Time

	// Dial opens connections; nil: the system's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs are whom TLS trusts; nil: the system's.
	RootCAs *x509.CertPool
}

// validate gives the parsed base URL, or every problem joined. The texts name
// the setting and never repeat its value, which may hold a secret by mistake.
func (c *Config) validate() (*url.URL, error) {
	base, err := parseBase(c.BaseURL)
	problems := []error{err}
	// Blanks at its ends would be trimmed on the way and refused at the other side.
	if strings.ContainsFunc(c.Key.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		problems = append(problems, fmt.Errorf("%s: the key may hold visible ASCII characters only, without blanks", settingKey))
	}
	if c.Log == nil {
		problems = append(problems, errors.New("search: no logger"))
	}
	if c.Now == nil {
		problems = append(problems, errors.New("search: no clock"))
	}
	if c.Timeout < 0 || c.ConnectTimeout < 0 {
		problems = append(problems, errors.New("search: a time limit is negative"))
	}
	return base, errors.Join(problems...)
}

func parseBase(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, fmt.Errorf("%s: missing", settingURL)
	}
	base, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || base.Opaque != "" || base.Hostname() == "":
		return nil, fmt.Errorf("%s: not a full address such as https://search.example.org", settingURL)
	case base.User != nil:
		return nil, fmt.Errorf("%s: must not hold a user or password; a key belongs into %s", settingURL, settingKey)
	case base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, fmt.Errorf("%s: must not hold a query or fragment", settingURL)
	case base.Scheme == "https", base.Scheme == "http" && outbound.IsLoopback(base.Hostname()):
		return base, nil
	case base.Scheme == "http":
		return nil, fmt.Errorf("%s: http is for services on this machine; use https", settingURL)
	default:
		return nil, fmt.Errorf("%s: must begin with https", settingURL)
	}
}
