package nerveclient

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/framing"
)

// writeLimit bounds one write to a host that does not read.
const writeLimit = 10 * time.Second

// streamLink reads frames back to back from a byte stream.
type streamLink struct {
	conn   net.Conn
	reader *bufio.Reader
	header [framing.HeaderSize]byte
}

func (l *streamLink) read() (framing.Header, []byte, error) {
	if _, err := io.ReadFull(l.reader, l.header[:]); err != nil {
		return framing.Header{}, nil, err
	}
	h, err := framing.ParseHeader(l.header[:])
	if err != nil {
		return framing.Header{}, nil, err
	}
	payload := make([]byte, h.PayloadLength)
	if _, err := io.ReadFull(l.reader, payload); err != nil {
		return framing.Header{}, nil, fmt.Errorf("read a payload: %w", err)
	}
	return h, payload, nil
}

func (l *streamLink) write(frame []byte) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	_, err := l.conn.Write(frame)
	if err != nil {
		_ = l.conn.Close() // half a frame may have gone out: nothing can follow it
	}
	return err
}

func (l *streamLink) close() error { return l.conn.Close() }

// socketLink reads frames from binary messages, one each.
type socketLink struct{ ws *websocket.Conn }

func (l *socketLink) read() (framing.Header, []byte, error) {
	_, message, err := l.ws.Read(context.Background())
	if err != nil {
		return framing.Header{}, nil, err
	}
	h, err := framing.ParseHeader(message)
	if err != nil {
		return framing.Header{}, nil, err
	}
	payload := message[framing.HeaderSize:]
	if len(payload) != int(h.PayloadLength) {
		return framing.Header{}, nil, framing.ErrMalformedFrame
	}
	return h, payload, nil
}

func (l *socketLink) write(frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeLimit)
	defer cancel()
	return l.ws.Write(ctx, websocket.MessageBinary, frame)
}

func (l *socketLink) close() error { return l.ws.CloseNow() }
