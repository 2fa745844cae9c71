package hostfiles

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// TCPPeerIsOurs looks up which account owns the other end of a loopback
// connection. Only an entry of exactly this connection counts; without one the
// error is ErrPeerUnknown and the caller decides.
func TCPPeerIsOurs(conn net.Conn) (bool, error) {
	uid, err := tcpPeerUID(conn)
	return err == nil && uidIsOurs(uid), err
}

// TCPPeerIsOursOrRoot is TCPPeerIsOurs that takes root for us: root can be us
// anyway, and is who some tunnels forward as.
func TCPPeerIsOursOrRoot(conn net.Conn) (bool, error) {
	uid, err := tcpPeerUID(conn)
	return err == nil && (uid == 0 || uidIsOurs(uid)), err
}

func tcpPeerUID(conn net.Conn) (uint32, error) {
	peer, err := addrPort(conn.RemoteAddr())
	if err != nil {
		return 0, err
	}
	local, err := addrPort(conn.LocalAddr())
	if err != nil {
		return 0, err
	}
	uid, err := askForPeer(peer, local)
	if err == nil || errors.Is(err, ErrPeerUnknown) {
		return uid, err
	}
	// Some sandboxes and old kernels refuse the question.
	return scanForPeer(peer, local)
}

func addrPort(addr net.Addr) (netip.AddrPort, error) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%w: not a TCP address", ErrPeerUnknown)
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// askForPeer asks the kernel for the one socket that has local as its far end
// and peer as its own, over a sock_diag socket (man 7 sock_diag). The kernel
// looks it up by its hash, so the cost does not grow with the machine's sockets.
// ErrPeerUnknown says that there is no such socket, or none that a process
// holds; any other error that the question was refused.
func askForPeer(peer, local netip.AddrPort) (uint32, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, fmt.Errorf("opening a sock_diag socket: %w", err)
	}
	defer unix.Close(fd)
	// The answer lies there when Sendto returns; the limit is for kernels that
	// never answer.
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return 0, fmt.Errorf("limiting the wait for sock_diag: %w", err)
	}
	question := socketQuestion(peer, local)
	if err := unix.Sendto(fd, question[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, fmt.Errorf("asking sock_diag: %w", err)
	}
	var answer [4096]byte
	n, _, err := unix.Recvfrom(fd, answer[:], 0)
	if err != nil {
		return 0, fmt.Errorf("reading sock_diag's answer: %w", err)
	}
	return socketOwner(answer[:n], peer, local)
}

// The layout of linux/netlink.h and linux/inet_diag.h, which x/sys/unix does not
// have. Both a question and an answer hold a struct inet_diag_sockid, that begins
// with source port, destination port, source address (16 bytes), destination
// address (16 bytes).
const (
	questionLen  = unix.SizeofNlMsghdr + 56 // and a struct inet_diag_req_v2
	questionID   = unix.SizeofNlMsghdr + 8
	answerLen    = unix.SizeofNlMsghdr + 72 // and a struct inet_diag_msg
	answerID     = unix.SizeofNlMsghdr + 4
	answerUID    = unix.SizeofNlMsghdr + 64
	answerInode  = unix.SizeofNlMsghdr + 68
	cookieOffset = 40 // after the addresses and the interface
)

