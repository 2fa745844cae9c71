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

func addrPort(addr net.Addr) (netip.AddrPort, error) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%w: not a TCP address", ErrPeerUnknown)
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
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
