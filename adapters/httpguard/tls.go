package httpguard

import (
	"io"
	"net"
)

// WithoutTLS gives ln's connections but for those whose first bytes begin a TLS
// handshake, as of a program that was told https or wss: such a connection reads as
// ended, before a parser of HTTP sees it, and noticed is called. It must not block.
func WithoutTLS(ln net.Listener, noticed func()) net.Listener {
	return &plainListener{Listener: ln, noticed: noticed}
}

type plainListener struct {
	net.Listener
	noticed func()
}

func (l *plainListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &plainConn{Conn: conn, noticed: l.noticed}, nil
}

// plainConn looks at what its first Read gives.
type plainConn struct {
	net.Conn
	noticed func() // nil once it has looked
}

// Read has one caller at a time, as every reader of a stream.
func (c *plainConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 || c.noticed == nil {
		return n, err
	}
	noticed := c.noticed
	c.noticed = nil
	// A TLS record of the kind handshake, of a version 3.x. No HTTP method begins so.
	const handshake, major = 0x16, 3
	if p[0] == handshake && (n == 1 || p[1] == major) {
		noticed()
		return 0, io.EOF
	}
	return n, err
}
