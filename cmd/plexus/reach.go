package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
)

// notRunningError: no host runs on this data directory; nothing was sent.
type notRunningError struct{ dataDir string }

func (e *notRunningError) Error() string {
	return fmt.Sprintf("no host is running (data directory %s). Start one with: plexus serve", e.dataDir)
}

// reach makes one call to the running host's admin socket.
func reach[T any](ctx context.Context, dataDir string, call func(context.Context, *adminapi.Client) (T, error)) (T, error) {
	client := adminapi.NewClient(func(ctx context.Context) (net.Conn, error) {
		return hostfiles.DialUnix(ctx, filepath.Join(dataDir, hostfiles.AdminSocketName))
	})
	value, err := call(ctx, client)
	if errors.Is(err, adminapi.ErrUnreachable) && ctx.Err() == nil {
		err = whyUnreachable(dataDir, err)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return value, err
}

// whyUnreachable asks the lock, which alone knows whether a host runs.
func whyUnreachable(dataDir string, cause error) error {
	running, pid, err := hostfiles.HostRuns(dataDir)
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case !running:
		return &notRunningError{dataDir}
	}
	return fmt.Errorf("a host runs (process %d) but could not be asked; if it has only just started, try again: %w", pid, cause)
}
