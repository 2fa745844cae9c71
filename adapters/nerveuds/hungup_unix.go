//go:build unix

package nerveuds

import (
	"net"

	"golang.org/x/sys/unix"
)

// hungUp reports whether both directions of a Unix socket are closed: the kernel
// raises POLLHUP for that, and not for a half-close.
func hungUp(conn net.Conn) bool {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return true
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return true
	}
	gone := true
	err = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		if _, err := unix.Poll(fds, 0); err == nil {
			gone = fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
		}
	})
	return gone || err != nil
}
