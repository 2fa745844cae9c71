package searchapi

import (
	"cmp"
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

	"plexus/adapters/outbound"
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

// Service is one search service. All methods may be called concurrently.
type Service struct {
	name string // for texts
	base *url.URL
	// sign puts the key into a header. A closure, because a key in a field
	// would be printed by %+v of anything that holds the Service.
	sign    func(http.Header)
	keyed   bool
	http    *http.Client
	timeout time.Duration
	now     func() time.Time
	log     *slog.Logger

	// How the service is spoken to: find asks for a cleaned query, health is the
	// path that Warm asks for, and healthy judges what comes; nil: any answer.
	find    func(ctx context.Context, query string, limit int) ([]framing.Result, error)
	health  string
	healthy func(reply) error

	cache   *cache
	pause   pause
	keyLine sync.Once
}

var _ ports.SearchProvider = (*Service)(nil)

// newService checks the Config. header and prefix say where the key goes.
func newService(name string, cfg Config, header, prefix string) (*Service, error) {
	base, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	s := &Service{
		name:    name,
		base:    base,
		sign:    func(http.Header) {},
		keyed:   !cfg.Key.Empty(),
		timeout: cmp.Or(cfg.Timeout, DefaultTimeout),
		now:     cfg.Now,
		log:     cfg.Log,
	}
	if s.keyed {
		s.sign = func(h http.Header) { h.Set(header, prefix+cfg.Key.Reveal()) }
	}
	if cfg.Cache {
		s.cache = &cache{}
	}
	s.http = &http.Client{Transport: newTransport(cfg, base), CheckRedirect: s.checkRedirect}
	return s, nil
}

func newTransport(cfg Config, base *url.URL) *http.Transport {
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{}).DialContext
	}
	d := dialer{dial: cfg.Dial, timeout: cmp.Or(cfg.ConnectTimeout, DefaultConnectTimeout), tls: &tls.Config{
		RootCAs:    cfg.RootCAs,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	}}
	t := &http.Transport{
		DialContext:            d.plain,
		DialTLSContext:         d.secure,
		TLSHandshakeTimeout:    d.timeout, // through a proxy
		ForceAttemptHTTP2:      true,      // own dialling would switch HTTP/2 off
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        idleLife,
		MaxResponseHeaderBytes: maxHeader,
	}
	outbound.UseProxy(t, base)
	if !t.ForceAttemptHTTP2 {
		d.tls.NextProtos = nil
	}
	t.TLSClientConfig = d.tls.Clone() // through a proxy
	return t
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
func (s *Service) checkRedirect(req *http.Request, via []*http.Request) error {
	sameOrigin := req.URL.Scheme == s.base.Scheme && req.URL.Host == s.base.Host
	if s.keyed || !sameOrigin || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// Search implements ports.SearchProvider: it cleans the query, looks into the
// cache, and bounds the time of the whole.
func (s *Service) Search(ctx context.Context, req ports.SearchRequest) ([]framing.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.unavailable(err)
	}
	key := cacheKey{cleanQuery(req.Query), min(max(req.Limit, 1), framing.MaxResults)}
	if key.query == "" {
		return []framing.Result{}, nil
	}
	if results, ok := s.cache.get(key, s.now()); ok {
		return results, nil
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	found, err := s.find(limited, key.query, key.limit)
	if ended := ctx.Err(); ended != nil {
		return nil, s.unavailable(ended)
	}
	if err != nil {
		return nil, s.unavailable(err)
	}
	results := usableResults(found, key.limit)
	s.cache.put(key, results, s.now())
	return results, nil
}

// unavailable wraps what went wrong; err must be one of this package's texts or a
// context's error.
func (s *Service) unavailable(err error) error {
	return fmt.Errorf("%w: %s: %w", ports.ErrSearchUnavailable, s.name, err)
}

// reply is a whole answer, whatever its status.
type reply struct {
	status int
	body   []byte
}

// get makes one signed exchange. An answer of any status is a reply; the error
// of everything else has a text of this package.
func (s *Service) get(ctx context.Context, path string, query url.Values) (reply, error) {
	r, err := s.exchange(ctx, path, query, s.sign)
	if err == nil && r.status == http.StatusUnauthorized {
		s.reportKey(r.status)
	}
	return r, err
}

func (s *Service) exchange(ctx context.Context, path string, query url.Values, sign func(http.Header)) (reply, error) {
	if err := s.pause.check(s.now()); err != nil {
		return reply{}, err
	}
	target := s.base.JoinPath(path)
	target.RawQuery = query.Encode()
	ctx = httptrace.WithClientTrace(ctx, s.freshRetry())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return reply{}, safeCause(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "plexus")
	sign(req.Header)
	resp, err := s.http.Do(req)
	if err != nil {
		return reply{}, safeCause(err)
	}
	defer func() { _ = resp.Body.Close() }() // an unread rest ends the connection
	if resp.StatusCode == http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
		if err == nil && len(body) > maxBody {
			err = errTooLarge
		}
		if err != nil {
			return reply{}, safeCause(err)
		}
		return reply{resp.StatusCode, body}, nil
	}
	s.pause.note(resp.StatusCode, resp.Header, s.now())
	// The status says enough, should its explanation be cut short.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	return reply{resp.StatusCode, body}, nil
}

// freshRetry shapes the transport's own retry, which comes only after a kept
// connection broke before any byte of the answer. Without the other kept
// connections, which the same restart has most likely killed, the retry is
// dialled anew; and a new connection that breaks is not retried.
func (s *Service) freshRetry() *httptrace.ClientTrace {
	attempts := 0 // the transport asks for connections one after the other
	return &httptrace.ClientTrace{GetConn: func(string) {
		if attempts++; attempts > 1 {
			s.http.CloseIdleConnections()
		}
	}}
}

// reportKey logs a refused key, once per start, as an error. Errors of later
// searches are the caller's to log.
func (s *Service) reportKey(status int) {
	s.keyLine.Do(func() {
		advice := "the service wants a key"
		if s.keyed {
			advice = "the service refuses the key"
		}
		s.log.Error("search does not work until the key is right",
			"service", s.name, "setting", settingKey, "cause", advice, "status", status)
	})
}

// Warm connects ahead of the first search, without the key and without using up
// a query. An error wraps ports.ErrSearchUnavailable and means only that the
// first search connects.
func (s *Service) Warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := s.exchange(ctx, s.health, nil, func(http.Header) {})
	if err == nil && s.healthy != nil {
		err = s.healthy(r)
	}
	if err != nil {
		return s.unavailable(err)
	}
	return nil
}

// Close closes idle connections; searches that run go on.
func (s *Service) Close() { s.http.CloseIdleConnections() }
