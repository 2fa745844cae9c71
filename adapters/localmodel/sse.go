package localmodel

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxEvent bounds one line of an event stream, and the joined data lines of one
// event, in bytes.
const MaxEvent = 1 << 20

var errEventTooLong = errors.New("event over 1 MiB in the stream")

// event is one server-sent event that carries data.
type event struct {
	data   []byte // valid until the next call
	failed bool   // the server marked it as an error, by event name or by field
}

// eventReader takes server-sent events out of a byte stream. It accepts LF, CRLF
// and CR as line ends, comments, any field order, and a last event that no empty
// line ends.
type eventReader struct {
	in     *bufio.Reader
	line   []byte
	data   []byte
	skipLF bool // the last line ended in CR: an LF that follows belongs to it
	begun  bool
}

// next gives the next event with data; io.EOF when the stream ended in order.
func (r *eventReader) next() (event, error) {
	r.data = r.data[:0]
	var ev event
	var seen bool
	for {
		line, err := r.readLine()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if seen && errors.Is(err, io.EOF) {
				ev.data = r.data
				return ev, nil
			}
			return event{}, err
		}
		if len(line) == 0 {
			if seen {
				ev.data = r.data
				return ev, nil
			}
			ev.failed = false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) { // of a comment it is empty
		case "event":
			ev.failed = ev.failed || string(value) == "error"
			continue
		case "error": // llama.cpp's own spelling
			ev.failed = true
		case "data":
		default:
			continue
		}
		if seen {
			r.data = append(r.data, '\n')
		}
		if len(r.data)+len(value) > MaxEvent {
			return event{}, errEventTooLong
		}
		r.data = append(r.data, value...)
		seen = true
	}
}

// more reports whether data of the next event has come already.
func (r *eventReader) more() bool {
	buffered, err := r.in.Peek(r.in.Buffered())
	_, data, found := bytes.Cut(buffered, []byte("data:"))
	return err == nil && found && bytes.ContainsAny(data, "\r\n")
}

// readLine gives one line without its end. io.EOF comes with the bytes of a last
// line that has no end; every other error comes without bytes.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		chunk, err := r.buffered()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return r.line, io.EOF
			}
			return nil, err
		}
		end := bytes.IndexAny(chunk, "\r\n")
		take := end
		if end < 0 {
			take = len(chunk)
		}
		if len(r.line)+take > MaxEvent {
			return nil, errEventTooLong
		}
		r.line = append(r.line, chunk[:take]...)
		if end < 0 {
			r.discard(take)
			continue
		}
		r.skipLF = chunk[end] == '\r'
		r.discard(end + 1)
		if !r.begun {
			r.begun = true
			r.line = bytes.TrimPrefix(r.line, []byte("\ufeff"))
		}
		return r.line, nil
	}
}

// buffered gives what is there, and waits only when nothing is.
func (r *eventReader) buffered() ([]byte, error) {
	for {
		if _, err := r.in.Peek(1); err != nil {
			return nil, err
		}
		chunk, err := r.in.Peek(r.in.Buffered())
		if err != nil {
			return nil, err
		}
		if !r.skipLF {
			return chunk, nil
		}
		r.skipLF = false
		if chunk[0] != '\n' {
			return chunk, nil
		}
		r.discard(1)
	}
}

// discard drops n bytes that buffered has shown.
func (r *eventReader) discard(n int) {
	if _, err := r.in.Discard(n); err != nil {
		panic("localmodel: discarding buffered bytes: " + err.Error())
	}
}
