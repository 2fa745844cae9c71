//go:build !linux

package hostfiles

import "net"

// TCPPeerIsOurs is always ErrPeerUnknown here: only Linux tells who owns the
// other end of a TCP connection.
func TCPPeerIsOurs(net.Conn) (bool, error) { return false, ErrPeerUnknown }

// TCPPeerIsOursOrRoot is always ErrPeerUnknown here.
func TCPPeerIsOursOrRoot(net.Conn) (bool, error) { return false, ErrPeerUnknown }
