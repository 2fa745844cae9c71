package bench

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"plexus/domain/admission"
	"plexus/domain/framing"
)

// callLimit bounds every wait for the host; a run that hangs ends with an error.
const callLimit = 30 * time.Second

// wire moves whole NERVE frames over a connection with as little work of its own
// as possible, so that what is measured is the host.
type wire struct {
	net.Conn
	r         *bufio.Reader
	websocket bool
}

// dialHost connects to a host's listener.
func dialHost(c *child, websocket bool) (*wire, error) {
	conn, err := c.dial(websocket)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, r: bufio.NewReaderSize(conn, 128<<10), websocket: websocket}
	if websocket {
		if err := w.upgrade(c); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return w, nil
}

func (w *wire) upgrade(c *child) error {
	_, err := io.WriteString(w, "GET / HTTP/1.1\r\nHost: "+c.TCP+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+
		"Sec-WebSocket-Protocol: "+admission.SubprotocolPrefix+c.Token+"\r\n\r\n")
	if err != nil {
		return err
	}
	response, err := http.ReadResponse(w.r, nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the upgrade was answered %d", response.StatusCode)
	}
	return nil
}

// pack gives the bytes of one NERVE frame as they go over this connection.
func (w *wire) pack(t framing.MessageType, id uint64, payload []byte) ([]byte, error) {
	frame, err := framing.AppendFrame(nil, t, framing.Final, id, payload)
	if err != nil || !w.websocket {
		return frame, err
	}
	b := []byte{0x82}
	switch n := len(frame); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	b = append(b, 0, 0, 0, 0) // a mask of zeroes
	return append(b, frame...), nil
}

// send writes a frame that pack or ask gave.
func (w *wire) send(frame []byte, err error) error {
	if err == nil {
		_, err = w.Write(frame)
	}
	return err
}

// next reads one frame and skips its payload. WebSocket control frames are passed
// over.
func (w *wire) next() (framing.Header, error) {
	for {
		size := -1
		if w.websocket {
			opcode, n, err := w.webSocketHeader()
			if err != nil {
				return framing.Header{}, err
			}
			if opcode != 2 {
				if _, err := w.r.Discard(n); err != nil {
					return framing.Header{}, err
				}
				continue
			}
			size = n
		}
		b, err := w.r.Peek(framing.HeaderSize)
		if err != nil {
			return framing.Header{}, err
		}
		h, err := framing.ParseHeader(b)
		if err != nil {
			return framing.Header{}, err
		}
		n := framing.HeaderSize + int(h.PayloadLength)
		if size >= 0 && n != size {
			return framing.Header{}, framing.ErrMalformedFrame
		}
		_, err = w.r.Discard(n)
		return h, err
	}
}

func (w *wire) webSocketHeader() (opcode byte, n int, err error) {
	b, err := w.r.Peek(2)
	if err != nil {
		return 0, 0, err
	}
	opcode, n = b[0]&0x0f, int(b[1])
	skip := 2
	switch n {
	case 126:
		if b, err = w.r.Peek(4); err != nil {
			return 0, 0, err
		}
		n, skip = int(binary.BigEndian.Uint16(b[2:])), 4
	case 127:
		if b, err = w.r.Peek(10); err != nil {
			return 0, 0, err
		}
		n, skip = int(binary.BigEndian.Uint64(b[2:])), 10
	}
	_, err = w.r.Discard(skip)
	return opcode, n, err
}

// await reads frames until one of the wanted kind.
func (w *wire) await(t framing.MessageType, id uint64) error {
	if err := w.SetReadDeadline(time.Now().Add(callLimit)); err != nil {
		return err
	}
	for {
		h, err := w.next()
		if err != nil {
			return err
		}
		if h.Type == t && h.RequestID == id && (t != framing.AiTokenMsg || h.Flags.IsFinal()) {
			return nil
		}
	}
}

// exchange writes a frame and awaits the one that answers it.
func (w *wire) exchange(frame []byte, t framing.MessageType, id uint64) error {
	if _, err := w.Write(frame); err != nil {
		return err
	}
	return w.await(t, id)
}

// ask gives the bytes of a query.
func (w *wire) ask(id uint64, question string, search bool) ([]byte, error) {
	return w.pack(framing.SearchQueryMsg, id, framing.AppendSearchQuery(nil, framing.SearchQuery{
		Query: question, Search: search, MaxResults: 10,
		Context: framing.PageContext{Extract: strings.Repeat("context ", 8)},
	}))
}
