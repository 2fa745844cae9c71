package hostfiles

import (
	"context"
	"errors"
	"net"
)

// UnixSockets reports whether this system has them in this build.
const UnixSockets = false

// ErrNoUnixSockets: this build has none on this system.
var ErrNoUnixSockets = errors.New("unix sockets are not used on this system")

// ListenUnix is ErrNoUnixSockets here.
func ListenUnix(_ context.Context, path, flag string) (l *PeerListener, warnings []string, err error) {
	return nil, nil, errors.Join(checkSocketPath(path, flag), ErrNoUnixSockets)
}

// OwnSocket is ErrNoUnixSockets here.
func OwnSocket(string) error { return ErrNoUnixSockets }

// DialUnix is ErrNoUnixSockets here.
func DialUnix(context.Context, string) (net.Conn, error) { return nil, ErrNoUnixSockets }

func uidIsOurs(uint32) bool { return false }

func peerUID(*net.UnixConn) (uint32, error) { return 0, ErrNoUnixSockets }
