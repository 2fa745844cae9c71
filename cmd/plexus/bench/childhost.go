package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plexus/adapters/localmodel"
	"plexus/adapters/nerveuds"
	"plexus/adapters/nervews"
	"plexus/adapters/searchapi"
	"plexus/domain/admission"
	"plexus/ports"
	"plexus/usecases/ask"
	"plexus/usecases/browsers"
)

// RunChild is a child process of the given kind: it reads its Setup, says where
// it listens, and answers questions until its standard input ends.
func RunChild(ctx context.Context, kind string, stdin io.Reader, stdout io.Writer) error {
	lines := bufio.NewReader(stdin)
	line, err := lines.ReadBytes('\n')
	var s Setup
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	if err != nil {
		return fmt.Errorf("bench child: read the setup: %w", err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bench child: %w", err)
	}
	uds, err := net.Listen("unix", filepath.Join(s.Dir, kind+".sock"))
	if err != nil {
		return errors.Join(fmt.Errorf("bench child: %w", err), tcp.Close())
	}
	ready := Ready{TCP: tcp.Addr().String(), Unix: uds.Addr().String()}
	if kind == KindFloor {
		stop := echoAll(tcp, uds)
		defer stop()
	} else {
		stop, token, err := hostAll(ctx, s, tcp, uds)
		if err != nil {
			return fmt.Errorf("bench child: %w", err)
		}
		defer stop()
		ready.Token = token
	}
	return converse(lines, stdout, ready)
}

// converse answers one line of vitals for each line asked.
func converse(lines *bufio.Reader, stdout io.Writer, ready Ready) error {
	enc := json.NewEncoder(stdout)
	if err := enc.Encode(ready); err != nil {
		return err
	}
	for {
		if _, err := lines.ReadString('\n'); err != nil {
			return nil // the parent is done
		}
		if err := enc.Encode(vitals()); err != nil {
			return err
		}
	}
}

// hostAll serves a host on both listeners.
func hostAll(ctx context.Context, s Setup, tcp, uds net.Listener) (stop func(), token string, err error) {
	log := slog.New(slog.DiscardHandler)
	search, err := searchapi.NewAnvesha(searchapi.Config{BaseURL: s.SearchURL, Log: log, Now: time.Now})
	if err != nil {
		return nil, "", err
	}
	if err := search.Warm(ctx); err != nil {
		return nil, "", err
	}
	model, err := localmodel.New(localmodel.Config{BaseURL: s.ModelURL, Model: "bench"})
	if err != nil {
		return nil, "", err
	}
	key := make([]byte, admission.KeyLength/2)
	_, _ = rand.Read(key) // never fails
	token = hex.EncodeToString(key)
	queries, err := ask.New(ask.Deps{Search: search, Model: &switchModel{upstream: model}, Now: time.Now, Log: log}, ask.Options{MaxGenerations: 8})
	if err != nil {
		return nil, "", err
	}
	registry, err := browsers.New(
		browsers.Deps{Extensions: noExtensions{}, Token: fixedToken{}, Now: time.Now, Log: log},
		browsers.Options{TokenHash: admission.HashKey(token)})
	if err != nil {
		return nil, "", err
	}
	ws := nervews.New(queries, registry, nervews.Config{Log: log})
	unix := nerveuds.New(queries, registry, nerveuds.Config{Log: log})
	var serving sync.WaitGroup
	serving.Go(func() { _ = ws.Serve(tcp) }) // a fault shows in the parent
	serving.Go(func() { _ = unix.Serve(uds) })
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = errors.Join(ws.Shutdown(ctx), unix.Shutdown(ctx)) // the process ends anyway
		serving.Wait()
		search.Close()
		model.Close()
	}, token, nil
}

// noExtensions is never asked: every connection of bench comes by token and
// without an Origin, so no row is looked up.
type noExtensions struct{ ports.ExtensionRegistry }

// fixedToken: this host lives for one run, its token is never rotated.
type fixedToken struct{}

func (fixedToken) RotateToken() (admission.KeyHash, error) {
	return admission.KeyHash{}, errors.New("the token of a bench host is fixed")
}

// Questions that switchModel knows.
const (
	askHung   = "bench held"   // the upstream stub, which never answers
	askSteady = "bench steady" // 10,000 tokens a second until cancelled
	askFlood  = "bench flood"  // floodTokens as fast as they are taken
	askQuiet  = "bench quiet"  // one token
)

const (
	steadyRate  = 10_000
	floodTokens = 200_000
)

// switchModel answers a question with the source that it names.
type switchModel struct{ upstream ports.Generator }

func (m *switchModel) Generate(ctx context.Context, p ports.Prompt, emit func(string) error) error {
	switch {
	case strings.Contains(p.User, askHung):
		return m.upstream.Generate(ctx, p, emit)
	case strings.Contains(p.User, askSteady):
		return stream(ctx, 1<<30, steadyRate, emit)
	case strings.Contains(p.User, askFlood):
		return stream(ctx, floodTokens, 0, emit)
	}
	return emit("Hello")
}

// stream emits one word count times, at rate a second; 0: as fast as emit takes
// them. A timer for each of 10,000 words a second would cost more than the words,
// so it sleeps only when it is a millisecond ahead.
func stream(ctx context.Context, count, rate int, emit func(string) error) error {
	begun := time.Now()
	for n := range count {
		var ahead time.Duration
		if rate > 0 {
			ahead = time.Until(begun.Add(time.Duration(n) * time.Second / time.Duration(rate)))
		}
		if ahead >= time.Millisecond {
			timer := time.NewTimer(ahead)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit("Hello "); err != nil {
			return err
		}
	}
	return nil
}

// echoAll echoes bytes on both listeners: the floor of every comparison.
func echoAll(listeners ...net.Listener) (stop func()) {
	var serving sync.WaitGroup
	for _, ln := range listeners {
		serving.Go(func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				serving.Go(func() { echo(conn) })
			}
		})
	}
	return func() {
		for _, ln := range listeners {
			_ = ln.Close()
		}
	}
}

func echo(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	buf := make([]byte, 128<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if _, err := conn.Write(buf[:n]); err != nil {
			return
		}
	}
}
