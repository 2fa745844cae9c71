package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/httpguard"
	"plexus/cmd/plexus/config"
	"plexus/domain/loglimit"
)

// listeners are what this process has opened. The sockets are nil where the
// system has none.
type listeners struct {
	admin       net.Listener
	nerve       net.Listener
	client      net.Listener
	nerveSocket *hostfiles.PeerListener
	adminSocket *hostfiles.PeerListener
}

// ownersPage is the address at which the owner signs in.
func (l *listeners) ownersPage() string { return "http://" + l.admin.Addr().String() + "/" }

// openListeners opens all of them or none, and sockets only where there are any.
func openListeners(ctx context.Context, cfg config.Listen, dataDir string, sockets bool, log *slog.Logger, done *closers) (*listeners, error) {
	l := &listeners{}
	var err error
	for _, one := range []struct {
		listener *net.Listener
		addr     netip.AddrPort
		flag     string
	}{{&l.nerve, cfg.Nerve, "--nerve-addr"}, {&l.admin, cfg.Admin, "--admin-addr"}, {&l.client, cfg.Client, "--client-addr"}} {
		if *one.listener, err = openTCP(ctx, one.addr, one.flag, done); err != nil {
			return nil, err
		}
		*one.listener = httpguard.WithoutTLS(*one.listener, tlsNotice((*one.listener).Addr(), log))
	}
	warnOtherFamily(ctx, l.nerve.Addr(), log)
	if !sockets {
		return l, nil
	}
	if l.nerveSocket, err = openSocket(ctx, cfg.NerveSocket, "--nerve-socket", log, done); err != nil {
		return nil, err
	}
	l.adminSocket, err = openSocket(ctx, filepath.Join(dataDir, hostfiles.AdminSocketName), "--data-dir", log, done)
	return l, err
}

func openTCP(ctx context.Context, addr netip.AddrPort, flag string, done *closers) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr.String())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		who := "another program"
		if plexusAnswers(ctx, addr) {
			who = "another Plexus"
		}
		return nil, fmt.Errorf("port %d on %s is taken by %s. Stop that one, or choose another port with %s %s:0",
			addr.Port(), addr.Addr(), who, flag, addr.Addr())
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w. Choose another address with %s", addr, err, flag)
	}
	done.add(l.Close)
	return l, nil
}

// tlsNotice logs, once a minute for one listener, that somebody spoke TLS to it.
func tlsNotice(addr net.Addr, log *slog.Logger) func() {
	var mu sync.Mutex
	var limit loglimit.OnceAMinute
	return func() {
		mu.Lock()
		times := limit.Note(time.Now())
		mu.Unlock()
		if times > 0 {
			log.Warn("a program spoke TLS to a port that has none, and was not answered", "address", addr.String(), "times", times,
				"advice", "Let it say http:// or ws:// in place of https:// or wss://. A phone comes through a proxy that has the certificate; an extension for Firefox needs a content_security_policy without upgrade-insecure-requests.")
		}
	}
}

func openSocket(ctx context.Context, path, flag string, log *slog.Logger, done *closers) (*hostfiles.PeerListener, error) {
	l, warnings, err := hostfiles.ListenUnix(ctx, path, flag)
	switch {
	case errors.Is(err, hostfiles.ErrSocketAnswers):
		return nil, fmt.Errorf("%w. Stop it first, or choose another place with %s", err, flag)
	case err != nil:
		return nil, fmt.Errorf("%w\nAnother place can be chosen with %s", err, flag)
	}
	for _, warning := range warnings {
		log.Warn(warning)
	}
	done.add(l.Close)
	return l, nil
}

// plexusAnswers asks the listener what it is, as the extension does: with the
// origin of an extension and an empty body.
func plexusAnswers(ctx context.Context, addr netip.AddrPort) bool {
	ctx, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr.String()+"/", nil)
	if err != nil {
		return false
	}
	req.Header.Set("Origin", "chrome-extension://plexus")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() // read as far as it is wanted
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return err == nil && strings.Contains(string(body), `"product":"plexus"`)
}

// warnOtherFamily looks whether somebody else has the same port at ::1, where a
// program that says localhost may end up.
func warnOtherFamily(ctx context.Context, addr net.Addr, log *slog.Logger) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || tcp.AddrPort().Addr().Unmap() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
		return
	}
	other := netip.AddrPortFrom(netip.IPv6Loopback(), tcp.AddrPort().Port()).String()
	var lc net.ListenConfig
	probe, err := lc.Listen(ctx, "tcp", other)
	if err == nil {
		_ = probe.Close() // only to see whether it accepts
		return
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		log.Warn("another program listens at the same port of ::1; programs that say localhost may reach it instead, so let them say 127.0.0.1", "address", other)
	}
}
