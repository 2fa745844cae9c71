package hostfiles

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
)

// maxSocketPath is below the kernel's limit on every system (104 on macOS).
const maxSocketPath = 100

// ErrSocketAnswers: another daemon answers at the path.
var ErrSocketAnswers = errors.New("another daemon answers there")

// PeerListener is a Unix socket that only this account can use. A connection of
// another one is closed before anything is read from it.
type PeerListener struct {
	*net.UnixListener
	refused atomic.Int64
}

// Accept gives the next connection of this account.
func (l *PeerListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err //nolint:wrapcheck // net/http tells net errors apart
		}
		if uid, err := peerUID(conn); err == nil && uidIsOurs(uid) {
			return conn, nil
		}
		l.refused.Add(1)
		_ = conn.Close() // nothing was exchanged
	}
}

// Refused counts the connections that Accept closed.
func (l *PeerListener) Refused() int64 { return l.refused.Load() }

// checkSocketPath bounds a path; flag is what the owner can set.
func checkSocketPath(path, flag string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("the socket path is %d bytes long and may have %d: %s. Choose a shorter one with %s", len(path), maxSocketPath, path, flag)
	}
	return nil
}