// socketQuestion asks for the TCP socket from source to destination.
func socketQuestion(source, destination netip.AddrPort) [questionLen]byte {
	native, network := binary.NativeEndian, binary.BigEndian
	var q [questionLen]byte
	native.PutUint32(q[0:], questionLen)
	native.PutUint16(q[4:], unix.SOCK_DIAG_BY_FAMILY)
	native.PutUint16(q[6:], unix.NLM_F_REQUEST)
	body := q[unix.SizeofNlMsghdr:]
	body[0], body[1] = unix.AF_INET, unix.IPPROTO_TCP
	native.PutUint32(body[4:], ^uint32(0)) // in any state
	id := q[questionID:]
	network.PutUint16(id[0:], source.Port())
	network.PutUint16(id[2:], destination.Port())
	if source.Addr().Is4() && destination.Addr().Is4() {
		from, to := source.Addr().As4(), destination.Addr().As4()
		copy(id[4:], from[:])
		copy(id[20:], to[:])
	} else {
		body[0] = unix.AF_INET6
		from, to := source.Addr().As16(), destination.Addr().As16()
		copy(id[4:], from[:])
		copy(id[20:], to[:])
	}
	native.PutUint64(id[cookieOffset:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	return q
}

// socketOwner reads the answer to a question for the socket from source to
// destination. The kernel answers with the listener of a port when it has no such
// connection: that says nothing of who connected. An orphaned socket, which no
// process holds any more, has inode 0 and shows uid 0.
func socketOwner(answer []byte, source, destination netip.AddrPort) (uint32, error) {
	native, network := binary.NativeEndian, binary.BigEndian
	if len(answer) < unix.SizeofNlMsghdr+4 {
		return 0, errors.New("sock_diag's answer is too short")
	}
	switch kind := native.Uint16(answer[4:]); {
	case kind == unix.NLMSG_ERROR:
		errno := unix.Errno(-int32(native.Uint32(answer[unix.SizeofNlMsghdr:])))
		if errno == unix.ENOENT {
			return 0, ErrPeerUnknown
		}
		return 0, fmt.Errorf("sock_diag: %w", errno)
	case kind != unix.SOCK_DIAG_BY_FAMILY, len(answer) < answerLen:
		return 0, fmt.Errorf("sock_diag answered with kind %d in %d bytes", kind, len(answer))
	}
	size := 16
	if answer[unix.SizeofNlMsghdr] == unix.AF_INET {
		size = 4
	}
	id := answer[answerID:]
	from, _ := netip.AddrFromSlice(id[4:][:size])
	to, _ := netip.AddrFromSlice(id[20:][:size])
	if netip.AddrPortFrom(from.Unmap(), network.Uint16(id[0:])) != source ||
		netip.AddrPortFrom(to.Unmap(), network.Uint16(id[2:])) != destination ||
		native.Uint32(answer[answerInode:]) == 0 {
		return 0, ErrPeerUnknown
	}
	return native.Uint32(answer[answerUID:]), nil
}

// scanForPeer reads the kernel's whole table of TCP sockets, which takes the
// longer the more sockets the machine has.
func scanForPeer(peer, local netip.AddrPort) (uint32, error) {
	// A client that opened an IPv6 socket for an IPv4 address is in tcp6.
	for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.Open(path)
		if err != nil {
			continue // without IPv6 there is no such table
		}
		uid, err := findPeer(table, peer, local, strings.HasSuffix(path, "6"))
		_ = table.Close() // opened for reading
		if !errors.Is(err, ErrPeerUnknown) {
			return uid, err
		}
	}
	return 0, ErrPeerUnknown
}

// findPeer reads the kernel's table: columns are number, local address, remote
// address, state, queues, timer, retransmits, uid, timeout, inode. Only a socket
// that some process still holds says whose it is, established or half closed; an
// orphaned one has inode 0 and shows uid 0.
func findPeer(table io.Reader, peer, local netip.AddrPort, six bool) (uint32, error) {
	const orphaned = "0"
	wantLocal, wantRemote := kernelAddr(peer, six), kernelAddr(local, six)
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[1] != wantLocal || f[2] != wantRemote || f[9] == orphaned {
			continue
		}
		uid, err := strconv.ParseUint(f[7], 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
		}
		return uint32(uid), nil
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	return 0, ErrPeerUnknown
}

// kernelAddr spells an address as the table does: 32-bit words of the network
// order address printed in the machine's own byte order, then the port.
func kernelAddr(ap netip.AddrPort, six bool) string {
	var raw []byte
	if six {
		b := ap.Addr().As16()
		raw = b[:]
	} else if ap.Addr().Is4() {
		b := ap.Addr().As4()
		raw = b[:]
	}
	var s strings.Builder
	for ; len(raw) >= 4; raw = raw[4:] {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(raw))
	}
	fmt.Fprintf(&s, ":%04X", ap.Port())
	return s.String()
}
