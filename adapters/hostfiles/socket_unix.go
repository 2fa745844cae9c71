//go:build unix

package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// UnixSockets reports whether this system has them in this build.
const UnixSockets = true

// answerLimit is how long an existing socket may take to accept.
const answerLimit = time.Second

// ListenUnix listens at path, in a directory of mode 0700, socket mode 0600.
// Too long a path is an error that names flag. A dead socket of ours and an
// empty regular file of ours are replaced; a socket that answers is
// ErrSocketAnswers; anything else at the path is a *RefusedError.
func ListenUnix(ctx context.Context, path, flag string) (l *PeerListener, warnings []string, err error) {
	if err := checkSocketPath(path, flag); err != nil {
		return nil, nil, err
	}
	warnings, err = PrivateDir(filepath.Dir(path))
	if err != nil {
		return nil, nil, fmt.Errorf("socket %s: %w", path, err)
	}
	if err := removeStaleSocket(ctx, path); err != nil {
		return nil, nil, err
	}
	// Between bind and chmod the directory's mode keeps others out.
	unixListener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("listening: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("closing socket to others: %w", err), unixListener.Close())
	}
	return &PeerListener{UnixListener: unixListener}, warnings, nil
}

// removeStaleSocket makes room for a socket, or says why it must not.
func removeStaleSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking at socket path: %w", err)
	}
	switch {
	case !ownedByUs(info):
		return &RefusedError{Path: path, Reason: "it belongs to another account"}
	case info.Mode().Type() == fs.ModeSocket:
		if isListening(ctx, path) {
			return fmt.Errorf("socket %s: %w", path, ErrSocketAnswers)
		}
	case info.Mode().IsRegular() && info.Size() == 0:
	default:
		return &RefusedError{Path: path, Reason: "something else is there already", Advice: "Move it away or choose another path."}
	}
	return Remove(path)
}

// isListening: only a refused connect proves that nobody listens; a full backlog
// or a time-out means somebody does.
func isListening(ctx context.Context, path string) bool {
	ctx, stop := context.WithTimeout(ctx, answerLimit)
	defer stop()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close() // it was only a try
		return true
	}
	return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
}

// OwnSocket checks that path is a socket that this account has made; anything
// else is a *RefusedError.
func OwnSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("looking at socket: %w", err)
	}
	if !ownedByUs(info) || info.Mode().Type() != fs.ModeSocket {
		return &RefusedError{Path: path, Reason: "it is not a socket of this account"}
	}
	return nil
}

// DialUnix connects to a socket whose file and whose listening process belong
// to this account; anything else is a *RefusedError and nothing was sent.
func DialUnix(ctx context.Context, path string) (net.Conn, error) {
	if err := OwnSocket(path); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("connecting: not a unix connection"), conn.Close())
	}
	if uid, err := peerUID(unixConn); err != nil || !uidIsOurs(uid) {
		return nil, errors.Join(&RefusedError{Path: path, Reason: "another account listens there"}, conn.Close())
	}
	return conn, nil
}

func uidIsOurs(uid uint32) bool { return int64(uid) == int64(os.Geteuid()) }

// peerUID asks the kernel who is at the other end.
func peerUID(conn *net.UnixConn) (uid uint32, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("peer's account: %w", err)
	}
	var optErr error
	if err := raw.Control(func(fd uintptr) { uid, optErr = socketPeer(int(fd)) }); err != nil {
		return 0, fmt.Errorf("peer's account: %w", err)
	}
	if optErr != nil {
		return 0, fmt.Errorf("peer's account: %w", optErr)
	}
	return uid, nil
}
