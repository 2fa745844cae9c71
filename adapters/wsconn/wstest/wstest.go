// Package wstest gives tests the other end of a WebSocket: byte by byte, so that
// they can send what no library would, over an in-memory pipe that works with
// fake time, or over a real socket.
package wstest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Opcodes of RFC 6455 §5.2.
const (
	Continuation = 0x0
	Text         = 0x1
	Binary       = 0x2
	Close        = 0x8
	Ping         = 0x9
	Pong         = 0xA
)

// Peer is a client that speaks raw WebSocket frames over a net.Conn.
type Peer struct {
	net.Conn
	r *bufio.Reader
}

// NewPeer wraps a connection on which the upgrade is done.
func NewPeer(c net.Conn) *Peer { return &Peer{Conn: c, r: bufio.NewReader(c)} }

// Frame is one WebSocket frame.
type Frame struct {
	Fin     bool
	Opcode  byte
	Payload []byte
}

// Encode gives the bytes of a client frame, masked with zeroes.
func Encode(f Frame) []byte {
	b := []byte{f.Opcode}
	if f.Fin {
		b[0] |= 0x80
	}
	switch n := len(f.Payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	b = append(b, 0, 0, 0, 0)
	return append(b, f.Payload...)
}

// Send writes one whole binary message.
func (p *Peer) Send(payload []byte) error { return p.SendFrame(Binary, payload) }

// SendText writes one whole text message.
func (p *Peer) SendText(text string) error { return p.SendFrame(Text, []byte(text)) }

// SendFrame writes a frame that is a whole message, or a control frame.
func (p *Peer) SendFrame(opcode byte, payload []byte) error {
	_, err := p.Write(Encode(Frame{Fin: true, Opcode: opcode, Payload: payload}))
	return err
}

// Read reads one frame of the server, whatever it is.
func (p *Peer) ReadFrame() (Frame, error) {
	var head [2]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return Frame{}, err
	}
	if head[1]&0x80 != 0 {
		return Frame{}, errors.New("the server masked a frame")
	}
	n := uint64(head[1] & 0x7f)
	switch n {
	case 126:
		var b [2]byte
		if _, err := io.ReadFull(p.r, b[:]); err != nil {
			return Frame{}, err
		}
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		if _, err := io.ReadFull(p.r, b[:]); err != nil {
			return Frame{}, err
		}
		n = binary.BigEndian.Uint64(b[:])
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(p.r, payload); err != nil {
		return Frame{}, err
	}
	return Frame{Fin: head[0]&0x80 != 0, Opcode: head[0] & 0x0f, Payload: payload}, nil
}

// CloseError is a Close frame of the server.
type CloseError struct {
	Code   int
	Reason string
}

func (e *CloseError) Error() string { return fmt.Sprintf("closed with %d %q", e.Code, e.Reason) }

// Receive reads until the next binary message, as ReceiveMessage; a text message
// is an error.
func (p *Peer) Receive() ([]byte, error) {
	f, err := p.ReceiveMessage()
	if err == nil && f.Opcode != Binary {
		return nil, fmt.Errorf("a frame with opcode %d", f.Opcode)
	}
	return f.Payload, err
}

// ReceiveMessage reads until the next message is whole, answering pings. A Close
// frame is a *CloseError; it is answered, as a browser would.
func (p *Peer) ReceiveMessage() (Frame, error) {
	var message Frame // what has come of it; its Opcode is 0 before the first piece
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return Frame{}, err
		}
		switch f.Opcode {
		case Text, Binary, Continuation:
			if (f.Opcode == Continuation) != (message.Opcode != 0) {
				return Frame{}, errors.New("a message began within another, or without a beginning")
			}
			message = Frame{f.Fin, max(message.Opcode, f.Opcode), append(message.Payload, f.Payload...)}
			if message.Fin {
				return message, nil
			}
		case Ping:
			if err := p.SendFrame(Pong, f.Payload); err != nil {
				return Frame{}, err
			}
		case Close:
			_ = p.SendFrame(Close, f.Payload) // it may be gone
			e := &CloseError{Code: 1005}
			if len(f.Payload) >= 2 {
				e.Code, e.Reason = int(binary.BigEndian.Uint16(f.Payload)), string(f.Payload[2:])
			}
			return Frame{}, e
		case Pong:
		default:
			return Frame{}, fmt.Errorf("a frame with opcode %d", f.Opcode)
		}
	}
}

// UpgradeRequest is a proper upgrade of path, for host.
func UpgradeRequest(host, path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Version", "13")
	r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	return r
}

// Pipe lets h answer r over an in-memory connection and gives the client's end.
// early bytes have come together with the request. peer is nil when h did not
// upgrade.
func Pipe(h http.Handler, r *http.Request, early ...byte) (peer *Peer, response *http.Response) {
	client, server := net.Pipe()
	w := &hijackable{ResponseRecorder: httptest.NewRecorder(), conn: server, early: early}
	h.ServeHTTP(w, r)
	response = w.Result()
	if response.StatusCode != http.StatusSwitchingProtocols {
		_ = client.Close()
		_ = server.Close()
		return nil, response
	}
	return NewPeer(client), response
}

type hijackable struct {
	*httptest.ResponseRecorder
	conn  net.Conn
	early []byte
}

func (h *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r := bufio.NewReader(io.MultiReader(bytes.NewReader(h.early), h.conn))
	if _, err := r.Peek(len(h.early)); err != nil {
		return nil, nil, err
	}
	return h.conn, bufio.NewReadWriter(r, bufio.NewWriter(h.conn)), nil
}

// Dial upgrades over a real connection. header lines are written as they stand,
// after Host. peer is nil when the answer is not 101.
func Dial(addr string, header ...string) (peer *Peer, response *http.Response, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	return Handshake(conn, append([]string{"Host: " + addr}, header...)...)
}

// Handshake sends an upgrade with the given header lines over conn.
func Handshake(conn net.Conn, header ...string) (peer *Peer, response *http.Response, err error) {
	return HandshakeAt(conn, "/", header...)
}

// HandshakeAt is Handshake at a request target of its own.
func HandshakeAt(conn net.Conn, target string, header ...string) (peer *Peer, response *http.Response, err error) {
	request := "GET " + target + " HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + strings.Join(header, "\r\n") + "\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	p := NewPeer(conn)
	response, err = http.ReadResponse(p.r, nil)
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		defer conn.Close()
		body, err := io.ReadAll(response.Body)
		response.Body = io.NopCloser(strings.NewReader(string(body)))
		return nil, response, err
	}
	return p, response, nil
}
