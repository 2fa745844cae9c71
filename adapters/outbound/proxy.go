package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// ErrProxyUnreadable: the environment names a proxy in no form that is known.
var ErrProxyUnreadable = errors.New("the proxy of the environment has an address that cannot be read: it has to look like http://proxy.example:3128, with %, #, / and @ of a password written as %25, %23, %2F and %40")

// ErrProxyUnreachable: there is no connection to the proxy of the environment. The
// text that follows never holds user or password of its address.
var ErrProxyUnreachable = errors.New("the proxy of the environment cannot be reached")

// ProxyRefusedError: the proxy opened no way to the service.
type ProxyRefusedError struct{ Status int }

func (e *ProxyRefusedError) Error() string {
	text := fmt.Sprintf("the proxy of the environment answers %d", e.Status)
	if e.Status == http.StatusProxyAuthRequired {
		text += ": it wants a user and a password"
	}
	return text
}

// UseProxy lets what is for another machine go through the proxy of the
// environment, if it names one: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or
// not, as most programs read them. What is for this machine never does. It is the
// one rule for all services, so every transport to one is made with it.
func UseProxy(t *http.Transport, base *url.URL) {
	if IsLoopback(base.Hostname()) {
		return
	}
	t.Proxy = proxyFor
	if proxy, err := t.Proxy(&http.Request{URL: base}); err == nil && proxy != nil && proxy.Scheme == "https" {
		t.ForceAttemptHTTP2 = false // the library would agree on it with the proxy too, and then not speak it
	}
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return &ProxyRefusedError{resp.StatusCode}
		}
		return nil
	}
}

// proxyFor is the proxy of the environment for a request. The library passes over an
// address that it cannot read, and so would send past the proxy what its owner wants to
// go through it.
func proxyFor(req *http.Request) (*url.URL, error) {
	names := []string{"HTTPS_PROXY", "https_proxy"}
	if req.URL.Scheme == "http" {
		names = []string{"HTTP_PROXY", "http_proxy"}
	}
	for _, name := range names {
		if address := os.Getenv(name); address != "" {
			if !isProxyAddress(address) {
				return nil, ErrProxyUnreadable
			}
			break
		}
	}
	return http.ProxyFromEnvironment(req)
}

func isProxyAddress(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	proxy, err := url.Parse(address)
	if err != nil || proxy.Hostname() == "" {
		return false
	}
	if strings.Trim(proxy.Path, "/") != "" || strings.ContainsAny(address, "?#") {
		return false // most likely the rest of a password
	}
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme)
}

// ProxyFault gives what was wrong with the proxy, if that is why a call failed; nil
// otherwise. own are the caller's own errors, as for Cause.
func ProxyFault(err error, own ...error) error {
	var refused *ProxyRefusedError
	var op *net.OpError
	switch {
	case errors.Is(err, ErrProxyUnreadable):
		return ErrProxyUnreadable
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Errorf("%w: %w", ErrProxyUnreachable, Cause(op.Err, own...))
	}
	return nil
}
