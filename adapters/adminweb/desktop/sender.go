package desktop

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/sessions"
)

// Bounds of what waits to be written: two of the longest personal frames, and
// what comes between them.
const (
	maxWaitingFrames = 512
	maxWaitingBytes  = 2*nova.MaxDesktopText + 1<<20
)

// frame is one message on its way. What has the key of one that waits takes its
// place: a newer state, or a caption that has grown.
type frame struct {
	key    string
	buffer *wsconn.Buffer
}

// sender queues the messages to one page: any goroutine may send, and the Writer
// writes what is queued.
type sender struct {
	log    *slog.Logger
	writer *wsconn.Writer

	mu      sync.Mutex
	waiting []frame
	bytes   int
	ended   bool
}

func newSender(ctx context.Context, socket *wsconn.Socket, interval time.Duration, log *slog.Logger) *sender {
	s := &sender{log: log}
	s.writer = wsconn.NewWriter(s, func(f wsconn.Frame) error { return socket.Write(f.Buffer.B, f.Text) }, socket.CloseNow,
		wsconn.NewKeepAlive(ctx, socket, interval, 0))
	return s
}

// send queues m. A reason other than 0 ends the socket.
func (s *sender) send(m nova.Message) sessions.CloseReason {
	b := wsconn.GetBuffer()
	text, err := nova.AppendDesktop(b.B, m)
	if err != nil { // a bug of ours: the message is dropped and the connection goes on
		b.Put()
		s.log.Error("a message could not be encoded", "type", m.Type(), "error", err)
		return 0
	}
	b.B = text
	key := keyOf(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		b.Put()
		return 0
	}
	if i := slices.IndexFunc(s.waiting, func(f frame) bool { return key != "" && f.key == key }); i >= 0 {
		s.take(i).Put()
	}
	if len(s.waiting) >= maxWaitingFrames || s.bytes+len(text) > maxWaitingBytes {
		b.Put()
		return sessions.OutputBudget
	}
	s.waiting = append(s.waiting, frame{key, b})
	s.bytes += len(text)
	s.writer.Wake()
	return 0
}

// take removes the frame at i. mu is held.
func (s *sender) take(i int) *wsconn.Buffer {
	b := s.waiting[i].buffer
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.bytes -= len(b.B)
	return b
}

// keyOf gives the key of messages of which only the newest matters; "" for all
// others. A caption holds the whole text so far.
func keyOf(m nova.Message) string {
	switch m := m.(type) {
	case nova.PersonalState:
		return m.Type()
	case nova.Caption:
		if !m.Final {
			return m.Type() + " " + m.ConversationID + " " + m.TurnID + " " + m.MessageID + " " + string(m.Role)
		}
	}
	return ""
}

// Next gives the Writer the next frame (wsconn.Queue).
func (s *sender) Next() (f wsconn.Frame, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return f, false
	}
	return wsconn.Frame{Buffer: s.take(0), Text: true}, true
}

// Written takes the frame back (wsconn.Queue).
func (s *sender) Written(f wsconn.Frame, _ error) { f.Buffer.Put() }

// end refuses further messages, and stops the writer with or without writing what
// is queued.
func (s *sender) end(flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for !flush && len(s.waiting) > 0 {
		s.take(0).Put()
	}
	s.writer.Stop(closeLimit)
}
