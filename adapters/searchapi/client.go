package searchapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
)

const (
	maxBody      = 4 << 20 // of an answer, unpacked
	maxErrorBody = 4 << 10
	maxHeader    = 64 << 10
	maxRedirects = 3
	idleLife     = 90 * time.Second
)

// client is what the services share: one connection pool and its manners.
type client struct {
	service string // for texts
	base    *url.URL
	// sign puts the key into a header. A closure, because a key in a field
	// would be printed by %+v of anything that holds the client.
	sign    func(http.Header)
	keyed   bool
	http    *http.Client
	timeout time.Duration
	now     func() time.Time
	log     *slog.Logger

	cache    *cache
	standing standing
	keyLine  sync.Once
}

// newClient checks the Config. header and prefix say where the key goes.
func newClient(service string, cfg Config, header, prefix string) (*client, error) {
	base, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	cfg.setDefaults()
	c := &client{
		service: service,
		base:    base,
		sign:    func(http.Header) {},
		keyed:   !cfg.Key.Empty(),
		timeout: cfg.Timeout,
		now:     cfg.Now,
		log:     cfg.Log,
	}
	if c.keyed {
		c.sign = func(h http.Header) { h.Set(header, prefix+cfg.Key.Reveal()) }
	}
	if cfg.Cache {
		c.cache = &cache{}
	}
	c.http = &http.Client{Transport: newTransport(cfg), CheckRedirect: c.checkRedirect}
	return c, nil
}

func newTransport(cfg Config) *http.Transport {
	d := dialer{dial: cfg.Dial, timeout: cfg.ConnectTimeout, tls: &tls.Config{
		RootCAs:    cfg.RootCAs,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	}}
	return &http.Transport{
		DialContext:            d.plain,
		DialTLSContext:         d.secure,
		ForceAttemptHTTP2:      true, // own dialling would switch HTTP/2 off
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        idleLife,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// dialer bounds TCP and TLS by one time limit.
type dialer struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration
	tls     *tls.Config
}

func (d dialer) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, errConnect)
	defer cancel()
	conn, err := d.dial(ctx, network, address)
	return conn, connectError(ctx, err)
}

func (d dialer) secure(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, errConnect)
	defer cancel()
	raw, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	config := d.tls.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, connectError(ctx, err)
	}
	return conn, nil
}

// connectError tells the connect limit from every other end.
func connectError(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errConnect) {
		return errConnect
	}
	return err
}

// checkRedirect follows within one origin, and not at all with a key: no
// redirect carries it on, and without it the answer would be a misleading 401.
func (c *client) checkRedirect(req *http.Request, via []*http.Request) error {
	sameOrigin := req.URL.Scheme == c.base.Scheme && req.URL.Host == c.base.Host
	if c.keyed || !sameOrigin || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// finder asks one service for a cleaned query.
type finder func(ctx context.Context, query string, limit int) ([]framing.Result, error)

// search is the frame around every finder: cleaning, cache, the time limit of
// the whole, and errors as the port wants them.
func (c *client) search(ctx context.Context, req ports.SearchRequest, find finder) ([]framing.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, c.fault(err)
	}
	key := cacheKey{cleanQuery(req.Query), min(max(req.Limit, 1), framing.MaxResults)}
	if key.query == "" {
		return []framing.Result{}, nil
	}
	if results, ok := c.cache.get(key, c.now()); ok {
		return results, nil
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	found, err := find(limited, key.query, key.limit)
	if ended := ctx.Err(); ended != nil {
		return nil, c.fault(ended)
	}
	if err != nil {
		c.standing.doubt()
		return nil, c.fault(err)
	}
	results := keep(found, key.limit)
	c.standing.vouch(c.now())
	c.cache.put(key, results, c.now())
	return results, nil
}

// fault wraps what went wrong; err must be one of this package's texts or a
// context's error.
func (c *client) fault(err error) error {
	return fmt.Errorf("%w: %s: %w", ports.ErrSearchUnavailable, c.service, err)
}

// reply is a whole answer, whatever its status.
type reply struct {
	status int
	body   []byte
}

// get makes one signed exchange. An answer of any status is a reply; the error
// of everything else has a text of this package.
func (c *client) get(ctx context.Context, path string, query url.Values) (reply, error) {
	r, err := c.exchange(ctx, path, query, c.sign)
	if err == nil && r.status == http.StatusUnauthorized {
		c.reportKey(r.status)
	}
	return r, err
}

func (c *client) exchange(ctx context.Context, path string, query url.Values, sign func(http.Header)) (reply, error) {
	if err := c.standing.waiting(c.now()); err != nil {
		return reply{}, err
	}
	target := c.base.JoinPath(path)
	target.RawQuery = query.Encode()
	ctx = httptrace.WithClientTrace(ctx, c.freshRetry())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return reply{}, describe(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "plexus")
	sign(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, describe(err)
	}
	defer func() { _ = resp.Body.Close() }() // an unread rest ends the connection
	if resp.StatusCode == http.StatusOK {
		body, err := readBody(resp.Body)
		if err != nil {
			return reply{}, describe(err)
		}
		return reply{resp.StatusCode, body}, nil
	}
	c.standing.note(resp.StatusCode, resp.Header, c.now())
	// The status says enough, should its explanation be cut short.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	return reply{resp.StatusCode, body}, nil
}

// freshRetry shapes the transport's own retry, which comes only after a kept
// connection broke before any byte of the answer. Without the other kept
// connections, which the same restart has most likely killed, the retry is
// dialled anew; and a new connection that breaks is not retried.
func (c *client) freshRetry() *httptrace.ClientTrace {
	attempts := 0 // the transport asks for connections one after the other
	return &httptrace.ClientTrace{GetConn: func(string) {
		if attempts++; attempts > 1 {
			c.http.CloseIdleConnections()
		}
	}}
}

func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, errTooLarge
	}
	return body, nil
}

// reportKey writes the one loud line of this start. Errors of later searches
// are the caller's to log.
func (c *client) reportKey(status int) {
	c.keyLine.Do(func() {
		advice := "the service wants a key"
		if c.keyed {
			advice = "the service refuses the key"
		}
		c.log.Error("search does not work until the key is right",
			"service", c.service, "setting", settingKey, "cause", advice, "status", status)
	})
}

// warm opens a connection ahead of the first search. The key is not sent.
func (c *client) warm(ctx context.Context, path string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := c.exchange(ctx, path, nil, func(http.Header) {})
	if err != nil {
		return reply{}, c.fault(err)
	}
	return r, nil
}

// close lets go of the kept connections.
func (c *client) close() { c.http.CloseIdleConnections() }
