// Package hostclient reaches the host that runs on a data directory: its commands by
// the admin socket, its answers by NERVE.
package hostclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/adapters/nerveclient"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
)

// NotRunningError: no host runs on this data directory; nothing was sent.
type NotRunningError struct{ DataDir string }

func (e *NotRunningError) Error() string {
	return fmt.Sprintf("no host is running (data directory %s). Start one with: plexus serve", e.DataDir)
}

// Call makes one call to the running host: by its admin socket or, where the
// system has none, by the listener of the owner's page with the master token.
func Call[T any](ctx context.Context, dataDir string, call func(*adminapi.Client, context.Context) (T, error)) (T, error) {
	client, err := adminClient(dataDir)
	var value T
	if err == nil {
		value, err = call(client, ctx)
	}
	if errors.Is(err, adminapi.ErrUnreachable) && ctx.Err() == nil {
		err = whyUnreachable(dataDir, err)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return value, err
}

func adminClient(dataDir string) (*adminapi.Client, error) {
	info, err := hostfiles.ReadRun(dataDir)
	if err != nil || info.AdminSocket != "" || info.Admin == "" {
		return adminapi.NewClient(func(ctx context.Context) (net.Conn, error) {
			return hostfiles.DialUnix(ctx, filepath.Join(dataDir, hostfiles.AdminSocketName))
		}), nil
	}
	pid, err := lockHolder(dataDir)
	if err != nil {
		return nil, err
	}
	if pid != info.PID {
		return nil, fmt.Errorf("%w: run.json is not of the host that has the lock", adminapi.ErrUnreachable)
	}
	master, err := hostfiles.LoadMasterToken(dataDir)
	if err != nil {
		return nil, err
	}
	return adminapi.NewTCPClient(info.Admin, master.Text), nil
}

// lockHolder gives the process of the host that has the lock. It is asked before a
// token is sent: run.json may be left from a crash, and another program may have
// the port now, which must not get the token.
func lockHolder(dataDir string) (pid int, err error) {
	running, pid, err := hostfiles.HostRuns(dataDir)
	switch {
	case err != nil:
		return 0, fmt.Errorf("looking for the host: %w", err)
	case !running:
		return 0, &NotRunningError{dataDir}
	}
	return pid, nil
}

// DialNERVE connects to the host that runs on dataDir: by its NERVE socket or,
// where the system has none, by WebSocket with the host token.
func DialNERVE(ctx context.Context, env cli.Env, dataDir string) (*nerveclient.Client, error) {
	info, err := hostfiles.ReadRun(dataDir)
	if err == nil && info.NerveSocket == "" {
		return dialNERVETCP(ctx, env, dataDir, info.Nerve)
	}
	if err == nil {
		err = hostfiles.OwnSocket(info.NerveSocket)
	}
	var client *nerveclient.Client
	if err == nil {
		client, err = nerveclient.DialUnix(ctx, info.NerveSocket)
	}
	if err != nil {
		return nil, whyUnreachable(dataDir, err)
	}
	return client, nil
}

func dialNERVETCP(ctx context.Context, env cli.Env, dataDir, address string) (*nerveclient.Client, error) {
	if _, err := lockHolder(dataDir); err != nil {
		return nil, err
	}
	cfg, err := config.Read(env, dataDir, "", nil)
	if err != nil {
		return nil, err
	}
	token, err := hostfiles.ReadToken(cfg.Listen.NerveTokenFile)
	if err != nil {
		return nil, fmt.Errorf("host token: %w", err)
	}
	client, err := nerveclient.DialWebSocket(ctx, "ws://"+address, nerveclient.Options{Token: token})
	if err != nil {
		return nil, fmt.Errorf("connecting to the host: %w", err)
	}
	return client, nil
}

// whyUnreachable asks the lock, which alone knows whether a host runs.
func whyUnreachable(dataDir string, cause error) error {
	running, pid, err := hostfiles.HostRuns(dataDir)
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case !running:
		return &NotRunningError{dataDir}
	}
	return fmt.Errorf("a host runs (process %d) but could not be asked; if it has only just started, try again: %w", pid, cause)
}
