package hostfiles

import (
	"errors"
	"fmt"
	"net"
)

// maxSocketPath is below the kernel's limit on every system (104 on macOS).
const maxSocketPath = 100

// ErrSocketAnswers: another daemon answers at the path.
var ErrSocketAnswers = errors.New("another daemon answers there")

// PeerListener is a Unix socket that only this account can use. A connection of
// another one is closed before anything is read from it.
type PeerListener struct {
	*net.UnixListener
	// OnRefused, when set before the first Accept, is called for each
	// connection that Accept has closed.
	OnRefused func()
}

// Accept gives the next connection of this account.
func (l *PeerListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err // as it is: servers tell net errors apart
		}
		if uid, err := peerUID(conn); err == nil && uidIsOurs(uid) {
			return conn, nil
		}
		_ = conn.Close() // nothing was exchanged
		if l.OnRefused != nil {
			l.OnRefused()
		}
	}
}

// checkSocketPath bounds a path; flag is what the owner can set.
func checkSocketPath(path, flag string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("the socket path is %d bytes long and may have %d: %s (%s)", len(path), maxSocketPath, path, flag)
	}
	return nil
}
